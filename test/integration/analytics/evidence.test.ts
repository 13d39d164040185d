import { it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'
import { expectRows, rowsOf } from '../../support/tables.js'

const scene = useAnalyticsScene()

const ORDER = 'order by container_id, seen_at, kind, subject'
const shows = (table: string, asOf = '2026-03-20T00:00:00Z') =>
  expectRows(scene, 'evidence', { asOf, rest: ORDER }, table)

const version = (valid_from: string, valid_to: string | null, more: object = {}) => ({
  container_id: 'c1',
  number: 'MSKU0000001',
  shipment_id: 's1',
  pod_terminal_id: 't1',
  pod_timezone: 'America/Los_Angeles',
  valid_from,
  valid_to,
  ...more,
})

const known = { availability_known: true }

it('joins versions of one availability, and parts them at a change or a gap', async () => {
  await scene.insert('containers', [{ container_id: 'c1', number: 'A' }])
  const available = { ...known, available_for_pickup: true }
  await scene.insert('container_history', [
    version('2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z'),
    version('2026-03-02T00:00:00Z', '2026-03-03T00:00:00Z', {
      availability_known: false,
      available_for_pickup: true,
    }),
    version('2026-03-03T00:00:00Z', '2026-03-04T00:00:00Z', { ...available, source: 'webhook' }),
    version('2026-03-04T00:00:00Z', '2026-03-04T18:00:00Z', { ...available, seal_number: 'S' }),
    version('2026-03-04T18:00:00Z', '2026-03-05T00:00:00Z', { ...available, seal_number: 'T' }),
    // Tombstoned for a day.
    version('2026-03-06T00:00:00Z', '2026-03-07T00:00:00Z', available),
    version('2026-03-07T00:00:00Z', null, { ...known, available_for_pickup: false }),
  ])
  const first = `
    value         | source  | is_open | seen_at                | gone_at
    not known     | sync    | false   | 2026-03-01 00:00:00+00 | 2026-03-03 00:00:00+00`
  await shows(`${first}
    available     | webhook | false   | 2026-03-03 00:00:00+00 | 2026-03-05 00:00:00+00
    available     | sync    | false   | 2026-03-06 00:00:00+00 | 2026-03-07 00:00:00+00
    not available | sync    | true    | 2026-03-07 00:00:00+00 | -`)
  const then = `${first}
    available     | webhook | true    | 2026-03-03 00:00:00+00 | -`
  await shows(then, '2026-03-04T12:00:00Z')
})

it('shows an edited hold once, with its last text', { tags: ['FE5'] }, async () => {
  await insertKnown(scene, 'containers', [{ container_id: 'c1', number: 'A' }])
  // The text is part of the key.
  const holds = `
    description | status  | valid_from        | valid_to
    EXAM        |         | 2026-03-08T00:00Z | 2026-03-09T00:00Z
    EXAM at 7   |         | 2026-03-09T00:00Z | 2026-03-10T00:00Z
    EXAM over   |         | 2026-03-10T00:00Z | 2026-03-11T00:00Z
    -- Two more of the name: one of them is edited when the other goes.
    one         |         | 2026-03-01T00:00Z | 2026-03-02T00:00Z
    two         |         | 2026-03-01T00:00Z | 2026-03-02T00:00Z
    two, edited |         | 2026-03-02T00:00Z | 2026-03-03T00:00Z
    -- Announced again, and placed once more after hours without it.
    soon        | pending | 2026-03-11T00:00Z | 2026-03-11T06:00Z
    EXAM        |         | 2026-03-11T12:00Z | -`
  const customs = { container_id: 'c1', name: 'customs', status: 'hold' }
  await scene.insert(
    'container_hold_history',
    rowsOf(holds, customs).map((hold) => ({ ...hold, hold_key: hold.description })),
  )
  const showsHolds = (asOf: string, table: string) => {
    const rest = `where kind = 'hold' order by seen_at, value`
    return expectRows(scene, 'evidence', { asOf, rest }, table)
  }
  const earlier = `
    value             | is_open | seen_at                | gone_at
    hold: two         | false   | 2026-03-01 00:00:00+00 | 2026-03-02 00:00:00+00
    hold: two, edited | false   | 2026-03-01 00:00:00+00 | 2026-03-03 00:00:00+00`
  const first = 'hold: EXAM at 7 | true | 2026-03-08 00:00:00+00 | -'
  await showsHolds('2026-03-09T12:00:00Z', `${earlier}\n${first}`)
  await showsHolds(
    '2026-03-12T00:00:00Z',
    `${earlier}
    hold: EXAM over   | false   | 2026-03-08 00:00:00+00 | 2026-03-11 00:00:00+00
    pending: soon     | false   | 2026-03-11 00:00:00+00 | 2026-03-11 06:00:00+00
    hold: EXAM        | true    | 2026-03-11 12:00:00+00 | -`,
  )
})
