import { it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { rowsOf } from '../../support/tables.js'

const scene = useAnalyticsScene()

const ORDER = 'order by container_id, seen_at, kind, subject'
const shows = (table: string, asOf = '2026-03-20T00:00:00Z') =>
  scene.expectRows('evidence', { asOf, rest: ORDER }, table)

it('joins versions of one availability, and parts them at a change or a gap', async () => {
  await scene.insert('containers', [{ container_id: 'c1', number: 'A' }])
  // Tombstoned for a day.
  const versions = `
    valid_from        | valid_to          | availability_known | available_for_pickup | source  | seal_number
    2026-03-01T00:00Z | 2026-03-02T00:00Z |                    |                      |         |
    2026-03-02T00:00Z | 2026-03-03T00:00Z | false              | true                 |         |
    2026-03-03T00:00Z | 2026-03-04T00:00Z | true               | true                 | webhook |
    2026-03-04T00:00Z | 2026-03-04T18:00Z | true               | true                 |         | S
    2026-03-04T18:00Z | 2026-03-05T00:00Z | true               | true                 |         | T
    2026-03-06T00:00Z | 2026-03-07T00:00Z | true               | true                 |         |
    2026-03-07T00:00Z |                   | true               | false                |         |`
  const box = { container_id: 'c1', number: 'A', pod_timezone: 'America/Los_Angeles' }
  await scene.insert('container_history', versions, box)
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
  await scene.insertKnown('containers', [{ container_id: 'c1', number: 'A' }])
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
    return scene.expectRows('evidence', { asOf, rest }, table)
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
