import { expect, test } from 'vitest'
import { mergeSightings } from '../../../src/ingest/merge-sightings.js'
import type { Sighting } from '../../../src/source/records/resource.js'
import { flatten, type JsonObject } from '../resources/flat-rows.js'

const port = (attributes: JsonObject, isComplete = false): Sighting =>
  flatten({ id: 'p1', type: 'port', attributes }, { isComplete }).flat

const valueOf = ({ resource, values }: Sighting, column: string) =>
  values[resource.columnIndex.get(column) ?? -1]

test('what the better one lacks comes from the other; null is said', { tags: ['JC4'] }, () => {
  const thin = port({ name: 'Oslo', code: null, extra: 1 })
  const rich = port(
    { name: 'Kristiania', code: 'NOOSL', city: 'Oslo', latitude: 'x', more: 2 },
    true,
  )
  for (const [other, better, name, code] of [
    [rich, thin, 'Oslo', null],
    [thin, rich, 'Kristiania', 'NOOSL'],
  ] as const) {
    const merged = mergeSightings(other, better)
    expect(valueOf(merged, 'name')).toBe(name)
    expect(valueOf(merged, 'code')).toBe(code)
    expect(valueOf(merged, 'city')).toBe('Oslo')
    expect(valueOf(merged, 'country_code')).toBeUndefined()
    expect(merged.unmapped).toBe('{"extra":1,"more":2}')
    expect(merged.coercions).toContain('latitude')
    expect(merged).toMatchObject({ isComplete: true, digest: null })
    // In either order of the two the same bytes make the same row again.
    expect(mergeSightings(other, better).fingerprint).toBe(merged.fingerprint)
  }
})

test('one that adds nothing leaves the better one as it is', { tags: ['JC4'] }, () => {
  const rich = port({ name: 'Oslo', code: null, more: 2 }, true)
  expect(mergeSightings(port({ name: 'Kristiania', code: 'NOOSL' }), rich)).toBe(rich)
})
