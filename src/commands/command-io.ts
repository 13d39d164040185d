import { fstatSync, readFileSync, writeSync } from 'node:fs'
import { Writable } from 'node:stream'
import type { App } from '../app.js'
import { ConfigError, ConnectorError, toError, WarehouseUnavailableError } from '../base/errors.js'
import {
  EXIT_CODES,
  exitCodeOf,
  exitCodeOfSignal,
  stopSignalOf,
  type StopSignal,
} from '../base/exit-code.js'
import { settingsOf, type Extension } from '../extension.js'
import { projectFile } from '../base/project-file.js'
import type { ConfigSources, LoadedAccount } from '../config/load.js'
import type { SettingDescription } from '../config/settings.js'
import { formatParts, type Part, type Terminal, terminalOf } from './output/print-table.js'

/** The parts of `process` that commands use. */
export interface ProcessLike {
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  /** Absent: nobody answers questions. */
  readonly stdin?: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  /** Absent: the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>
  cwd(): string
  exit(code: number): never
  on(event: StopSignal, listener: (signal: StopSignal) => void): unknown
  on(event: 'uncaughtException', listener: (thrown: unknown) => void): unknown
  off(event: StopSignal, listener: (signal: StopSignal) => void): unknown
  off(event: 'uncaughtException', listener: (thrown: unknown) => void): unknown
}

export interface SettingFlags extends Readonly<Record<string, unknown>> {
  readonly config?: string
}

export interface RunOptions {
  /** Ctrl-C belongs to a program that the command has started. */
  readonly isInterruptIgnored?: boolean
  /** False: the command works without choosing one of several accounts. */
  readonly isForAccount?: boolean
}

/** The flags of a command line that choose its accounts. */
export interface AccountChoice {
  /** Where accounts are configured, one must be chosen. */
  readonly needsAccount: boolean
  /** The command works for all of them with `--all`. */
  readonly hasAll: boolean
  /** Given if the command works for all of them now. */
  readonly loadAll?: LoadAccounts | undefined
}

export type LoadAccounts = (sources: ConfigSources) => Promise<readonly LoadedAccount[]>

/** The output of a command, and its exit code. */
export interface Answer {
  /** Printed with `--json`. */
  readonly data: unknown
  /** Printed without it. */
  readonly text: readonly Part[]
  /** Default: 0. */
  readonly exitCode?: number
  /** The problem, printed on standard error. */
  readonly error?: string | undefined
}

/** The output of commands, and the way they run with an app. */
export class CommandIo {
  readonly process: ProcessLike
  readonly programVersion = readProgramVersion()
  exitCode: number = EXIT_CODES.complete
  readonly #extensions: readonly Extension[]
  readonly #written: () => Promise<Error | undefined>

  constructor(process: ProcessLike, extensions: readonly Extension[]) {
    this.process = process
    this.#extensions = extensions
    this.#written = watchOutput(process.stdout)
    // A log that cannot be written never stops a run.
    process.stderr.on('error', () => undefined)
  }

  /** The terminal of standard output, with its present width. */
  get terminal(): Terminal {
    return terminalOf(this.process.stdout)
  }

  async describeSettings(): Promise<readonly SettingDescription[]> {
    const { describeSettings } = await import('../config/settings.js')
    return describeSettings(await settingsOf(this.#extensions))
  }

  print(...parts: readonly Part[]): void {
    this.process.stdout.write(`${formatParts(parts, this.terminal)}\n`)
  }

  show(isJson: boolean, { data, text, error }: Omit<Answer, 'exitCode'>): void {
    if (isJson) this.process.stdout.write(`${JSON.stringify(data, null, 2)}\n`)
    else if (text.length > 0) this.print(...text)
    if (error !== undefined) this.printError(error)
  }

  /** A hint that is not an error, on standard error. */
  printNote(text: string): void {
    const { stderr } = this.process
    stderr.write(`${formatParts([`note: ${text}`], terminalOf(stderr))}\n`)
  }

  printError(text: string): void {
    this.process.stderr.write(`error: ${text}\n`)
  }

  /** Waits until all output is written, and returns the exit code of the program. */
  async finish(): Promise<number> {
    const failure = await this.#written()
    if (failure === undefined) return this.exitCode
    this.printError(`standard output could not be written, so it is incomplete: ${failure.message}`)
    return this.exitCode === EXIT_CODES.complete ? EXIT_CODES.output : this.exitCode
  }

  /**
   * Loads the settings, makes the app, runs `work`, closes everything and keeps the exit code that
   * `work` returns: 0 unless it returns one. Errors become one message and their exit code.
   */
  async withApp(
    flags: SettingFlags,
    work: (app: App) => Promise<number | undefined>,
    options: RunOptions & AccountChoice,
  ): Promise<void> {
    const stop = new AbortController()
    const unlisten = listenForSignals(this.process, stop, options)
    try {
      this.exitCode = await this.#run(flags, work, stop.signal, options)
    } finally {
      unlisten()
    }
  }

  async #run(
    flags: SettingFlags,
    work: (app: App) => Promise<number | undefined>,
    signal: AbortSignal,
    { needsAccount, hasAll, loadAll }: AccountChoice,
  ): Promise<number> {
    const { process } = this
    const { env: environment } = process
    let app: App | undefined
    // Set as soon as the secrets are known: a fault while the rest is loaded must not show one.
    let redact = (text: string): string => text
    // Also for a rejection that nobody handles: the state of the program is unknown, so it ends.
    const onFault = (thrown: unknown): void => {
      this.printError(redact(describeFault(thrown)))
      process.exit(EXIT_CODES.bug)
    }
    process.on('uncaughtException', onFault)
    try {
      const { config: configFile, ...settings } = flags
      // Loaded late: help needs no settings, and reporting wrong settings needs no drivers.
      const { loadConfig, readEnvironment } = await import('../config/load.js')
      const { createRedactor } = await import('../base/logger.js')
      const groups = await settingsOf(this.#extensions)
      const sources = {
        environment: environment ?? readEnvironment(),
        workingDirectory: process.cwd(),
        flags: settings,
        groups,
        configFile,
      }
      const loaded = loadConfig(sources)
      redact = createRedactor(loaded.secrets)
      const accounts = (await loadAll?.(sources)) ?? []
      redact = createRedactor([loaded, ...accounts].flatMap(({ secrets }) => secrets))
      if (needsAccount && loadAll === undefined && loaded.accounts.length > 0) {
        const { requireAccount } = await import('../config/needed-settings.js')
        requireAccount(loaded, hasAll)
      }
      const { App } = await import('../app.js')
      const { logFormat } = loaded.config
      app = new App({
        loaded,
        accounts,
        extensions: this.#extensions,
        workingDirectory: process.cwd(),
        logStream: process.stderr,
        isLogForPeople: logFormat === 'text' || (logFormat === 'auto' && process.stderr.isTTY),
        signal,
        programVersion: this.programVersion,
      })
      redact = app.redact
      const warnings = new Set([loaded, ...accounts].flatMap((one) => one.warnings))
      for (const warning of warnings) app.logger.warn(warning)
      return (await work(app)) ?? EXIT_CODES.complete
    } catch (thrown) {
      const stopSignal = signal.aborted ? stopSignalOf(signal.reason) : undefined
      if (stopSignal !== undefined) {
        process.stderr.write(`stopped by ${stopSignal}\n`)
        return exitCodeOfSignal(stopSignal)
      }
      const isAway = thrown instanceof WarehouseUnavailableError
      const better = (isAway ? await app?.explainDatabase() : undefined) ?? thrown
      this.printError(redact(describeFailure(better)))
      return exitCodeOf(better)
    } finally {
      await app?.close()
      process.off('uncaughtException', onFault)
    }
  }
}

/** The first signal asks for an orderly end; a second one ends at once. */
function listenForSignals(
  process: ProcessLike,
  stop: AbortController,
  { isInterruptIgnored = false }: RunOptions,
): () => void {
  const signals: readonly StopSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP']
  const listener = (signal: StopSignal): void => {
    if (signal === 'SIGINT' && isInterruptIgnored) return
    if (stop.signal.aborted) process.exit(exitCodeOfSignal(signal))
    stop.abort(signal)
  }
  for (const signal of signals) process.on(signal, listener)
  return () => {
    for (const signal of signals) process.off(signal, listener)
  }
}

function describeFailure(thrown: unknown): string {
  if (!(thrown instanceof ConnectorError)) return describeFault(thrown)
  const isList = thrown instanceof ConfigError && thrown.problems.length > 1
  return isList
    ? `settings need attention\n${thrown.message}`.replaceAll('\n', '\n  ')
    : thrown.message
}

function describeFault(thrown: unknown): string {
  const { stack, message } = toError(thrown)
  return `a fault of the program: ${stack ?? message}`
}

function readProgramVersion(): string {
  const text = readFileSync(projectFile('package.json'), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}

/**
 * The stream to print to. Node's own stream for files reports success when the system wrote a part,
 * so the rest is lost without an error on a full disk. This stream writes on until everything is
 * written or the system reports an error, as the streams of pipes and terminals do.
 */
export function completeOutput(
  stream: NodeJS.WriteStream & { readonly fd: number },
): NodeJS.WriteStream {
  const { fd, isTTY } = stream
  const kind = fstatSync(fd)
  if (isTTY || kind.isFIFO() || kind.isSocket()) return stream
  const whole = new Writable({
    decodeStrings: true,
    // Writes at once, as Node's own stream does, so that output keeps its place among the log
    // lines.
    write(chunk: Buffer, _encoding, done) {
      try {
        for (let at = 0; at < chunk.length;) at += writeSync(fd, chunk, at)
        done()
      } catch (thrown) {
        done(thrown as Error)
      }
    },
  })
  return Object.assign(whole, { fd, isTTY: false }) as unknown as NodeJS.WriteStream
}

/** The reader has left, as `| head` does: it has enough. */
const READER_LEFT: readonly (string | undefined)[] = ['EPIPE', 'ECONNRESET']

/**
 * Watches a stream. Call the result at the end: it waits for the last byte and gives the failure.
 */
function watchOutput(stream: NodeJS.WriteStream): () => Promise<Error | undefined> {
  let failure: Error | undefined
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (!READER_LEFT.includes(error.code)) failure ??= error
  })
  return async () => {
    await new Promise<void>((resolve) => {
      stream.write('', () => {
        resolve()
      })
    })
    return failure
  }
}
