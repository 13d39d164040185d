import { closeSync, openSync, readSync } from 'node:fs'
import { ConfigError } from './errors.js'
import { formatBytes } from './phrases.js'

/** Enough for settings and secrets. */
const MOST_BYTES = 1024 * 1024

/** A line of a table that is longer has lost its end: a quote that was never closed. */
const LONGEST_LINE = 1024 * 1024

const PIECE_BYTES = 64 * 1024

export interface TextFileOptions {
  /** How the file is called in messages; its path unless given. */
  readonly name?: string
  readonly mostBytes?: number
}

const CAUSES: Readonly<Record<string, string>> = {
  ENOENT: ': there is no such file',
  EISDIR: ': it is a folder; name a file',
  EACCES: ': this user may not read it',
}

/**
 * The text of a file that a person made with any editor or shell: UTF-8 or UTF-16, with or without
 * a byte order mark. All such files are read here. Throws ConfigError for a file that is binary, in
 * another encoding, too large, or cannot be read.
 */
export function readTextFile(path: string, options: TextFileOptions = {}): string {
  const { name = path, mostBytes = MOST_BYTES } = options
  const refuse = (problem: string, cause?: unknown): never => {
    throw new ConfigError([{ setting: name, problem }], { cause })
  }
  let bytes: Buffer
  try {
    bytes = readBytes(path, mostBytes + 1)
  } catch (thrown) {
    const { code = 'no reason' } = thrown as NodeJS.ErrnoException
    return refuse(`cannot be read (${code})${CAUSES[code] ?? ''}`, thrown)
  }
  if (bytes.length > mostBytes) return refuse(describeSize(bytes, mostBytes))
  let text: string
  try {
    text = new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes)
  } catch (thrown) {
    return refuse('is not UTF-8: save it as UTF-8 (a spreadsheet: as "CSV UTF-8")', thrown)
  }
  const at = text.indexOf('\0')
  if (at === -1) return text
  return refuse(`has a NUL in line ${lineAt(text, at)}: it is not a text; save it as UTF-8`)
}

/** The same; undefined if the file does not exist. */
export function readTextFileIfThere(path: string, options?: TextFileOptions): string | undefined {
  try {
    return readTextFile(path, options)
  } catch (thrown) {
    const { code = '' } = (thrown as { cause?: NodeJS.ErrnoException }).cause ?? {}
    if (['ENOENT', 'ENOTDIR'].includes(code)) return undefined
    throw thrown
  }
}

/** Undefined if it is something else. */
export function parseJsonObject(content: string): object | undefined {
  try {
    const value: unknown = JSON.parse(content)
    return typeof value === 'object' && !Array.isArray(value) ? (value ?? undefined) : undefined
  } catch {
    return undefined
  }
}

/** At most as much as asked for, also of a device or a pipe without an end. */
function readBytes(path: string, most: number): Buffer {
  const file = openSync(path, 'r')
  try {
    const pieces: Buffer[] = []
    for (let left = most; left > 0;) {
      const piece = Buffer.allocUnsafe(Math.min(left, PIECE_BYTES))
      const read = readSync(file, piece)
      if (read === 0) break
      pieces.push(piece.subarray(0, read))
      left -= read
    }
    return Buffer.concat(pieces)
  } finally {
    closeSync(file)
  }
}

/** PowerShell's `>` and "Unicode text" of a spreadsheet are UTF-16, with a mark. */
function encodingOf([first, second]: Buffer): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
}

function describeSize(bytes: Buffer, mostBytes: number): string {
  const problem = `is larger than ${formatBytes(mostBytes)}`
  const lastEnd = bytes.lastIndexOf('\n')
  if (bytes.length - lastEnd <= LONGEST_LINE) return `${problem}: split it`
  const line = lineAt(bytes.toString('latin1'), lastEnd + 1)
  return `${problem}, and line ${line} alone is longer than ${formatBytes(LONGEST_LINE)}`
}

function lineAt(text: string, at: number): number {
  return text.slice(0, at).split('\n').length
}
