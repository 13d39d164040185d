import { describe, expect, test } from 'vitest'
import { container, flatten, type NamedRow } from './flat-rows.js'

const EARLY = '2026-03-10T07:00:00Z'
const LATE = '2026-03-12T07:00:00Z'

const read = (deadlines: unknown): NamedRow => flatten(container({ import_deadlines: deadlines }))

const sourcesOf = ({ columns }: NamedRow): unknown =>
  JSON.parse(columns.import_deadline_sources ?? 'null')

describe('import_deadlines', { tags: ['K4'] }, () => {
  test.each([
    ['the latest word', { original: EARLY, current: LATE, calculated: EARLY }, LATE],
    ['the calculated day where none is reported', { original: null, calculated: EARLY }, EARLY],
    ['the first word where there is no other', { original: EARLY }, EARLY],
    ['a day named by the object itself', { value: EARLY, current: LATE }, EARLY],
    ['a day inside of a role', { current: { date: LATE, free_days: 4 } }, LATE],
    ['nothing where all of it is null', { original: null, current: null }, null],
  ])('an object in place of a date is read: %s', (_what, said, day) => {
    const row = read({ pickup_lfd_line: said })
    expect(row.columns.pickup_lfd_line).toBe(day)
    expect(row.coercions).toEqual({})
    expect(row.unmapped).toEqual({})
  })

  test('an object that names no day is told of, and kept', () => {
    const row = read({ pickup_lfd_line: { free_days: 4 } })
    expect(row.columns.pickup_lfd_line).toBeNull()
    expect(row.coercions).toEqual({
      pickup_lfd_line: { reason: 'not an RFC 3339 date-time', original: '{"free_days":4}' },
    })
  })

  test('sources by place and their roles become kinds, with what was sent beside the day', () => {
    const row = read({
      ind: { line: { current: LATE, start_event: 'rail_unloaded' }, reported_at: EARLY },
      unified: { value: EARLY, source: 'terminal' },
    })
    expect(sourcesOf(row)).toEqual({
      'ind.line.current': { at: LATE, place: 'ramp' },
      'ind.line': { place: 'ramp', details: { start_event: 'rail_unloaded' } },
      ind: { place: 'ramp', details: { reported_at: EARLY } },
      unified: { at: EARLY, place: 'port', details: { source: 'terminal' } },
    })
    expect([...row.flat.unknownMembers].sort()).toEqual([
      'import_deadlines.ind',
      'import_deadlines.ind.reported_at',
    ])
  })
})
