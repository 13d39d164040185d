import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { countPhrases } from '../../scripts/house/prose.js'
import { countPhrasesByRoom, measureHouse } from '../../scripts/house/measure.js'
import ceilings from './stilted-phrases.json' with { type: 'json' }

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Ceilings of figures that `scripts/measure-house.js` prints. Each may only fall. */
const MOST: Readonly<Record<string, number>> = {
  'core: lines': 29_020,
  'core: files': 193,
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
    const found = countPhrasesByRoom(ROOT)
    const worse = Object.entries(found).filter(([room, count]) => count > (most(room) ?? 0))
    expect(worse, 'scripts/house/prose.js names the phrases; begin with a noun').toEqual([])
  })

  it('would notice a stilted phrase', () => {
    const text =
      '/** What is read anew is no row, but for those that stand elsewhere. */\n// A row.'
    const found = Object.entries(countPhrases('src/probe.ts', text)).filter(
      ([, count]) => count > 0,
    )
    expect(found).toEqual([
      ['relative first', 1],
      ['is no X', 1],
      ['anew', 1],
      ['stands', 1],
      ['of those that', 1],
      ['but for', 1],
    ])
  })
})

function most(room: string): number | undefined {
  return (ceilings as Readonly<Record<string, number>>)[room]
}
