import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { writeEnvFile } from '../../../src/config/env-file.js'

let directory: string
let path: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tracking-sync-env-file-'))
  path = join(directory, '.env')
})

afterEach(() => {
  rmSync(directory, { recursive: true, force: true })
})

const NEW = { isReplacing: false }

describe('a new file', () => {
  it('is for its owner only, whatever the umask says', () => {
    const before = process.umask(0)
    try {
      writeEnvFile(path, { A: '1' }, NEW)
    } finally {
      process.umask(before)
    }
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it.each([
    'plain',
    'with space',
    ' at the ends ',
    'with # sign',
    'with \'single\' and "double"',
    'ends with a quote"',
    'postgres://user:p%40ss#w$rd@host:5432/db?sslmode=verify-full',
    'back\\slash',
    '$HOME',
  ])('gives %s back as it is', (value) => {
    writeEnvFile(path, { FIRST: value, LAST: 'x', NONE: undefined }, NEW)
    expect(parseEnv(readFileSync(path, 'utf8'))).toEqual({ FIRST: value, LAST: 'x' })
  })

  it.each(['\'"`', 'two\nlines'])('refuses %j, which no quote can hold', (value) => {
    expect(() => {
      writeEnvFile(path, { A: value }, NEW)
    }).toThrow(/^A holds quotes of every kind/)
    expect(readdirSync(directory)).toEqual([])
  })

  it('never takes the place of one that is there', () => {
    writeFileSync(path, 'A=old\n')
    expect(() => {
      writeEnvFile(path, { A: 'new' }, NEW)
    }).toThrow(/exists already/)
    expect(readFileSync(path, 'utf8')).toBe('A=old\n')
  })
})

describe('a file that is changed', () => {
  it('keeps its other lines, and is for its owner only afterwards', () => {
    writeFileSync(path, '# mine\nA=old\nexport B=old\nOTHER=1\nGONE=x\n', { mode: 0o644 })
    writeEnvFile(path, { A: 'new', B: 'new', GONE: undefined }, { isReplacing: true })
    expect(readFileSync(path, 'utf8')).toBe('# mine\nOTHER=1\nA=new\nB=new\n')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readdirSync(directory)).toEqual(['.env'])
  })
})
