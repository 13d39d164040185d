import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream, rmSync } from 'node:fs'
import { chmod, realpath, rename, stat } from 'node:fs/promises'
import { dirname, extname, join, resolve } from 'node:path'
import type { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { ConfigError } from '../../../base/errors.js'
import { countOf } from '../../../base/phrases.js'
import type { TableAnswer } from '../read-answer.js'
import type { CommandIo } from '../../../commands/command-io.js'
import {
  ANSWER_FORMATS,
  printAnswer,
  type AnswerFormat,
  type AnswerOptions,
} from './print-answer.js'
import { NO_TERMINAL } from '../../../commands/output/print-table.js'

/** The file of `--out`. */
export interface AnswerFile {
  /** As the user wrote it. */
  readonly name: string
  readonly path: string
  /** The mode of an existing file. */
  readonly mode: number | undefined
}

function refuse(problem: string): ConfigError {
  return new ConfigError([{ setting: '--out', problem }])
}

function codeOf(thrown: unknown): string {
  return (thrown as NodeJS.ErrnoException).code ?? 'no reason'
}

/** Throws ConfigError if no file can be put there. Called before any question is asked. */
export async function findAnswerFile(name: string, directory: string): Promise<AnswerFile> {
  const path = resolve(directory, name)
  const find = (at: string) =>
    stat(at).catch((thrown: unknown) => {
      if (codeOf(thrown) === 'ENOENT') return undefined
      throw refuse(`${name} cannot be used (${codeOf(thrown)}); name another file`)
    })
  const [folder, standing] = [await find(dirname(path)), await find(path)]
  if (folder === undefined) {
    throw refuse(`${name} is in a folder that does not exist; make that first`)
  }
  if (standing?.isDirectory() === true || /[\\/]$/.test(name)) {
    throw refuse(`${name} is a folder; name a file in it`)
  }
  if (standing?.isFile() === false) {
    throw refuse(`${name} is not a file; name one, or leave --out away for standard output`)
  }
  // A link stays; the file that it leads to is replaced.
  return {
    name,
    path: standing === undefined ? path : await realpath(path),
    mode: standing?.mode,
  }
}

/** Destination and format of an answer. */
export interface Destination {
  readonly format: AnswerFormat
  /** Standard output by default. */
  readonly file: AnswerFile | undefined
  readonly signal: AbortSignal
}

/** Prints an answer, or writes it into a file, and returns its number of rows. */
export async function putAnswer(
  io: CommandIo,
  pieces: AsyncIterable<TableAnswer>,
  { format, file, signal }: Destination,
  given: Omit<AnswerOptions, 'terminal' | 'note'>,
): Promise<number> {
  const note = (text: string): void => {
    io.printNote(text)
  }
  const terminal = file === undefined ? io.terminal : NO_TERMINAL
  const options = { ...given, terminal, note }
  if (file === undefined) return printAnswer(pieces, format, io.process.stdout, options)
  const count = await writeWhole(file, signal, (output) =>
    printAnswer(untilStopped(pieces, signal), format, output, options),
  )
  // A calendar has already reported its number of events.
  note(format === 'ics' ? `wrote ${file.name}` : `wrote ${countOf(count, 'row')} to ${file.name}`)
  const named = ANSWER_FORMATS.find((other) => extname(file.path) === `.${other}`)
  if (named !== undefined && named !== format) {
    note(`${file.name} is named like ${named} and holds ${format}; add --format ${named}`)
  }
  return count
}

async function* untilStopped<Piece>(
  pieces: AsyncIterable<Piece>,
  signal: AbortSignal,
): AsyncGenerator<Piece> {
  for await (const piece of pieces) {
    signal.throwIfAborted()
    yield piece
  }
}

/** All or nothing: it is written beside the file and then put in its place. */
async function writeWhole<Result>(
  { name, path, mode }: AnswerFile,
  signal: AbortSignal,
  write: (output: Writable) => Promise<Result>,
): Promise<Result> {
  const beside = join(dirname(path), `.tracking-sync-${randomUUID()}`)
  const remove = (): void => {
    rmSync(beside, { force: true })
  }
  const done = (work: Promise<unknown>): Promise<unknown> =>
    work.catch((thrown: unknown) => {
      throw refuse(`${name} cannot be written (${codeOf(thrown)}); name another file`)
    })
  // A second signal ends the program at once.
  process.once('exit', remove)
  const output = createWriteStream(beside, { flags: 'wx', flush: true })
  output.on('error', () => undefined)
  try {
    await done(once(output, 'open'))
    const result = await write(output)
    await done(finished(output.end()))
    signal.throwIfAborted()
    if (mode !== undefined) await done(chmod(beside, mode))
    await done(rename(beside, path))
    return result
  } finally {
    await finished(output.destroy()).catch(() => undefined)
    remove()
    process.off('exit', remove)
  }
}
