import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readTextFile, readTextFileIfThere } from '../../../src/base/text-file.js'
import { useFolder } from '../../support/temp-folder.js'

const folder = useFolder()
const TEXT = 'Größe=1\r\nÀ=文\n'

function utf16(text: string, isBigEndian: boolean): Buffer {
  const bytes = Buffer.from(`\ufeff${text}`, 'utf16le')
  return isBigEndian ? bytes.swap16() : bytes
}

const read = (bytes: Buffer | string, mostBytes?: number): string => {
  const path = join(folder.path, 'file')
  writeFileSync(path, bytes)
  return readTextFile(path, { name: 'the file', ...(mostBytes && { mostBytes }) })
}

describe('a text file of people', { tags: ['JB1'] }, () => {
  it.each([
    ['UTF-8', Buffer.from(TEXT)],
    ['UTF-8 with a mark', Buffer.from(`\ufeff${TEXT}`)],
    ['UTF-16 of PowerShell', utf16(TEXT, false)],
    ['UTF-16 with the high byte first', utf16(TEXT, true)],
  ])('is read as %s', (_what, bytes) => {
    expect(read(bytes)).toBe(TEXT)
  })

  it.each([
    ['in another encoding', Buffer.from(TEXT, 'latin1'), 'is not UTF-8: save it as UTF-8'],
    ['UTF-16 without a mark', Buffer.from('A=1\n', 'utf16le'), 'has a NUL in line 1'],
    ['UTF-16 that was cut', utf16(TEXT, false).subarray(0, 9), 'is not UTF-8'],
    ['binary', Buffer.from('A=1\nB=\0\n'), 'has a NUL in line 2: it is not a text'],
  ])('%s is refused', (_what, bytes, problem) => {
    expect(() => read(bytes)).toThrow(`the file ${problem}`)
  })

  it('without an end is refused within its bound', { tags: ['JD7'] }, () => {
    expect(read('x'.repeat(2048), 2048)).toHaveLength(2048)
    expect(() => read('x\n'.repeat(2048), 2048)).toThrow('the file is larger than 2 KiB: split it')
    const cell = `a\nb\n${'x'.repeat(3 * 1024 * 1024)}`
    expect(() => read(cell, 2 * 1024 * 1024)).toThrow(
      'the file is larger than 2 MiB, and line 3 alone is longer than 1 MiB',
    )
    expect(() => readTextFile('/dev/zero')).toThrow('/dev/zero is larger than 1 MiB')
  })

  it('that is not there, or is a directory, is told as that', () => {
    const file = join(folder.path, 'file')
    writeFileSync(file, '')
    expect(readTextFileIfThere(join(folder.path, 'none'))).toBeUndefined()
    expect(readTextFileIfThere(join(file, 'below'))).toBeUndefined()
    expect(() => readTextFile(join(folder.path, 'none'))).toThrow(/none cannot be read \(ENOENT\)/)
    expect(() => readTextFileIfThere(folder.path)).toThrow(/cannot be read \(EISDIR\)/)
  })
})
