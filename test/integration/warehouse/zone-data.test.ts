import { expect, test } from 'vitest'
import { describeZoneData, type KnownInstant } from '../../../src/extensions/doctor/zone-data.js'
import { useTestWarehouse } from '../../support/reused-warehouse.js'

const opened = useTestWarehouse()

test('where zone data come from is told, and what they lack', { tags: ['FA5'] }, async () => {
  const { warehouse } = opened
  // Of Node's own data, or of PostgreSQL's, either may be the older.
  expect(await describeZoneData(warehouse)).toMatch(
    /^time zone data .*PostgreSQL \d+(\.\d+)?\b.*; /,
  )
  const right: KnownInstant = {
    zone: 'America/Los_Angeles',
    instant: '2026-07-01T12:00:00Z',
    offset: -7 * 60,
    change: 'California has summer time',
  }
  expect(await describeZoneData(warehouse, [right])).toMatch(
    /; they know that California has summer time$/,
  )
  const wrong = { ...right, offset: -8 * 60, change: 'California has none' }
  const warned = await describeZoneData(warehouse, [right, wrong])
  expect(warned).toMatch(
    /warning: .* wrong at America\/Los_Angeles \(California has none\)\. Update/,
  )
  expect(warned).not.toContain('summer time')
})
