import { expect, it } from 'vitest'
import { OF_NOBODY, useAnalyticsScene } from '../../support/analytics-scene.js'

const scene = useAnalyticsScene()

const ORDER = 'order by container_id, coalesce(occurred_at, learned_at), learned_at, kind, subject'
const DAY = (day: number): string => `2026-03-${String(day).padStart(2, '0')}`
const SHOWN = [
  'topic',
  'kind',
  'subject',
  'from_value',
  'to_value',
  'detail',
  'source',
  'is_first_sight',
  'occurred_at',
  'learned_at',
  'occurred_local',
]

/** An interval or version from one day of March to another. */
function from(
  day: number,
  to: number | null,
  more: Record<string, unknown>,
): Record<string, unknown> {
  return {
    container_id: 'c1',
    valid_from: `${DAY(day)}T18:00Z`,
    valid_to: to === null ? null : `${DAY(to)}T18:00Z`,
    ...more,
  }
}

function topicOf(kind: string): string | undefined {
  if (kind === 'first seen') return 'status'
  if (kind.startsWith('milestone')) return 'correction'
  return /^(status|hold|fee|last free day|ETA|attribute)/.exec(kind)?.[0]
}

/** Seen at 18:00 UTC of a day of March: 10:00 in Los Angeles, and 11:00 from the 8th on. */
function seen(day: number, kind: string, values: Record<string, unknown>): Record<string, unknown> {
  return {
    topic: topicOf(kind),
    kind,
    from_value: null,
    to_value: null,
    detail: null,
    source: 'sync',
    is_first_sight: false,
    occurred_at: `${DAY(day)} 18:00:00+00`,
    learned_at: `${DAY(day)} 18:00:00+00`,
    occurred_local: `${DAY(day)} ${day < 8 ? '10' : '11'}:00:00`,
    ...values,
  }
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

it('tells the whole story in order, with source and when we learned it', async () => {
  await insertStory('America/Los_Angeles')
  const customs = { hold_key: 'h1', name: 'customs', description: '1H' }
  await scene.insert('container_hold_history', [
    from(6, 7, { ...customs, status: 'pending' }),
    from(7, 8, { ...customs, status: 'hold', source: 'webhook' }),
  ])
  const demurrage = { fee_key: 'f1', type: 'demurrage', currency_code: 'USD' }
  await scene.insert('container_fee_history', [
    from(7, 8, { ...demurrage, amount: '100.50' }),
    from(8, null, { ...demurrage, amount: '201' }),
  ])
  const lastFreeDay = { kind: 'pickup_lfd', time_zone: 'America/Los_Angeles' }
  await scene.insert('container_import_deadline_history', [
    from(7, 8, { ...lastFreeDay, local_date: '2026-03-10' }),
    from(8, null, { ...lastFreeDay, local_date: '2026-03-12' }),
  ])
  await scene.insert('shipment_history', [
    {
      shipment_id: 's1',
      valid_from: '2026-03-05T18:00Z',
      valid_to: '2026-03-06T18:00Z',
      pod_eta_at: '2026-03-06T12:00Z',
    },
    { shipment_id: 's1', valid_from: '2026-03-06T18:00Z', pod_eta_at: '2026-03-07T00:00Z' },
  ])
  await scene.insert('container_changes', [
    {
      container_id: 'c1',
      change_id: 'x1',
      attribute: 'pickup_lfd',
      changed_at: '2026-03-08T17:00Z',
      old_value: '"2026-03-10"',
      new_value: '"2026-03-12"',
      data_source: 'terminal',
      timezone: 'America/Los_Angeles',
      _observed_at: '2026-03-08T17:01Z',
      _notification_id: 'n1',
    },
  ])
  const happened = {
    container_id: 'c1',
    is_estimated: false,
    data_source: 'ais',
    _first_seen_at: '2026-03-07T18:00Z',
  }
  await scene.insert('transport_events', [
    {
      ...happened,
      transport_event_id: 'e1',
      event: 'container.transport.vessel_arrived',
      timestamp: '2026-03-07T06:00Z',
      timezone: 'America/Los_Angeles',
      created_at: '2026-03-07T07:00Z',
      voyage_number: '012E',
      location_locode: 'USLAX',
    },
    // No zone: wall time as sent. No time: listed at the time at which we learned of it.
    {
      ...happened,
      transport_event_id: 'e2',
      event: 'container.transport.vessel_berthed',
      timestamp: '2026-03-07T08:00Z',
    },
    { ...happened, transport_event_id: 'e3', event: 'container.transport.vessel_discharged' },
    // Not here: a forecast, one withdrawn, one learned later.
    {
      ...happened,
      transport_event_id: 'e4',
      event: 'container.transport.estimated.vessel_arrived',
      timestamp: '2026-03-07T08:00Z',
      is_estimated: true,
    },
    {
      ...happened,
      transport_event_id: 'e5',
      event: 'container.transport.full_out',
      timestamp: '2026-03-07T08:00Z',
      _deleted_at: '2026-03-08T00:00Z',
    },
    {
      ...happened,
      transport_event_id: 'e6',
      event: 'container.transport.full_out',
      timestamp: '2026-03-08T08:00Z',
      _first_seen_at: '2026-03-20T18:00Z',
    },
  ])
  const event = {
    from_value: null,
    to_value: null,
    detail: null,
    source: 'ais',
    is_first_sight: false,
    learned_at: '2026-03-07 18:00:00+00',
  }
  const zone = 'America/Los_Angeles'
  const story = [
    // 12 hours of slip.
    seen(6, 'ETA moved', {
      subject: 'pod_eta_at',
      from_value: '2026-03-06T12:00:00Z',
      to_value: '2026-03-07T00:00:00Z',
      detail: '12.00 hours',
    }),
    seen(6, 'first seen', { subject: 'current_status', to_value: 'on_ship', is_first_sight: true }),
    seen(6, 'hold placed', {
      subject: 'customs',
      to_value: 'pending',
      detail: '1H',
      is_first_sight: true,
    }),
    {
      ...event,
      topic: 'transport event',
      kind: 'transport event',
      subject: 'container.transport.vessel_arrived',
      detail: '012E',
      occurred_at: '2026-03-07 06:00:00+00',
      occurred_local: '2026-03-06 22:00:00',
    },
    {
      ...event,
      topic: 'transport event',
      kind: 'transport event',
      subject: 'container.transport.vessel_berthed',
      occurred_at: '2026-03-07 08:00:00+00',
      occurred_local: '2026-03-07 08:00:00',
    },
    seen(7, 'fee listed', { subject: 'demurrage', to_value: '100.50', detail: 'USD' }),
    seen(7, 'hold changed', {
      subject: 'customs',
      from_value: 'pending',
      to_value: 'hold',
      detail: '1H',
      source: 'webhook',
    }),
    seen(7, 'last free day set', { subject: 'pickup_lfd', to_value: '2026-03-10', detail: zone }),
    seen(7, 'status', {
      subject: 'current_status',
      from_value: 'on_ship',
      to_value: 'available',
      source: 'webhook',
    }),
    {
      ...event,
      topic: 'transport event',
      kind: 'transport event',
      subject: 'container.transport.vessel_discharged',
      occurred_at: null,
      occurred_local: null,
    },
    {
      ...seen(8, 'attribute changed', {
        subject: 'pickup_lfd',
        from_value: '2026-03-10',
        to_value: '2026-03-12',
        source: 'terminal',
      }),
      occurred_at: '2026-03-08 17:00:00+00',
      learned_at: '2026-03-08 17:01:00+00',
      occurred_local: '2026-03-08 10:00:00',
    },
    seen(8, 'fee changed', {
      subject: 'demurrage',
      from_value: '100.50',
      to_value: '201',
      detail: 'USD',
    }),
    seen(8, 'hold cleared', { subject: 'customs', from_value: 'hold', detail: '1H' }),
    seen(8, 'last free day moved', {
      subject: 'pickup_lfd',
      from_value: '2026-03-10',
      to_value: '2026-03-12',
      detail: zone,
    }),
  ]
  expect(
    await scene.read('timeline', {
      asOf: '2026-03-10T00:00Z',
      rest: ORDER,
      columns: SHOWN,
    }),
  ).toEqual(story)
  // Nothing that came later is known before.
  expect(
    await scene.read('timeline', {
      asOf: '2026-03-06T20:00Z',
      rest: ORDER,
      columns: SHOWN,
    }),
  ).toEqual(story.slice(0, 3))
  // One full row: the place, when the service recorded it, and whose it is.
  expect(
    await scene.read('timeline', {
      asOf: '2026-03-10T00:00Z',
      rest: `where subject = 'container.transport.vessel_arrived' and container_number = 'MSKU1234565'`,
    }),
  ).toEqual([
    {
      ...story[3],
      ...OF_NOBODY,
      container_id: 'c1',
      shipment_id: 's1',
      container_number: 'MSKU1234565',
      location_locode: 'USLAX',
      hours: null,
      is_zone_known: true,
      recorded_at: '2026-03-07 07:00:00+00',
    },
  ])
})

it('says how long a value held, to the next or to the instant', { tags: ['FE5'] }, async () => {
  await insertStory('America/Los_Angeles')
  await scene.insert('container_hold_history', [
    from(6, 7, { hold_key: 'h1', name: 'customs', status: 'pending' }),
    from(7, 8, { hold_key: 'h1', name: 'customs', status: 'hold' }),
    // Placed again: the time in between is nobody's.
    from(9, null, { hold_key: 'h1', name: 'customs', status: 'hold' }),
  ])
  const demurrage = { fee_key: 'f1', type: 'demurrage', currency_code: 'USD' }
  await scene.insert('container_fee_history', [
    from(6, 7, { ...demurrage, amount: '100' }),
    from(7, 8, { ...demurrage, amount: '200' }),
    from(6, 20, { fee_key: 'f2', type: 'exam', currency_code: 'USD', amount: '5' }),
  ])
  const lastFreeDay = { kind: 'pickup_lfd', time_zone: 'America/Los_Angeles' }
  await scene.insert('container_import_deadline_history', [
    from(6, 8, { ...lastFreeDay, local_date: '2026-03-10' }),
    from(8, 9, { ...lastFreeDay, local_date: '2026-03-12' }),
  ])
  await scene.insert('shipment_history', [
    { shipment_id: 's1', valid_from: '2026-03-05T18:00Z', pod_eta_at: '2026-03-06T12:00Z' },
  ])
  const read = async (asOf: string) => {
    const rows = await scene.read('timeline', {
      asOf,
      columns: ['learned_at', 'kind', 'subject', 'is_first_sight', 'hours'],
      rest: ORDER,
    })
    return rows.map((row) =>
      Object.values({ ...row, learned_at: String(row.learned_at).slice(8, 10) }),
    )
  }
  expect(await read('2026-03-10T00:00Z')).toEqual([
    ['06', 'fee listed', 'demurrage', true, '24.00'],
    // Removed ten days later: not yet.
    ['06', 'fee listed', 'exam', true, '78.00'],
    ['06', 'first seen', 'current_status', true, '24.00'],
    ['06', 'hold placed', 'customs', true, '24.00'],
    ['06', 'last free day set', 'pickup_lfd', true, '48.00'],
    ['07', 'fee changed', 'demurrage', false, '24.00'],
    ['07', 'hold changed', 'customs', false, '24.00'],
    // Something else that changed does not end a status.
    ['07', 'status', 'current_status', false, '54.00'],
    ['08', 'fee removed', 'demurrage', false, null],
    ['08', 'hold cleared', 'customs', false, null],
    ['08', 'last free day moved', 'pickup_lfd', false, '24.00'],
    ['09', 'hold placed', 'customs', false, '6.00'],
    ['09', 'last free day withdrawn', 'pickup_lfd', false, null],
  ])
  expect(await read('2026-03-07T00:00Z')).toEqual([
    ['06', 'fee listed', 'demurrage', true, '6.00'],
    ['06', 'fee listed', 'exam', true, '6.00'],
    ['06', 'first seen', 'current_status', true, '6.00'],
    ['06', 'hold placed', 'customs', true, '6.00'],
    ['06', 'last free day set', 'pickup_lfd', true, '6.00'],
  ])
})

it('counts hours of two holds and two fees of one name', { tags: ['FE5'] }, async () => {
  await insertStory('America/Los_Angeles')
  const customs = { name: 'customs', status: 'hold' }
  await scene.insert('container_hold_history', [
    from(6, 9, { ...customs, hold_key: 'h1', description: '1' }),
    from(6, 7, { ...customs, hold_key: 'h2', description: '2' }),
    from(8, null, { ...customs, hold_key: 'h3', description: '3', place: 'ramp' }),
    from(6, null, { ...customs, hold_key: 'h4', description: '4', name: 'freight' }),
  ])
  const exam = { type: 'exam', amount: '5' }
  await scene.insert('container_fee_history', [
    from(6, 8, { ...exam, fee_key: 'f1', currency_code: 'USD' }),
    from(7, 9, { ...exam, fee_key: 'f2', currency_code: 'CAD' }),
  ])
  const rows = await scene.read('timeline', {
    asOf: '2026-03-10T00:00Z',
    columns: ['kind', 'subject', 'detail', 'hours'],
    rest: `where topic in ('hold', 'fee') ${ORDER}, detail`,
  })
  expect(rows.map((row) => Object.values(row))).toEqual([
    ['fee listed', 'exam', 'USD', '48.00'],
    ['hold placed', 'customs', '1', '72.00'],
    ['hold placed', 'customs', '2', '24.00'],
    ['hold placed', 'freight', '4', '78.00'],
    ['fee listed', 'exam', 'CAD', '48.00'],
    ['hold cleared', 'customs', '2', null],
    ['fee removed', 'exam', 'USD', null],
    ['hold placed', 'customs', '3', '30.00'],
    ['fee removed', 'exam', 'CAD', null],
    ['hold cleared', 'customs', '1', null],
  ])
})

it('gives a status the hours of status_durations, also over a gap', { tags: ['FE5'] }, async () => {
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
  const asOf = '2026-03-10T00:00Z'
  const one = await scene.read('timeline', {
    asOf,
    columns: ['to_value', 'hours'],
    rest: `where topic = 'status'`,
  })
  const sums: Record<string, number> = {}
  for (const { to_value, hours } of one) {
    sums[String(to_value)] = (sums[String(to_value)] ?? 0) + Number(hours)
  }
  expect(sums).toEqual({ on_ship: 48, null: 24, available: 78 })
  const other = await scene.read('status_durations', { asOf, columns: ['status', 'hours'] })
  expect(Object.fromEntries(other.map((row) => [String(row.status), Number(row.hours)]))).toEqual(
    sums,
  )
})

it('shows a milestone that was corrected or taken back', { tags: ['FE5'] }, async () => {
  const box = { number: 'MSKU1234565', pod_timezone: 'America/Los_Angeles' }
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
  const asOf = '2026-03-10T00:00Z'
  expect(
    await scene.read('timeline', {
      asOf,
      columns: [...SHOWN, 'hours'],
      rest: `where topic = 'correction' ${ORDER}`,
    }),
  ).toEqual([
    {
      ...seen(7, 'milestone moved', {
        subject: 'discharge',
        from_value: '2026-03-05T18:00:00Z',
        to_value: '2026-03-05T20:30:00Z',
        detail: '2.50 hours',
        source: 'webhook',
      }),
      hours: null,
    },
    {
      ...seen(8, 'milestone moved', {
        subject: 'pickup at the port',
        from_value: '2026-03-06T18:00:00Z',
        to_value: '2026-03-06T17:00:00Z',
        detail: '-1.00 hours',
      }),
      hours: null,
    },
    {
      ...seen(8, 'milestone taken back', {
        subject: 'discharge',
        from_value: '2026-03-05T20:30:00Z',
      }),
      hours: null,
    },
  ])
  const corrections = await scene.read('date_corrections', {
    asOf,
    columns: ['milestone', 'kind', 'learned_at'],
    rest: 'order by learned_at, kind',
  })
  expect(corrections.map((row) => Object.values(row))).toEqual([
    ['discharge', 'moved', '2026-03-07 18:00:00+00'],
    ['pickup at the port', 'moved', '2026-03-08 18:00:00+00'],
    ['discharge', 'taken back', '2026-03-08 18:00:00+00'],
  ])
  // Not known before.
  expect(
    await scene.read('timeline', {
      asOf: '2026-03-07T12:00Z',
      columns: ['kind'],
      rest: `where topic = 'correction'`,
    }),
  ).toEqual([])
})

it('calls a hold whose text was edited changed, neither cleared nor placed', async () => {
  await insertStory('America/Los_Angeles')
  await scene.insert('container_hold_history', [
    from(6, 7, { hold_key: 'h1', name: 'customs', status: 'hold', description: 'EXAM' }),
    from(7, 8, { hold_key: 'h2', name: 'customs', status: 'hold', description: 'EXAM SITE' }),
  ])
  const rows = await scene.read('timeline', {
    rest: `where kind like 'hold%' order by learned_at`,
    columns: ['kind', 'detail'],
  })
  expect(rows).toEqual([
    { kind: 'hold placed', detail: 'EXAM' },
    { kind: 'hold changed', detail: 'EXAM SITE' },
    { kind: 'hold cleared', detail: 'EXAM SITE' },
  ])
})

it('has no local time for what we saw where the zone is missing or is none', async () => {
  for (const zone of [null, 'Mars/Olympus']) {
    await scene.clear()
    await insertStory(zone)
    expect(
      await scene.read('timeline', {
        asOf: '2026-03-06T20:00Z',
        columns: ['kind', 'is_zone_known', 'occurred_local'],
      }),
    ).toEqual([{ kind: 'first seen', is_zone_known: false, occurred_local: null }])
  }
})

it('leaves out containers that are gone at the source, and has no row for nothing', async () => {
  expect(await scene.read('timeline')).toEqual([])
  await insertStory('UTC')
  await scene.query(`update tracking.containers set _deleted_at = '2026-03-09T00:00Z'`)
  expect(await scene.read('timeline')).toEqual([])
})

it('shows a last free day without a zone as its table', { tags: ['JA8', 'JA13'] }, async () => {
  await scene.insert('containers', [{ container_id: 'c1' }])
  await scene.insert('container_history', [from(1, null, { container_id: 'c1' })])
  const deadline = (
    begin: number,
    end: number | null,
    local_date: string | null,
    deadline_at = '2026-03-10T06:30:00Z',
  ) =>
    from(begin, end, {
      container_id: 'c1',
      kind: 'pickup_lfd_line',
      place: 'port',
      deadline_at,
      local_date,
      time_zone: null,
    })
  await scene.insert('container_import_deadline_history', [
    deadline(2, 3, '2026-03-10'),
    deadline(3, 4, '2026-03-11', '2026-03-11T06:30:00Z'),
    // Its zone is unknown, and then it is said.
    deadline(5, 6, null),
    deadline(6, null, '2026-03-09'),
  ])
  const rows = await scene.read('timeline', {
    columns: ['kind', 'from_value', 'to_value'],
    rest: `where topic = 'last free day' ${ORDER}`,
  })
  expect(rows.map((row) => Object.values(row))).toEqual([
    ['last free day set', null, '2026-03-10'],
    ['last free day moved', '2026-03-10', '2026-03-11'],
    ['last free day withdrawn', '2026-03-11', null],
    ['last free day set', null, '2026-03-10T06:30:00Z'],
    ['last free day zone changed', '2026-03-10T06:30:00Z', '2026-03-09'],
  ])
  // Neither better nor worse: the instant is the same.
  const effects = await scene.read('changes', {
    columns: ['effect', 'shift_days', 'to_value'],
    rest: `where change = 'last free day' order by learned_at`,
  })
  expect(effects.map((row) => Object.values(row))).toEqual([
    [null, null, '2026-03-10'],
    ['better', 1, '2026-03-11'],
    [null, null, null],
    [null, null, '2026-03-10T06:30:00Z'],
    [null, null, '2026-03-09'],
  ])
})
