import {
  chownSync,
  closeSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { ConfigError } from '../../base/errors.js'
import { readTextFileIfThere } from '../../base/text-file.js'
import { parseEnvText, variablesOf } from '../../config/env-text.js'

/** Readable by its owner only: the file holds secrets. */
const MODE = 0o600

/** The new value of each variable; undefined removes its line. */
export type EnvChanges = Readonly<Record<string, string | undefined>>

/**
 * Sets variables in a file that `loadConfig` reads, and creates the file if it is missing: mode
 * 0600, whole or not at all. Lines that set something else stay as they are. Throws ConfigError for
 * a file that cannot be read, which is left alone, or not be written.
 */
export function updateEnvFile(path: string, changes: EnvChanges): void {
  const target = realPathOf(path)
  const text = readTextFileIfThere(target, { name: path })
  writeInPlace(target, changeLines(text ?? '', changes), path)
}

/** Throws ConfigError if `updateEnvFile` would. Changes nothing. */
export function requireUpdatable(path: string): void {
  const target = realPathOf(path)
  readTextFileIfThere(target, { name: path })
  const draft = draftOf(target)
  writeDraft(draft, '', path)
  rmSync(draft)
}

function changeLines(text: string, changes: EnvChanges): string {
  const lineEnd = text.includes('\r\n') ? '\r\n' : '\n'
  const lines: (string | undefined)[] = text.split(/\r\n|\n|\r/)
  if (lines.at(-1) === '') lines.pop()
  const left = new Map(Object.entries(changes))
  // Reads from the end: of a name that is set twice, the last counts.
  for (const { name, firstLine, lastLine } of parseEnvText(text).entries.toReversed()) {
    if (!(name in changes)) continue
    lines.fill(undefined, firstLine - 1, lastLine)
    const value = left.get(name)
    if (value !== undefined) lines[firstLine - 1] = lineOf(name, value)
    left.delete(name)
  }
  const added = [...left].flatMap(([name, value]) =>
    value === undefined ? [] : lineOf(name, value),
  )
  const kept = lines.filter((line) => line !== undefined)
  return [...kept, ...added, ''].join(lineEnd)
}

/** Shells, Docker Compose and systemd read a value of these as it is. */
const BARE = /^[\w./:@%+,=?&~-]*$/

/** In single quotes nothing has a meaning, wherever the file is read. */
function lineOf(name: string, value: string): string {
  if (BARE.test(value)) return `${name}=${value}`
  const quoted = ["'", '"', '`'].map((quote) => `${name}=${quote}${value}${quote}`)
  const line = quoted.find(
    (one) => !/[\r\n]/.test(one) && variablesOf(parseEnvText(one))[name] === value,
  )
  if (line !== undefined) return line
  const problem = `holds quotes of every kind; put it into a file and name that in ${name}_FILE`
  throw new ConfigError([{ setting: name, problem }])
}

/** A link to a file elsewhere stays one. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function draftOf(path: string): string {
  return `${path}.new`
}

function writeInPlace(path: string, text: string, name: string): void {
  const draft = draftOf(path)
  writeDraft(draft, text, name)
  const before = statSync(path, { throwIfNoEntry: false })
  // Root may have run this command, while another user reads the file.
  if (before !== undefined && process.getuid?.() === 0) chownSync(draft, before.uid, before.gid)
  renameSync(draft, path)
}

/** Replaces a draft that an interrupted command left. */
function writeDraft(draft: string, text: string, name: string): void {
  let file: number | undefined
  try {
    rmSync(draft, { force: true })
    file = openSync(draft, 'wx', MODE)
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at)
    fsyncSync(file)
  } catch (cause) {
    rmSync(draft, { force: true })
    const { code = '' } = cause as NodeJS.ErrnoException
    throw new ConfigError([{ setting: name, problem: `cannot be written (${code})` }], { cause })
  } finally {
    if (file !== undefined) closeSync(file)
  }
}
