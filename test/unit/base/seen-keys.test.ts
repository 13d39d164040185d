import { expect, test } from 'vitest'
import { SeenKeys } from '../../../src/base/seen-keys.js'

test('every key is known once it was added, and not before: a character tells two apart', () => {
  const hex = (at: number): string => at.toString(16).padStart(12, '0')
  const keys = [
    // Made one after the other, as those of version 7 are: the last, then the first characters.
    ...Array.from({ length: 100_000 }, (_, at) => `019339a0-7b3c-7000-8000-${hex(at)}`),
    ...Array.from({ length: 100_000 }, (_, at) => `${hex(at)}-7b3c-7000-8000-019339a07b3c`),
    ...Array.from({ length: 50_000 }, (_, at) => `${at}`),
    ...Array.from({ length: 10_000 }, (_, at) => 'x'.repeat(at + 10)),
    ...Array.from({ length: 60_000 }, (_, at) => String.fromCharCode(at + 1_000)),
  ]
  const seen = new SeenKeys()
  expect(keys.filter((key) => seen.has(key) || !seen.add(key))).toEqual([])
  expect(keys.filter((key) => !seen.has(key) || seen.add(key))).toEqual([])
})
