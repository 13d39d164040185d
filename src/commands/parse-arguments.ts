import { InvalidArgumentError } from 'commander'

/** Parsers of options and arguments. Anything malformed is a usage error. */

export function wholeNumber(smallest: number, largest: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (/^\d+$/.test(text) && value >= smallest && value <= largest) return value
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

export function separatedByCommas(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim())
  if (names.every((name) => name !== '')) return names
  throw new InvalidArgumentError('Separate the names by commas.')
}
