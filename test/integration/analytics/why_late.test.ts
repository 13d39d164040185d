import { expect, it } from 'vitest'
import { useAnalyticsScene, type Version } from '../../support/analytics-scene.js'
import { insertRule, lastFreeDay } from '../../support/scenes/charges.js'

const scene = useAnalyticsScene()

const ZONE = 'America/Los_Angeles'
/** An hour of a day of November in Los Angeles, eight hours behind UTC. */
const at = (date: number, hour = 0) => new Date(Date.UTC(2026, 10, date, hour + 8)).toISOString()
const dateOf = (date: number) => `2026-11-${String(date).padStart(2, '0')}`
/** Noon of the 12th. */
const NOW = at(12, 12)

type Said = Readonly<Record<string, unknown>>

const YES = { availability_known: true, available_for_pickup: true }
const NO = { availability_known: true, available_for_pickup: false }

const lastFree = (id: string, date = 6, whose: 'terminal' | 'rail' = 'terminal') =>
  lastFreeDay(id, whose, dateOf(date))

/** A box whose last free day at the terminal is the 6th, unless given; discharged on the 2nd. */
async function insertBox(
  id: string,
  more: Said,
  versions: readonly Version[],
  day: Said | null = lastFree(id),
): Promise<void> {
  const names = { container_id: id, number: id, pod_timezone: ZONE }
  const box = { ...names, pod_discharged_at: at(2, 10), ...more }
  await scene.insertContainer(box, versions)
  if (day !== null) await scene.insertKnown('container_import_deadlines', [day])
}

const hold = (container_id: string, from: string, to: string | null, more: Said = {}) => ({
  container_id,
  hold_key: `customs ${from}`,
  place: 'port',
  name: 'customs',
  status: 'hold',
  valid_from: from,
  valid_to: to,
  ...more,
})

const CAUSES = 'unavailable on_hold no_appointment appointment_late unknown other'

/** By container and place: days by cause in their order, the main cause, and the days in time. */
async function readDays(): Promise<Record<string, unknown>> {
  const names = CAUSES.split(' ').map((cause) => `days_${cause}`)
  const rows = await scene.read('why_late', { asOf: NOW })
  return Object.fromEntries(
    rows.map((row) => {
      const days = names.map((name) => row[name] as number)
      expect(days.reduce((sum, one) => sum + one)).toBe(row.days_over)
      const { container_id, place, main_cause, ready_days_in_time } = row
      return [
        `${container_id as string} ${place as string}`,
        [days.join(' '), main_cause, ready_days_in_time],
      ]
    }),
  )
}

it('has one cause for each day over, by what was known at its end', async () => {
  await scene.insert('terminals', [{ terminal_id: 't1', name: 'West Basin', nickname: null }])
  await scene.insertKnown('shipments', [
    { shipment_id: 's1', bill_of_lading_number: 'BOL1', shipping_line_scac: 'MAEU' },
  ])
  await insertBox('c1', { shipment_id: 's1', pod_terminal_id: 't1' }, [
    [at(1), {}],
    // Ready at the end of the 3rd, the 4th and the 6th.
    [at(3, 12), YES],
    [at(5, 12), NO],
    [at(6, 12), YES],
    // Only by day.
    [at(7, 10), NO],
    [at(7, 23), YES],
    // Held too.
    [at(8, 12), NO],
    [at(9, 12), YES],
    [at(10, 15), { ...YES, pickup_appointment_at: at(11, 9) }],
    // On the 11th nobody came.
    [at(12, 8), { ...YES, pickup_appointment_at: at(12, 15) }],
    // After the instant.
    [at(12, 13), NO],
  ])
  await scene.insert('container_hold_history', [
    hold('c1', at(8, 9), at(10, 12)),
    hold('c1', at(10, 1), null, { status: 'pending', name: 'USDA' }),
  ])
  expect(await scene.read('why_late', { asOf: NOW })).toMatchSnapshot()
  const table = `
    is_for_train | started_on | first_on   | last_on    | left_at | time_zone
    false        | 2026-11-02 | 2026-11-02 | 2026-11-12 | -       | America/Los_Angeles`
  await scene.expectRows('late_stays', { asOf: NOW }, table)
})

it('looks right before it left, and knows an appointment that was kept or missed', async () => {
  const out = (id: string, hour: number, appointment: string | null) =>
    insertBox(id, { pod_full_out_at: at(8, hour) }, [
      [at(3), { ...YES, pickup_appointment_at: appointment }],
      // The terminal forgets what is gone.
      [at(8, hour), NO],
    ])
  await out('without', 10, null)
  await out('kept', 10, at(8, 11))
  await out('before', 10, at(9, 11))
  await out('over midnight', 1, at(7, 22))
  await out('missed', 12, at(7, 22))
  expect(await readDays()).toEqual({
    'without port': ['0 0 2 0 0 0', 'no_appointment', 4],
    'kept port': ['0 0 0 1 0 1', 'appointment_late', 4],
    'before port': ['0 0 0 2 0 0', 'appointment_late', 4],
    'over midnight port': ['0 0 0 1 0 1', 'appointment_late', 4],
    'missed port': ['0 0 0 2 0 0', 'appointment_late', 4],
  })
})

it('tells apart what is held, what nobody says, and what waits for its train', async () => {
  const stays = { pod_full_out_at: at(8, 10) }
  const said = (id: string, what: Said, more: Said = stays) =>
    insertBox(
      id,
      more,
      [[at(1), what]],
      lastFree(id, 6, 'ind_ata_at' in more ? 'rail' : 'terminal'),
    )
  await said('pending', YES)
  await said('no status', YES)
  await said('at ramp only', YES)
  await said('silent', {})
  await said('silent and held', {})
  await said('not received', { ...YES, availability_known: false })
  // The service marks wall time as UTC: it is over by days of the wall, and nobody knows which.
  await said('zoneless', YES, { pod_timezone: null, pod_full_out_at: at(8, 10) })
  // The port itself has a zone: it left at ten, an hour after the terminal let it go.
  await scene.insert('ports', [{ port_id: 'p', time_zone: ZONE }])
  await scene.insert('terminals', [{ terminal_id: 't', name: 'T', port_id: 'p' }])
  const wall = { pod_timezone: null, pod_terminal_id: 't', pod_full_out_at: '2026-11-08T10:00:00Z' }
  await insertBox('wall time', wall, [
    [at(1), NO],
    [at(8, 9), { ...YES, pickup_appointment_at: '2026-11-08T10:00:00Z' }],
  ])
  await said('train', YES, { pod_rail_carrier_scac: 'BNSF' })
  await said('left by train', YES, { pod_rail_departed_at: at(8, 10) })
  // Of the port; what the ramp says follows.
  const ramp = {
    pod_discharged_at: at(1, 10),
    pod_rail_departed_at: at(2, 10),
    ind_ata_at: at(4, 10),
    final_destination_timezone: 'America/Chicago',
    final_destination_full_out_at: at(8, 10),
  }
  const early = { pickup_appointment_at: at(2, 9) }
  await said('ramp ready', { ...early, current_status: 'available' }, ramp)
  await said('ramp no', { ...NO, current_status: 'available' }, ramp)
  await said('ramp grounded', { current_status: 'grounded' }, ramp)
  await said('ramp on the way', { ...YES, current_status: 'on_rail' }, ramp)
  await said('ramp held', { current_status: 'available' }, ramp)
  await scene.insert('container_hold_history', [
    hold('pending', at(1), null, { status: 'pending' }),
    hold('no status', at(7), at(8, 9), { status: null }),
    hold('at ramp only', at(1), null, { place: 'ramp' }),
    hold('silent and held', at(1), null),
    // Of both lists, one after the other.
    hold('ramp held', at(7), at(7, 23), { place: 'port' }),
    hold('ramp held', at(7, 5), null, { place: 'port' }),
    hold('ramp held', at(8), null, { place: 'ramp' }),
  ])
  expect(await readDays()).toMatchSnapshot()
})

it('leaves out who is not late or not known to be, and counts no days of an unknown start', async () => {
  await scene.insertKnown('shipments', [
    { shipment_id: 'stopped', line_tracking_stopped_reason: 'past_full_out_window' },
  ])
  const said = (id: string, more: Said, day?: Said | null) =>
    insertBox(id, more, [[at(1), YES]], day)
  await said('due today', {}, lastFree('due today', 12))
  await said('in time', { pod_full_out_at: at(6, 23) })
  await said('no day', {}, null)
  await said('stopped', { shipment_id: 'stopped' })
  await said('broken zone', { pod_timezone: 'Mars/Olympus' })
  await said('no zone, still there', { pod_timezone: null })
  await said('start unknown', { pod_discharged_at: null, current_status: 'available' })
  await said('began after it', { pod_discharged_at: at(9, 10) })
  await said('began on it', { pod_discharged_at: at(6, 10) })
  expect(await readDays()).toEqual({
    'start unknown port': ['0 0 6 0 0 0', 'no_appointment', null],
    'began after it port': ['0 0 6 0 0 0', 'no_appointment', 0],
    'began on it port': ['0 0 6 0 0 0', 'no_appointment', 1],
  })
})

it('has the costs as listed, else as estimated, and the dearest first', async () => {
  await insertRule(scene, { charge: 'storage', currency_code: 'EUR' }, { 2: '40.00' })
  const out = (id: string, date: number) =>
    insertBox(id, { pod_full_out_at: at(date, 10) }, [
      [at(1), NO],
      [at(7, 12), YES],
    ])
  await out('nothing', 7)
  await out('estimate', 8)
  await out('longer', 9)
  await out('listed', 9)
  await scene.insertKnown('container_fees', [
    { container_id: 'listed', fee_key: 'a', place: 'port', type: 'demurrage', amount: '79.50' },
    { container_id: 'longer', fee_key: 'a', place: 'port', type: 'demurrage', amount: '0' },
  ])
  const table = `
    container_id | days_over | main_cause     | cost_amount | currency_code
    longer       | 3         | no_appointment | 80.00       | EUR
    listed       | 3         | no_appointment | 79.50       | local
    estimate     | 2         | no_appointment | 40.00       | EUR
    nothing      | 1         | unavailable    | -           | -`
  await scene.expectRows('why_late', { asOf: NOW }, table)
})
