/**
 * Numbers that look random and are not: the same path (seed, topic, index…) always gives the same
 * sequence. Everything in the world is drawn from these, so the simulator stores nothing.
 */
export interface Dice {
  /** In [0, 1). */
  fraction(): number
  /** Whole number, both ends included. */
  integer(lowest: number, highest: number): number
  between(low: number, high: number): number
  chance(probability: number): boolean
  pick<Item>(items: readonly Item[]): Item
  /** Bell-shaped around 0, nearly always within ±2. */
  bell(): number
  /** Upper-case letters or digits of the alphabet given. */
  text(alphabet: string, length: number): string
}

/** A 32-bit hash of whole numbers; each number changes about half of the bits. */
export function mix(...numbers: readonly number[]): number {
  let state = 0x9e3779b9
  for (const number of numbers) {
    state = Math.imul(state ^ (number | 0), 0x85ebca6b)
    state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35)
    state ^= state >>> 16
  }
  return state >>> 0
}

export function createDice(...path: readonly number[]): Dice {
  let state = mix(...path)
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let word = Math.imul(state ^ (state >>> 15), state | 1)
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61)
    return ((word ^ (word >>> 14)) >>> 0) / 0x1_0000_0000
  }
  const integer = (lowest: number, highest: number): number =>
    lowest + Math.floor(fraction() * (highest - lowest + 1))
  return {
    fraction,
    integer,
    between: (low, high) => low + fraction() * (high - low),
    chance: (probability) => fraction() < probability,
    pick: (items) => {
      const item = items[integer(0, items.length - 1)]
      if (item === undefined) throw new RangeError('Nothing to pick from.')
      return item
    },
    bell: () => (fraction() + fraction() + fraction() + fraction() - 2) * 1.2,
    text: (alphabet, length) => {
      let text = ''
      for (let at = 0; at < length; at++) text += alphabet.charAt(integer(0, alphabet.length - 1))
      return text
    },
  }
}
