import { Argument, type Command } from 'commander'
import type { App } from '../app.js'
import type { SettingName } from '../config/settings.js'
import type { Answer, CommandIo, RunOptions, SettingFlags } from './command-io.js'
import type { Input } from './inputs.js'

type Inputs = Readonly<Record<string, Input<unknown>>>

type Values<Takes extends Inputs> = {
  readonly [Name in keyof Takes]: Takes[Name] extends Input<infer Value> ? Value : never
} & { readonly json: boolean }

export interface Declaration<Takes extends Inputs> extends RunOptions {
  readonly name: string
  /** What it does, for `--help`. */
  readonly help: string
  /** Options and arguments of its own, by the name under which `run` gets them. */
  readonly takes?: Takes
  /** Settings that can be given as flags, beside `common`. */
  readonly settings?: readonly SettingName[] | 'all'
  readonly common?: readonly SettingName[]
  /** Help of `--json`; false: there is no such option. */
  readonly json?: string | false
  /** In place of a setting's default; flags, environment and files come before it. */
  readonly flags?: SettingFlags
  readonly run: (
    app: App,
    values: Values<Takes>,
    io: CommandIo,
  ) => Promise<Answer | number> | Promise<void>
}

/** Adds a command to the program, or to a group of commands. */
export type AddCommand = (parent: Command, io: CommandIo) => void

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

export function declare<const Takes extends Inputs>(declaration: Declaration<Takes>): AddCommand {
  const { name, help, json = 'Print as JSON.', flags, run } = declaration
  const takes = Object.entries(declaration.takes ?? {})
  return (parent, io) => {
    const command = parent.command(name).description(help)
    for (const [key, { item }] of takes) {
      if (item instanceof Argument) command.addArgument(item)
      else command.addOption(Object.assign(item, { attributeName: () => key }))
    }
    if (json !== false) command.option('--json', json)
    const settingNames = addSettingFlags(command, declaration)
    command.action(async () => {
      const options = command.opts()
      const given: unknown[] = command.processedArgs.slice()
      const values = Object.fromEntries(
        takes.map(([key, { item, read }]) => [
          key,
          read(item instanceof Argument ? given.shift() : options[key]),
        ]),
      )
      const isJson = options.json === true
      const settings = Object.fromEntries(
        Object.entries(options).filter(([option]) => settingNames.has(option)),
      )
      const work = async (app: App): Promise<number | undefined> => {
        const answer = await run(app, { ...values, json: isJson } as Values<Takes>, io)
        if (typeof answer === 'object') io.show(isJson, answer)
        return typeof answer === 'object' ? answer.exitCode : (answer ?? undefined)
      }
      await io.withApp({ ...flags, ...settings }, work, declaration)
    })
  }
}

export function group(name: string, help: string, commands: readonly AddCommand[]): AddCommand {
  return (parent, io) => {
    const command = parent.command(name).description(help)
    for (const add of commands) add(command, io)
  }
}

/**
 * Adds the flags of settings, and `--config`, once the command is called: loading the settings
 * takes a third of the program's start, and its own help does without. Values stay texts; the
 * settings check them. Gives the names of the options added, filled by then.
 */
function addSettingFlags(
  command: Command,
  { settings = [], common = COMMON }: Pick<Declaration<Inputs>, 'settings' | 'common'>,
): ReadonlySet<string> {
  const added = new Set<string>(['config'])
  command.parent?.hook('preSubcommand', async (_, called) => {
    if (called !== command) return
    const { settingDescriptions } = await import('../config/settings.js')
    const add = (flags: string, text: string) =>
      command.createOption(flags, text).helpGroup('Settings:')
    for (const { name, variable, flag, meaning, defaultValue } of settingDescriptions) {
      const isWanted = settings === 'all' || settings.includes(name) || common.includes(name)
      if (flag === undefined || !isWanted) continue
      added.add(name)
      const value = typeof defaultValue === 'boolean' ? '[boolean]' : '<value>'
      const byDefault = defaultValue === undefined ? '' : `; default: ${String(defaultValue)}`
      const option = add(`${flag} ${value}`, `${meaning} (${variable}${byDefault})`)
      command.addOption(Object.assign(option, { attributeName: () => name }))
    }
    const text = 'Configuration file to read instead of config/tracking-sync.json.'
    command.addOption(add('--config <file>', text))
  })
  return added
}
