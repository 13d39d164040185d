import type { Command } from 'commander'
import type { App } from '../app.js'
import type { SettingName } from '../config/settings.js'
import type { CommandIo, Outcome, RunOptions, SettingFlags } from './command-io.js'

/** A command as its file declares it. */
export interface Declaration<Options, Args extends readonly unknown[]> extends RunOptions {
  readonly name: string
  /** What it does, for `--help`. */
  readonly help: string
  /** Settings that can be given as flags, beside `common`. */
  readonly settings?: readonly SettingName[] | 'all'
  readonly common?: readonly SettingName[]
  /** Help of `--json`, which prints the result as JSON; false: there is no such option. */
  readonly json?: string | false
  /** Adds arguments and options of its own. */
  readonly define?: (command: Command) => Command
  /** In place of a setting's default; flags, environment and files come before it. */
  readonly flags?: SettingFlags
  readonly run: (app: App, options: Options & { readonly json?: boolean }, ...args: Args) => Outcome
}

/** Settings that every command takes. */
const COMMON: readonly SettingName[] = [
  'home',
  'schema',
  'databasePort',
  'allowInsecureDatabase',
  'strict',
  'logLevel',
  'logFormat',
]

/** Settings of commands that only ask the service something. */
export const SERVICE_ONLY: readonly SettingName[] = [
  'apiUrl',
  'requestTimeoutSeconds',
  'allowInsecureApiUrl',
]

/** Adds a command to the program, or to a group of commands. */
export function declare<Options = object, Args extends readonly unknown[] = []>(
  parent: Command,
  io: CommandIo,
  declaration: Declaration<Options, Args>,
): void {
  const { name, help, json = 'Print as JSON.', define, flags, run } = declaration
  const command = parent.command(name).description(help)
  define?.(command)
  if (json !== false) command.option('--json', json)
  const given = addSettingFlags(command, declaration)
  command.action(async (...called: unknown[]) => {
    // Commander hands over the arguments, the options and the command.
    const args = called.slice(0, -2) as unknown as Args
    const options = called.at(-2) as Options & Readonly<Record<string, unknown>>
    const settings = Object.fromEntries(
      Object.entries(options).filter(([option]) => given.has(option)),
    )
    await io.withApp({ ...flags, ...settings }, (app) => run(app, options, ...args), declaration)
  })
}

/**
 * Adds the flags of settings, and `--config`, once the command is called: loading the settings
 * takes a third of the program's start, and its own help does without. Values stay texts; the
 * settings check them. Gives the names of the options added, filled by then.
 */
function addSettingFlags(
  command: Command,
  {
    settings = [],
    common = COMMON,
  }: Pick<Declaration<unknown, readonly unknown[]>, 'settings' | 'common'>,
): ReadonlySet<string> {
  const added = new Set<string>(['config'])
  command.parent?.hook('preSubcommand', async (_, called) => {
    if (called !== command) return
    const { settingDescriptions } = await import('../config/settings.js')
    for (const { name, variable, flag, meaning, defaultValue } of settingDescriptions) {
      const isWanted = settings === 'all' || settings.includes(name) || common.includes(name)
      if (flag === undefined || !isWanted) continue
      added.add(name)
      const value = typeof defaultValue === 'boolean' ? '[boolean]' : '<value>'
      const byDefault = defaultValue === undefined ? '' : `; default: ${String(defaultValue)}`
      const text = `${meaning} (${variable}${byDefault})`
      const option = command.createOption(`${flag} ${value}`, text)
      option.attributeName = () => name
      command.addOption(option.helpGroup('Settings:'))
    }
    const text = 'Configuration file to read instead of config/tracking-sync.json.'
    command.addOption(command.createOption('--config <file>', text).helpGroup('Settings:'))
  })
  return added
}
