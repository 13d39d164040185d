import { Argument, InvalidArgumentError, Option } from 'commander'

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

// What a text must be. Anything malformed is a usage error.

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

/** The same as a `Date`; a day is its midnight in UTC. */
export function instant(text: string): Date {
  return new Date(instantText(text))
}

/** `Date` turns 30 February into 2 March, and PostgreSQL knows no year 0. */
function isDay(day: string): boolean {
  const midnight = new Date(`${day}T00:00:00Z`)
  if (Number.isNaN(midnight.getTime()) || day.startsWith('0000')) return false
  return midnight.toISOString().startsWith(day)
}
