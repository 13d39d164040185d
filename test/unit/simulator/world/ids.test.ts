import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createIds, KINDS } from '../../../../src/extensions/simulator/world/ids.js'

const byte = fc.integer({ min: 0, max: 255 })

test('an id leads back to its record', () => {
  const ids = createIds(7)
  const serial = fc.integer({ min: 0, max: 0xffff_ffff })
  fc.assert(
    fc.property(fc.constantFrom(...KINDS), serial, byte, byte, byte, (kind, ...parts) => {
      const [number, ordinal, slot, revision] = parts
      const id = ids.encode(kind, number, ordinal, slot, revision)
      expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
      expect(ids.decode(id)).toEqual({ kind, serial: number, ordinal, slot, revision })
    }),
  )
})

test('an id of another seed, or an invented one, leads to nothing', () => {
  const id = createIds(1).encode('shipment', 5)
  expect(createIds(2).decode(id)).toBeUndefined()
  expect(createIds(1).decode('4932792a-0154-4f57-83eb-11d4418b6e05')).toBeUndefined()
  expect(createIds(1).decode(id.toUpperCase())).toBeUndefined()
  expect(createIds(1).decode('')).toBeUndefined()
})

test('ids of neighbours have nothing visible in common', () => {
  const ids = createIds(1)
  const starts = Array.from({ length: 1_000 }, (_, serial) =>
    ids.encode('shipment', serial).slice(0, 8),
  )
  expect(new Set(starts).size).toBe(1_000)
  expect(starts).not.toEqual(starts.toSorted())
})
