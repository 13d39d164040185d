import { lstatSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { beforeEach, describe, expect, it } from 'vitest'
import { requireUpdatable, updateEnvFile } from '../../../src/extensions/setup/env-file.js'
import { parseEnvText, variablesOf } from '../../../src/config/env-text.js'
import { useFolder } from '../../support/temp-folder.js'

const folder = useFolder()
let directory: string
let path: string

beforeEach(() => {
  directory = folder.path
  path = join(directory, '.env')
})

const BY_NAME = (text: string) => variablesOf(parseEnvText(text))

describe('a new file', () => {
  it.each([
    'plain',
    'with space',
    ' at the ends ',
    'with # sign',
    'with#sign',
    '#first',
    'with \'single\' and "double"',
    'ends with a quote"',
    "'begins with one",
    'postgres://user:p%40ss#w$rd@host:5432/db?sslmode=verify-full',
    'back\\slash',
    '$HOME',
  ])('gives %s back as it is', (value) => {
    updateEnvFile(path, { FIRST: value, LAST: 'x', NONE: undefined })
    const text = readFileSync(path, 'utf8')
    expect(BY_NAME(text)).toEqual({ FIRST: value, LAST: 'x' })
    expect(parseEnv(text)).toEqual({ FIRST: value, LAST: 'x' })
  })

  it.each(['\'"`', 'two\nlines'])('refuses %j, which no quote can hold', (value) => {
    expect(() => {
      updateEnvFile(path, { A: value })
    }).toThrow(/^A holds quotes of every kind/)
    expect(readdirSync(directory)).toEqual([])
  })
})

describe('a file that is there', { tags: ['JE4'] }, () => {
  it('keeps its other lines and their order, and is for its owner only afterwards', () => {
    const before =
      '# mine\nA=old\nnot a setting\n\nexport B=old\nA=older\nGONE="x\ny"\nOTHER=1 # why\n'
    writeFileSync(path, before, { mode: 0o644 })
    const changes = { A: 'new', B: 'new', GONE: undefined, ADDED: 'a b' }
    const after = "# mine\nnot a setting\n\nB=new\nA=new\nOTHER=1 # why\nADDED='a b'\n"
    updateEnvFile(path, changes)
    expect(readFileSync(path, 'utf8')).toBe(after)
    updateEnvFile(path, changes)
    expect(readFileSync(path, 'utf8')).toBe(after)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readdirSync(directory)).toEqual(['.env'])
  })

  it('keeps the ends of its lines, and is UTF-8 afterwards', () => {
    writeFileSync(path, Buffer.from('\ufeffA=1\r\n# Umläute\r\n', 'utf16le'))
    updateEnvFile(path, { B: '2' })
    expect(readFileSync(path, 'utf8')).toBe('A=1\r\n# Umläute\r\nB=2\r\n')
  })

  it('stays a link to where it is', () => {
    writeFileSync(join(directory, 'settings'), 'A=1\n')
    symlinkSync('settings', path)
    updateEnvFile(path, { A: '2' })
    expect(lstatSync(path).isSymbolicLink()).toBe(true)
    expect(readFileSync(join(directory, 'settings'), 'utf8')).toBe('A=2\n')
  })

  it('is refused before anything is done where it cannot be written, or is not a text', () => {
    expect(() => {
      requireUpdatable(join(directory, 'nowhere', '.env'))
    }).toThrow(/cannot be written \(ENOENT\)/)
    requireUpdatable(path)
    expect(readdirSync(directory)).toEqual([])
    writeFileSync(path, 'A=1\n\0')
    for (const call of [updateEnvFile, requireUpdatable]) {
      expect(() => {
        call(path, { A: '2' })
      }).toThrow(/^\S+ has a NUL in line 2/)
      expect(readFileSync(path, 'utf8')).toBe('A=1\n\0')
    }
  })
})
