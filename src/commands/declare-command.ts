import { Argument, InvalidArgumentError, Option, type Command } from 'commander'
import type { App } from '../app.js'
import type { SettingName } from '../config/settings.js'
import type { Answer, CommandIo, LoadAccounts, RunOptions, SettingFlags } from './command-io.js'

type Inputs = Readonly<Record<string, Input<unknown>>>

type Values<Takes extends Inputs> = {
  readonly [Name in keyof Takes]: Takes[Name] extends Input<infer Value> ? Value : never
} & { readonly json: boolean }

export interface Declaration<Takes extends Inputs> extends RunOptions {
  readonly name: string
  /** The command of a group that runs if none is named. */
  readonly isDefault?: true
  readonly help: string
  /** Its own options and arguments, by the name under which `run` gets them. */
  readonly takes?: Takes
  /** Settings that can be given as flags, beside `common`. */
  readonly settings?: readonly SettingName[] | 'all'
  /** Settings of an extension that can be given as flags. */
  readonly ofExtension?: readonly string[]
  readonly common?: readonly SettingName[]
  /** Help of `--json`; false: the command lacks this option. */
  readonly json?: string | false
  /** Replaces a setting's default; flags, environment and files come before it. */
  readonly flags?: SettingFlags
  /** How all accounts are loaded; undefined unless the values ask for all. */
  readonly loadAll?: (values: Readonly<Record<string, unknown>>) => LoadAccounts | undefined
  run(app: App, values: Values<Takes>, io: CommandIo): Promise<Answer | number> | Promise<void>
}

/** A command before it is added: an extension may add to what it takes and does. */
export type AnyDeclaration = Declaration<Inputs>

export type ExtendCommand = (declaration: AnyDeclaration) => AnyDeclaration

/** A declaration whose values have the types of what it takes. */
export function command<const Takes extends Inputs>(
  declaration: Declaration<Takes>,
): Declaration<Takes> {
  return declaration
}

/** Adds a command to the program, or to a group of commands. */
export type AddCommand = (parent: Command, io: CommandIo) => void

/** A heading of `--help` with its commands; a text names one of the core. */
export type CommandGroup = readonly [heading: string, members: readonly (AddCommand | string)[]]

/** Settings that every command takes. */
const COMMON: readonly SettingName[] = [
  'home',
  'account',
  'schema',
  'allowInsecureDatabase',
  'strict',
  'logLevel',
  'logFormat',
]

/** Settings of commands that only ask the service something. */
export const SERVICE_ONLY: readonly SettingName[] = ['service', 'apiUrl', 'allowInsecureApiUrl']

export function declare<const Takes extends Inputs>(declaration: Declaration<Takes>): AddCommand {
  const { name, help, isDefault, json = 'Print as JSON.', flags, common = COMMON } = declaration
  const takes = Object.entries(declaration.takes ?? {})
  return (parent, io) => {
    const command = addNamed(parent, name, help, isDefault)
    for (const [key, { item }] of takes) {
      if (item instanceof Argument) command.addArgument(item)
      else command.addOption(Object.assign(item, { attributeName: () => key }))
    }
    if (json !== false) command.option('--json', json)
    const settingNames = addSettingFlags(command, io, declaration)
    command.action(async () => {
      const options = command.opts()
      const given: unknown[] = command.processedArgs.slice()
      const values: Readonly<Record<string, unknown>> = Object.fromEntries(
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
        const answer = await declaration.run(app, { ...values, json: isJson } as Values<Takes>, io)
        if (typeof answer === 'object') io.show(isJson, answer)
        return typeof answer === 'object' ? answer.exitCode : (answer ?? undefined)
      }
      await io.withApp({ ...flags, ...settings }, work, {
        ...declaration,
        needsAccount: declaration.isForAccount ?? common.includes('account'),
        hasAll: declaration.loadAll !== undefined,
        loadAll: declaration.loadAll?.(values),
      })
    })
  }
}

export function group(name: string, help: string, commands: readonly AddCommand[]): AddCommand {
  return (parent, io) => {
    const command = addNamed(parent, name, help)
    for (const add of commands) add(command, io)
  }
}

/** The list of commands shows its help up to the first full stop; the dot of `.env` is not one. */
function addNamed(parent: Command, name: string, help: string, isDefault = false): Command {
  const [summary = help] = help.split(/[.:;](?:\s|$)|, for/)
  return parent.command(name, { isDefault }).description(help).summary(summary)
}

type SettingChoice = Pick<Declaration<Inputs>, 'settings' | 'ofExtension' | 'common'>

/**
 * Adds the flags of settings, and `--config`, once the command is called: loading the settings
 * takes a third of the program's start, and its own help does without. Values stay texts; the
 * settings check them. Returns the names of the added options, complete once the command is called.
 */
function addSettingFlags(
  command: Command,
  io: CommandIo,
  { settings = [], ofExtension = [], common = COMMON }: SettingChoice,
): ReadonlySet<string> {
  const added = new Set<string>(['config'])
  command.parent?.hook('preSubcommand', async (_, called) => {
    if (called === command) await addAll()
  })
  lateFlags.set(command, addAll)
  return added

  async function addAll(): Promise<void> {
    const add = (flags: string, text: string) =>
      command.createOption(flags, text).helpGroup('Settings:')
    for (const { name, variable, flag, meaning, defaultValue } of await io.describeSettings()) {
      const isWanted = settings === 'all' || [...settings, ...ofExtension, ...common].includes(name)
      if (flag === undefined || !isWanted) continue
      added.add(name)
      const value = typeof defaultValue === 'boolean' ? '[boolean]' : '<value>'
      const byDefault = defaultValue === undefined ? '' : `; default: ${String(defaultValue)}`
      const option = add(`${flag} ${value}`, `${meaning} (${variable}${byDefault})`)
      command.addOption(Object.assign(option, { attributeName: () => name }))
    }
    const text = 'Configuration file to read instead of config/tracking-sync.json.'
    command.addOption(add('--config <file>', text))
  }
}

const lateFlags = new WeakMap<Command, () => Promise<void>>()

/** For code that shows a command, and those of its group, without calling it. Call it once. */
export async function addLateFlags(command: Command): Promise<void> {
  await lateFlags.get(command)?.()
  for (const member of command.commands) await addLateFlags(member)
}

/** An option or an argument of a command, and how the command gets it. */
export interface Input<Value> {
  readonly item: Option | Argument
  readonly read: (given: unknown) => Value
}

type Parse<Value> = (text: string) => Value

/** An option that is given or not. `--no-…` is true unless given. */
export function flag(form: string, help: string): Input<boolean> {
  return { item: new Option(form, help), read: (given) => given === true }
}

/** An option with a value. */
export function value(form: string, help: string): Input<string | undefined>
export function value<Value>(
  form: string,
  help: string,
  parse: Parse<Value>,
): Input<Value | undefined>
export function value<Value>(
  form: string,
  help: string,
  parse: Parse<Value>,
  byDefault: Value,
): Input<Value>
export function value(
  form: string,
  help: string,
  parse: Parse<unknown> = String,
  byDefault?: unknown,
): Input<unknown> {
  return {
    item: new Option(form, help).argParser(parse).default(byDefault),
    read: (given) => given,
  }
}

/** A required option. */
export function requiredValue(form: string, help: string): Input<string> {
  return { item: new Option(form, help).makeOptionMandatory(), read: (given) => given as string }
}

/** An option that takes one of a few words. */
export function choice<const Word extends string>(
  form: string,
  help: string,
  words: readonly Word[],
  byDefault: Word,
): Input<Word> {
  const item = new Option(form, help).choices(words).default(byDefault)
  return { item, read: (given) => given as Word }
}

/** `<name>` must be given; `[name]` may be missing. */
export function argument(form: `<${string}>`, help: string): Input<string>
export function argument<Value>(
  form: `<${string}>`,
  help: string,
  parse: Parse<Value>,
): Input<Value>
export function argument(form: `[${string}]`, help: string): Input<string | undefined>
export function argument(
  form: string,
  help: string,
  parse: Parse<unknown> = String,
): Input<unknown> {
  return { item: new Argument(form, help).argParser(parse), read: (given) => given }
}

/** Any number of values: an option that may be repeated, or `[ids...]`. */
export function list(form: string, help: string): Input<readonly string[]>
export function list<Value>(
  form: string,
  help: string,
  parse: Parse<Value>,
): Input<readonly Value[]>
export function list(
  form: string,
  help: string,
  parse: Parse<unknown> = String,
): Input<readonly unknown[]> {
  const item = form.startsWith('-') ? new Option(form, help) : new Argument(form, help)
  item.argParser((text: string, before: readonly unknown[] | undefined) => [
    ...(before ?? []),
    parse(text),
  ])
  return { item, read: (given) => (given ?? []) as readonly unknown[] }
}

// The condition for a text. A malformed text is a usage error.

export function wholeNumber(smallest: number, largest: number): Parse<number> {
  return (text) => {
    const number = Number(text)
    if (/^\d+$/.test(text) && number >= smallest && number <= largest) return number
    throw new InvalidArgumentError(`It must be a whole number from ${smallest} to ${largest}.`)
  }
}

const INSTANT =
  /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?:[Zz]|([+-](?:0\d|1[0-5])):?(\d\d))?)?$/

/** A day, or a time with its zone, which is UTC unless given. */
export function instantText(text: string): string {
  const [, day = '', time, hours, minutes] = INSTANT.exec(text) ?? []
  const zone = hours === undefined ? 'Z' : `${hours}:${minutes ?? ''}`
  const whole = time === undefined ? day : `${day}T${time}${zone}`
  if (isDay(day) && !Number.isNaN(Date.parse(whole))) return whole
  throw new InvalidArgumentError(
    'It must be a day or a time, like 2026-03-01 or 2026-03-01T08:00Z.',
  )
}

/** Like `instantText`, as a `Date`; a day is its midnight in UTC. */
export function instant(text: string): Date {
  return new Date(instantText(text))
}

/** `Date` turns 30 February into 2 March, and PostgreSQL lacks a year 0. */
function isDay(day: string): boolean {
  const midnight = new Date(`${day}T00:00:00Z`)
  if (Number.isNaN(midnight.getTime()) || day.startsWith('0000')) return false
  return midnight.toISOString().startsWith(day)
}
