import { it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'

const scene = useAnalyticsScene()

const ORDER = 'order by container_id, coalesce(occurred_at, learned_at), learned_at, kind, subject'
const ZONE = 'America/Los_Angeles'
const NOW = '2026-03-10T00:00Z'
const at = (day: number, hour = '18:00'): string =>
  `2026-03-${String(day).padStart(2, '0')}T${hour}Z`

/** An interval or version from 18:00 UTC of one day of March to another. */
function from(day: number, to: number | null, more: object) {
  const valid_to = to === null ? null : at(to)
  return { container_id: 'c1', valid_from: at(day), valid_to, ...more }
}

async function insertStory(zone: string | null): Promise<void> {
  const box = { number: 'MSKU1234565', shipment_id: 's1', pod_timezone: zone }
  await scene.insert('containers', [{ container_id: 'c1', ...box, current_status: 'available' }])
  await scene.insert('shipments', [{ shipment_id: 's1', port_of_discharge_locode: 'USLAX' }])
  await scene.insert('container_history', [
    from(6, 7, { ...box, current_status: 'on_ship' }),
    from(7, 8, { ...box, current_status: 'available', source: 'webhook' }),
    // Something else changed: no row of its own, but it says who told us what went away at that
    // time.
    from(8, null, { ...box, current_status: 'available', seal_number: '1' }),
  ])
}

const shows = (table: string, asOf = NOW, where = '') =>
  scene.expectRows('timeline', { asOf, rest: `${where} ${ORDER}` }, table)

it(
  'tells the whole story in order, with source, when we learned it and how long it held',
  { tags: ['FE5'] },
  async () => {
    await insertStory(ZONE)
    const customs = { hold_key: 'h1', name: 'customs', description: '1H' }
    const usda = { name: 'usda', status: 'hold' }
    await scene.insert('container_hold_history', [
      from(6, 7, { ...customs, status: 'pending' }),
      from(7, 8, { ...customs, status: 'hold', source: 'webhook' }),
      // Placed again: the time in between is nobody's.
      from(9, null, { ...customs, status: 'hold' }),
      // Its text is edited: neither cleared nor placed.
      from(6, 7, { ...usda, hold_key: 'u1', description: 'EXAM' }),
      from(7, 8, { ...usda, hold_key: 'u2', description: 'EXAM SITE' }),
    ])
    const fee = { fee_key: 'f1', type: 'demurrage', currency_code: 'USD' }
    await scene.insert('container_fee_history', [
      from(7, 8, { ...fee, amount: '100.50' }),
      from(8, 9, { ...fee, amount: '201' }),
      // Removed ten days later: not yet.
      from(6, 20, { ...fee, fee_key: 'f2', type: 'exam', amount: '5' }),
    ])
    const day = { kind: 'pickup_lfd', time_zone: ZONE }
    await scene.insert('container_import_deadline_history', [
      from(7, 8, { ...day, local_date: '2026-03-10' }),
      from(8, 9, { ...day, local_date: '2026-03-12' }),
    ])
    const etas = `
      shipment_id | valid_from        | valid_to          | pod_eta_at
      s1          | 2026-03-05T18:00Z | 2026-03-06T18:00Z | 2026-03-06T12:00Z
      s1          | 2026-03-06T18:00Z | -                 | 2026-03-07T00:00Z`
    await scene.insert('shipment_history', etas)
    await scene.insert('container_changes', [
      {
        ...{ container_id: 'c1', change_id: 'x1', attribute: 'pickup_lfd', timezone: ZONE },
        ...{ old_value: '2026-03-10', new_value: '2026-03-12', data_source: 'terminal' },
        ...{ changed_at: '2026-03-08T17:00Z', _observed_at: '2026-03-08T17:01Z' },
        _notification_id: 'n1',
      },
    ])
    await scene.insertEvents(
      `event                    | timestamp         | timezone | created_at        | voyage_number | location_locode | _deleted_at       | _first_seen_at
       vessel_arrived           | 2026-03-07T06:00Z | ${ZONE}  | 2026-03-07T07:00Z | 012E          | USLAX           |                   |
       -- No zone: wall time as sent. No time: listed at the time at which we learned of it.
       vessel_berthed           | 2026-03-07T08:00Z |          |                   |               |                 |                   |
       vessel_discharged        |                   |          |                   |               |                 |                   |
       -- Not here: a forecast, one withdrawn, one learned later.
       estimated.vessel_arrived | 2026-03-07T08:00Z |          |                   |               |                 |                   |
       full_out                 | 2026-03-07T08:00Z |          |                   |               |                 | 2026-03-08T00:00Z |
       full_out                 | 2026-03-08T08:00Z |          |                   |               |                 |                   | 2026-03-20T18:00Z`,
      { data_source: 'ais', _first_seen_at: '2026-03-07T18:00Z' },
    )
    const first = (...hours: readonly string[]) => `
    topic           | kind                    | subject                               | from_value           | to_value             | detail      | source   | hours
    -- 12 hours of slip.
    ETA             | ETA moved               | pod_eta_at                            | 2026-03-06T12:00:00Z | 2026-03-07T00:00:00Z | 12.00 hours | sync     | -
    fee             | fee listed              | exam                                  | -                    | 5                    | USD         | sync     | ${hours[0]!}
    status          | first seen              | current_status                        | -                    | on_ship              | -           | sync     | ${hours[1]!}
    hold            | hold placed             | customs                               | -                    | pending              | 1H          | sync     | ${hours[1]!}
    hold            | hold placed             | usda                                  | -                    | hold                 | EXAM        | sync     | ${hours[1]!}`
    // A value held to the next, or to the instant. Something else that changed does not end a status.
    await shows(`${first('78.00', '24.00')}
    transport event | transport event         | container.transport.vessel_arrived    | -                    | -                    | 012E        | ais      | -
    transport event | transport event         | container.transport.vessel_berthed    | -                    | -                    | -           | ais      | -
    fee             | fee listed              | demurrage                             | -                    | 100.50               | USD         | sync     | 24.00
    hold            | hold changed            | customs                               | pending              | hold                 | 1H          | webhook  | 24.00
    hold            | hold changed            | usda                                  | hold                 | hold                 | EXAM SITE   | sync     | 24.00
    last free day   | last free day set       | pickup_lfd                            | -                    | 2026-03-10           | ${ZONE}     | sync     | 24.00
    status          | status                  | current_status                        | on_ship              | available            | -           | webhook  | 54.00
    transport event | transport event         | container.transport.vessel_discharged | -                    | -                    | -           | ais      | -
    attribute       | attribute changed       | pickup_lfd                            | 2026-03-10           | 2026-03-12           | -           | terminal | -
    fee             | fee changed             | demurrage                             | 100.50               | 201                  | USD         | sync     | 24.00
    hold            | hold cleared            | customs                               | hold                 | -                    | 1H          | sync     | -
    hold            | hold cleared            | usda                                  | hold                 | -                    | EXAM SITE   | sync     | -
    last free day   | last free day moved     | pickup_lfd                            | 2026-03-10           | 2026-03-12           | ${ZONE}     | sync     | 24.00
    fee             | fee removed             | demurrage                             | 201                  | -                    | USD         | -        | -
    hold            | hold placed             | customs                               | -                    | hold                 | 1H          | sync     | 6.00
    last free day   | last free day withdrawn | pickup_lfd                            | 2026-03-12           | -                    | ${ZONE}     | -        | -`)
    // Nothing that came later is known before.
    await shows(first('2.00', '2.00'), '2026-03-06T20:00Z')
    // Changes happened when we saw them: 10:00 in Los Angeles is 18:00 UTC, 17:00 from the 8th.
    await shows(
      `
    subject                               | is_first_sight | occurred_at            | learned_at             | occurred_local
    exam                                  | true           | 2026-03-06 18:00:00+00 | 2026-03-06 18:00:00+00 | 2026-03-06 10:00:00
    current_status                        | true           | 2026-03-06 18:00:00+00 | 2026-03-06 18:00:00+00 | 2026-03-06 10:00:00
    customs                               | true           | 2026-03-06 18:00:00+00 | 2026-03-06 18:00:00+00 | 2026-03-06 10:00:00
    usda                                  | true           | 2026-03-06 18:00:00+00 | 2026-03-06 18:00:00+00 | 2026-03-06 10:00:00
    container.transport.vessel_arrived    | false          | 2026-03-07 06:00:00+00 | 2026-03-07 18:00:00+00 | 2026-03-06 22:00:00
    container.transport.vessel_berthed    | false          | 2026-03-07 08:00:00+00 | 2026-03-07 18:00:00+00 | 2026-03-07 08:00:00
    container.transport.vessel_discharged | false          | -                      | 2026-03-07 18:00:00+00 | -
    pickup_lfd                            | false          | 2026-03-08 17:00:00+00 | 2026-03-08 17:01:00+00 | 2026-03-08 10:00:00`,
      NOW,
      'where is_first_sight or occurred_at is distinct from learned_at',
    )
    await shows(
      `
    container_id | shipment_id | location_locode | is_zone_known | recorded_at
    c1           | s1          | USLAX           | true          | 2026-03-07 07:00:00+00`,
      NOW,
      `where subject = 'container.transport.vessel_arrived' and container_number = 'MSKU1234565'`,
    )
  },
)

it('gives a status the hours that it held, also over a gap', { tags: ['FE5'] }, async () => {
  await scene.insert('containers', [{ container_id: 'c1', current_status: 'available' }])
  await scene.insert('container_history', [
    from(1, 2, { current_status: 'on_ship' }),
    from(2, 3, { current_status: null }),
    from(3, 4, { current_status: 'available' }),
    // Gone at the source for two days.
    from(6, 7, { current_status: 'available' }),
    from(7, 8, { current_status: 'on_ship' }),
    from(8, null, { current_status: 'available' }),
  ])
  await shows(
    `
    to_value  | hours
    on_ship   | 24.00
    -         | 24.00
    available | 24.00
    available | 24.00
    on_ship   | 24.00
    available | 30.00`,
    NOW,
    `where topic = 'status'`,
  )
  const sums = 'status | hours\navailable | 78.00\non_ship | 48.00\n- | 24.00'
  await scene.expectRows('status_durations', { asOf: NOW, rest: 'order by status' }, sums)
})

it('shows a milestone that was corrected or taken back', { tags: ['FE5'] }, async () => {
  const box = { number: 'MSKU1234565', pod_timezone: ZONE }
  await scene.insert('containers', [{ container_id: 'c1', ...box }])
  await scene.insert('container_history', [
    // The plan moves; only milestones are corrected.
    from(4, 5, { ...box, pickup_appointment_at: '2026-03-09T18:00Z' }),
    from(5, 6, { ...box, pickup_appointment_at: '2026-03-10T18:00Z' }),
    // Neither the first report nor a new one after it was taken back counts.
    from(6, 7, { ...box, pod_discharged_at: '2026-03-05T18:00Z' }),
    from(7, 8, {
      ...box,
      pod_discharged_at: '2026-03-05T20:30Z',
      pod_full_out_at: '2026-03-06T18:00Z',
      source: 'webhook',
    }),
    from(8, 9, { ...box, pod_full_out_at: '2026-03-06T17:00Z' }),
    from(9, null, {
      ...box,
      pod_discharged_at: '2026-03-05T19:00Z',
      pod_full_out_at: '2026-03-06T17:00Z',
    }),
  ])
  const where = `where topic = 'correction'`
  const corrections = `
    kind                 | subject            | from_value           | to_value             | detail      | source  | occurred_local
    milestone moved      | discharge          | 2026-03-05T18:00:00Z | 2026-03-05T20:30:00Z | 2.50 hours  | webhook | 2026-03-07 10:00:00
    milestone moved      | pickup at the port | 2026-03-06T18:00:00Z | 2026-03-06T17:00:00Z | -1.00 hours | sync    | 2026-03-08 11:00:00
    milestone taken back | discharge          | 2026-03-05T20:30:00Z | -                    | -           | sync    | 2026-03-08 11:00:00`
  await shows(corrections, NOW, where)
  // Not known before.
  await shows('kind', '2026-03-07T12:00Z', where)
})

it('has no local time for what we saw where the zone is missing or is none', async () => {
  for (const zone of [null, 'Mars/Olympus']) {
    await scene.clear()
    await insertStory(zone)
    const table = 'kind | is_zone_known | occurred_local\nfirst seen | false | -'
    await shows(table, '2026-03-06T20:00Z')
  }
})

it('shows a last free day without a zone as its table', { tags: ['JA8', 'JA13'] }, async () => {
  await scene.insert('containers', [{ container_id: 'c1' }])
  await scene.insert('container_history', [from(1, null, { container_id: 'c1' })])
  const of = { container_id: 'c1', kind: 'pickup_lfd_line', place: 'port', time_zone: null }
  const days = `
    valid_from | valid_to | local_date | deadline_at
    ${at(2)}   | ${at(3)} | 2026-03-10 | 2026-03-10T06:30:00Z
    ${at(3)}   | ${at(4)} | 2026-03-11 | 2026-03-11T06:30:00Z
    -- Its zone is unknown, and then it is said.
    ${at(5)}   | ${at(6)} | -          | 2026-03-10T06:30:00Z
    ${at(6)}   | -        | 2026-03-09 | 2026-03-10T06:30:00Z`
  await scene.insert('container_import_deadline_history', days, of)
  await shows(
    `
    kind                       | from_value           | to_value
    last free day set          | -                    | 2026-03-10
    last free day moved        | 2026-03-10           | 2026-03-11
    last free day withdrawn    | 2026-03-11           | -
    last free day set          | -                    | 2026-03-10T06:30:00Z
    last free day zone changed | 2026-03-10T06:30:00Z | 2026-03-09`,
    '',
    `where topic = 'last free day'`,
  )
  // Neither better nor worse: the instant is the same.
  const ofDays = { rest: `where change = 'last free day' order by learned_at` }
  const changes = `
    effect | shift_days | to_value
    -      | -          | 2026-03-10
    better | 1          | 2026-03-11
    -      | -          | -
    -      | -          | 2026-03-10T06:30:00Z
    -      | -          | 2026-03-09`
  await scene.expectRows('changes', ofDays, changes)
})
