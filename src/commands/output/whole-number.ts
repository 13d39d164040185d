import { InvalidArgumentError } from 'commander'

/** A parser of whole numbers for options and arguments; anything else is a usage error. */
export function wholeNumber(smallest: number, largest: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (/^\d+$/.test(text) && value >= smallest && value <= largest) return value
    throw new InvalidArgumentError(`It must be a whole number from ${smallest} to ${largest}.`)
  }
}
