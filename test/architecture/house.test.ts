import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { findPhrases } from '../../scripts/house/prose.js'
import { findPhrasesByRoom, measureHouse } from '../../scripts/house/measure.js'
import ceilings from './stilted-phrases.json' with { type: 'json' }

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Ceilings of figures that `scripts/measure-house.js` prints. Each may only fall. */
const MOST: Readonly<Record<string, number>> = {
  'core: lines': 29_158,
  'core: files': 195,
  'test: lines': 45_300,
  'imports of the core from extensions': 0,
  'statements by text': 20,
  'interpolated SQL texts': 47,
}

describe('the house', () => {
  it('keeps what has been reached', () => {
    const figures = measureHouse(ROOT)
    const worse = Object.entries(MOST).filter(([name, most]) => !(figures[name]! <= most))
    expect(worse, 'scripts/measure-house.js prints all figures').toEqual([])
  })

  it('has no more stilted phrases in a room than it had', () => {
    const rooms = new Map<string, ReturnType<typeof findPhrasesByRoom>>()
    for (const one of findPhrasesByRoom(ROOT)) {
      rooms.set(one.room, [...(rooms.get(one.room) ?? []), one])
    }
    const worse = [...rooms].filter(([room, found]) => found.length > (most(room) ?? 0))
    const phrases = worse.flatMap(([, found]) =>
      found.map(({ path, name, text }) => `${path}: ${name}: ${text}`),
    )
    expect(phrases, 'a room has more of them than before; begin with a noun').toEqual([])
  })

  it('would notice a stilted phrase', () => {
    const text =
      '/** What is read anew is no row, but for those that stand elsewhere. */\n// A row.'
    expect(findPhrases('src/probe.ts', text).map(({ name }) => name)).toEqual([
      'relative first',
      'is no X',
      'anew',
      'stands',
      'of those that',
      'but for',
    ])
  })
})

function most(room: string): number | undefined {
  return (ceilings as Readonly<Record<string, number>>)[room]
}
