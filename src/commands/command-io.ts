import { readFileSync } from 'node:fs'
import { projectFile } from '../base/project-file.js'
import type { Command } from 'commander'
import type { App } from '../app.js'
import type { LoadedConfig } from '../config/load.js'
import type { SettingName } from '../config/settings.js'
import { ConfigError, ConnectorError, WarehouseUnavailableError, toError } from '../base/errors.js'
import {
  EXIT_CODES,
  exitCodeOf,
  exitCodeOfSignal,
  stopSignalOf,
  type StopSignal,
} from '../base/exit-code.js'
import { watchOutput } from './output/standard-output.js'

import { escapeControls } from './output/print-table.js'
import { terminalOf, type Terminal } from './output/terminal.js'

/** The parts of `process` that commands use. */
export interface ProcessLike {
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  cwd(): string
  exit(code: number): never
  on(event: StopSignal, listener: (signal: StopSignal) => void): unknown
  on(event: 'uncaughtException', listener: (thrown: unknown) => void): unknown
  off(event: StopSignal, listener: (signal: StopSignal) => void): unknown
  off(event: 'uncaughtException', listener: (thrown: unknown) => void): unknown
}

export interface RunOptions {
  /** Ctrl-C belongs to a program that the command has put in front of it. */
  readonly isInterruptIgnored?: boolean
}

/**
 * What every command is given: where to print, and how to run with an app that is closed
 * afterwards.
 */
export interface CommandIo {
  readonly process: ProcessLike
  readonly programVersion: string
  /** True when people watch: bars and colours are for them only. */
  readonly isTerminal: boolean
  /** What standard output is printed on, as it is now. */
  readonly terminal: Terminal
  /** The environment, for programs that a command starts. */
  environment(): Promise<Readonly<Record<string, string | undefined>>>
  print(text: string): void
  /** On standard output as it is, without a line end. */
  write(text: string): void
  /** One JSON document on standard output. */
  printJson(value: unknown): void
  /** Something worth a word that is no error, on standard error. */
  printNote(text: string): void
  /** What went wrong, in one sentence, on standard error. */
  printError(text: string): void
  /**
   * Waits until all that was printed is written; the exit code, which tells of what could not be.
   */
  finishOutput(exitCode: number): Promise<number>
  /**
   * Loads the settings, makes the app, runs `work`, closes everything and keeps the exit code that
   * `work` returns. Errors of the taxonomy become one clear message and their exit code.
   */
  withApp(
    flags: SettingFlags,
    work: (app: App, loaded: LoadedConfig) => Promise<number>,
    options?: RunOptions,
  ): Promise<void>
}

export type SettingFlags = Partial<Record<SettingName, unknown>> & {
  /** Path of a configuration file. */
  readonly config?: string
}

export interface CliState {
  exitCode: number
}

export function createCommandIo(process: ProcessLike, state: CliState): CommandIo {
  const programVersion = readProgramVersion()
  const written = watchOutput(process.stdout)
  // A log that cannot be written never stops a run.
  process.stderr.on('error', () => undefined)
  return {
    process,
    programVersion,
    isTerminal: process.stderr.isTTY,
    get terminal() {
      return terminalOf(process.stdout)
    },
    environment: async () => (await import('../config/load.js')).readEnvironment(),
    print: (text) => {
      process.stdout.write(`${text}\n`)
    },
    write: (text) => {
      process.stdout.write(text)
    },
    printJson: (value) => {
      process.stdout.write(`${JSON.stringify(value, null, 2)}\n`)
    },
    printNote: (text) => {
      process.stderr.write(`note: ${escapeControls(text)}\n`)
    },
    printError: (text) => {
      process.stderr.write(`error: ${text}\n`)
    },
    finishOutput: async (exitCode) => {
      const failure = await written()
      if (failure === undefined) return exitCode
      process.stderr.write(
        `error: standard output could not be written, so what stands there is incomplete: ${failure.message}\n`,
      )
      return exitCode === EXIT_CODES.complete ? EXIT_CODES.output : exitCode
    },
    withApp: async (flags, work, options = {}) => {
      const stop = new AbortController()
      const unlisten = listenForSignals(process, stop, options)
      try {
        state.exitCode = await runWithApp(process, programVersion, flags, work, stop.signal)
      } finally {
        unlisten()
      }
    },
  }
}

async function runWithApp(
  process: ProcessLike,
  programVersion: string,
  flags: SettingFlags,
  work: (app: App, loaded: LoadedConfig) => Promise<number>,
  signal: AbortSignal,
): Promise<number> {
  let app: App | undefined
  // Known from the moment that the settings are: what happens while the rest is loaded must show no
  // secret either.
  let redact = (text: string): string => text
  // Also for a rejection that nobody handles: nothing can be said of the state the program is in,
  // so it ends, and says why without a secret.
  const onFault = (thrown: unknown): void => {
    reportFault(process, thrown, redact)
    process.exit(EXIT_CODES.bug)
  }
  process.on('uncaughtException', onFault)
  try {
    const { config: configFile, ...settings } = flags
    // Loaded late, like the app below: the program's help needs no settings, and wrong settings
    // need none of the drivers.
    const [{ loadConfig, readEnvironment }, { createRedactor }] = await Promise.all([
      import('../config/load.js'),
      import('../base/logger.js'),
    ])
    const loaded = loadConfig({
      environment: readEnvironment(),
      workingDirectory: process.cwd(),
      flags: settings,
      configFile,
    })
    redact = createRedactor(loaded.secrets)
    const { createApp } = await import('../app.js')
    const { logFormat } = loaded.config
    app = createApp({
      loaded,
      workingDirectory: process.cwd(),
      logStream: process.stderr,
      isLogForPeople: logFormat === 'text' || (logFormat === 'auto' && process.stderr.isTTY),
      signal,
      programVersion,
    })
    redact = app.redact
    for (const warning of loaded.warnings) app.logger.warn(warning)
    return await work(app, loaded)
  } catch (thrown) {
    const isAway = thrown instanceof WarehouseUnavailableError
    const better = isAway ? await app?.explainDatabase() : undefined
    return reportFailure(process, better ?? thrown, signal, redact)
  } finally {
    await app?.close()
    process.off('uncaughtException', onFault)
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

function reportFailure(
  process: ProcessLike,
  thrown: unknown,
  signal: AbortSignal,
  redact: (text: string) => string,
): number {
  const stopSignal = signal.aborted ? stopSignalOf(signal.reason) : undefined
  if (stopSignal !== undefined) {
    process.stderr.write(`stopped by ${stopSignal}\n`)
    return exitCodeOfSignal(stopSignal)
  }
  if (thrown instanceof ConfigError) {
    const lines = thrown.problems.map(({ setting, problem }) => `${setting} ${problem}`)
    const text =
      lines.length > 1 ? ['settings need attention', ...lines].join('\n  ') : lines.join()
    process.stderr.write(redact(`error: ${text}\n`))
  } else if (thrown instanceof ConnectorError) {
    process.stderr.write(redact(`error: ${thrown.message}\n`))
  } else {
    reportFault(process, thrown, redact)
  }
  return exitCodeOf(thrown)
}

function reportFault(
  process: ProcessLike,
  thrown: unknown,
  redact: (text: string) => string,
): void {
  const { stack, message } = toError(thrown)
  process.stderr.write(redact(`error: a fault of the program: ${stack ?? message}\n`))
}

function readProgramVersion(): string {
  const text = readFileSync(projectFile('package.json'), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}

/** Settings every command takes. */
const COMMON: readonly SettingName[] = [
  'home',
  'schema',
  'databasePort',
  'allowInsecureDatabase',
  'strict',
  'logLevel',
  'logFormat',
]

/** What stands in the options of commands and is a setting; grows as commands are called. */
const settingOptions = new Set<string>()

/**
 * Gives a command the flags of the named settings, and `--config`, when it is called: what settings
 * there are takes a third of the program's start to load, and the program's own help does without.
 * Values stay texts here; the settings check them.
 */
export function addSettingFlags(
  command: Command,
  names: readonly SettingName[] | 'all' = [],
  common: readonly SettingName[] = COMMON,
): Command {
  command.parent?.hook('preSubcommand', async (_, called) => {
    if (called === command) await addFlagsNow(command, names, common)
  })
  return command
}

async function addFlagsNow(
  command: Command,
  names: readonly SettingName[] | 'all',
  common: readonly SettingName[],
): Promise<void> {
  const { settingDescriptions } = await import('../config/settings.js')
  for (const { name, variable, flag, meaning, defaultValue } of settingDescriptions) {
    const isWanted = names === 'all' || names.includes(name) || common.includes(name)
    if (flag === undefined || !isWanted) continue
    settingOptions.add(name)
    const isSwitch = typeof defaultValue === 'boolean'
    const option = command.createOption(`${flag} ${isSwitch ? '[boolean]' : '<value>'}`, meaning)
    const byDefault = defaultValue === undefined ? '' : `; default: ${String(defaultValue)}`
    option.description = `${meaning} (${variable}${byDefault})`
    option.attributeName = () => name
    command.addOption(option.helpGroup('Settings:'))
  }
  settingOptions.add('config')
  command.addOption(
    command
      .createOption(
        '--config <file>',
        'Configuration file to read instead of config/tracking-sync.json.',
      )
      .helpGroup('Settings:'),
  )
}

/** The settings among the options of a command. */
export function settingFlagsOf(options: Readonly<Record<string, unknown>>): SettingFlags {
  return Object.fromEntries(Object.entries(options).filter(([name]) => settingOptions.has(name)))
}
