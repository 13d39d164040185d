import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect } from 'vitest'
import { runCli } from '../../src/commands/program.js'
import { expectClean, type ProgramOptions } from './run-cli.js'
import { rememberProgram } from './said-by-programs.js'
import { createSink } from './sink.js'

export interface CliCall {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** Where a command reads and writes. */
export function settingsOf(
  { url, apiKey }: { readonly url: string; readonly apiKey: string },
  databaseUrl: string,
): Record<string, string> {
  return { TRACKING_API_URL: url, TRACKING_API_KEY: apiKey, DATABASE_URL: databaseUrl }
}

/** The words of a line, as a shell splits it, with double quotes. */
export function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word)
}

/** Runs one command line in this process, in a directory of its own. */
export async function callCli(
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
): Promise<CliCall> {
  const directory = await mkdtemp(join(tmpdir(), 'tracking-sync-cli-'))
  try {
    return await callWith(args, directory, settings)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/**
 * Like `runCli`, with the same search for secrets, but in this process: for wording and exit codes.
 * Tests of signals, streams or the installation need a process.
 */
export async function callProgram(
  args: readonly string[],
  options: Pick<ProgramOptions, 'directory' | 'env' | 'secrets' | 'isPrintingPassword'> & {
    /** A person is at a terminal and types this. */
    readonly typed?: string
  },
): Promise<CliCall> {
  const call = await callWith(args, options.directory, options.env ?? {}, options.typed)
  // At a terminal, the editing of a line is control characters.
  if (options.typed === undefined) await expectClean(args.join(' '), call, options)
  return call
}

/** The exit code and the errors of a command that answers nothing. */
export async function refusalOf(call: Promise<CliCall>): Promise<string> {
  const { exitCode, stdout, stderr } = await call
  expect(stdout).toBe('')
  return `${exitCode} ${stderr}`
}

async function callWith(
  args: readonly string[],
  directory: string,
  env: Readonly<Record<string, string>>,
  typed?: string,
): Promise<CliCall> {
  const keys = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => keys })
  if (typed !== undefined) keys.write(typed)
  const [stdout, stderr] = [createSink(false), createSink(false)]
  const said = (): string => `${stdout.text()}${stderr.text()}`
  rememberProgram({ name: args.join(' '), said, isRunning: () => false })
  const exitCode = await runCli(['node', 'tracking-sync', ...args], {
    stdout: stdout.stream,
    stderr: stderr.stream,
    ...(typed === undefined ? {} : { stdin: keys }),
    env,
    cwd: () => directory,
    exit: (code) => {
      throw new Error(`exit(${code}) was called`)
    },
    on: () => undefined,
    off: () => undefined,
  })
  return { exitCode, stdout: stdout.text(), stderr: stderr.text() }
}
