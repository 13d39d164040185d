import { it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'
import { lastFreeDay } from '../../support/scenes/charges.js'
import { expectRows, givenAndExpected, rowsOf } from '../../support/tables.js'

const scene = useAnalyticsScene()

const LOS_ANGELES = 'America/Los_Angeles'
/** 23:30 of 12 March in Los Angeles; the 13th in UTC and, at 00:30 and 01:30, further east. */
const AS_OF = '2026-03-13T06:30:00Z'

/** In the order of the view. */
const shows = (table: string) => expectRows(scene, 'pickups', { asOf: AS_OF }, table)

const landed = (container_id: string, more: object = {}) => ({
  container_id,
  number: container_id,
  pod_timezone: LOS_ANGELES,
  pod_discharged_at: '2026-03-09T10:00:00Z',
  availability_known: true,
  available_for_pickup: true,
  ...more,
})

const deadline = (container_id: string, local_date: string, time_zone = LOS_ANGELES) =>
  lastFreeDay(container_id, 'service', local_date, { time_zone })

it('is ready when available and not held, else says what bars it', { tags: ['FE4'] }, async () => {
  const [boxes, expected] = givenAndExpected(`
    container_id | availability_known | available_for_pickup => is_ready | blockers                     | other_holds
    c1           |                    |                      => true     | []                           | []
    c2           |                    | false                => false    | not available                | []
    c3           |                    | -                    => false    | availability unknown         | []
    c4           | false              |                      => false    | availability unknown         | []
    c5           | -                  |                      => true     | []                           | []
    c6           |                    |                      => true     | []                           | customs (pending)
    c7           |                    | false                => false    | hold: customs, not available | []`)
  await insertKnown(scene, 'containers', rowsOf(boxes, landed('')))
  await insertKnown(scene, 'container_holds', [
    { container_id: 'c6', hold_key: 'a', name: 'customs', status: 'pending' },
    { container_id: 'c7', hold_key: 'a', name: 'customs', status: 'hold' },
  ])
  await shows(expected)
})

it('stands in the order in which it bites, by days of the place', { tags: ['FE4'] }, async () => {
  await insertKnown(scene, 'shipments', [
    { shipment_id: 'stopped', line_tracking_stopped_reason: 'past_full_out_window' },
  ])
  const finished = Array.from({ length: 10 }, (_, day) =>
    landed(`f${day}`, {
      pod_terminal_id: 't1',
      pod_discharged_at: '2026-02-01T10:00:00Z',
      pod_full_out_at: `2026-02-0${Math.min(day, 2) + 2}T10:00:00Z`,
    }),
  )
  await insertKnown(scene, 'containers', [
    ...finished,
    landed('c1'),
    landed('c2', { pod_discharged_at: '2026-03-12T10:00:00Z', pod_terminal_id: 't1' }),
    // 07:30 of the 13th in Berlin: its day is today.
    landed('c3', { pod_timezone: 'Europe/Berlin', pod_discharged_at: '2026-03-10T10:00:00Z' }),
    landed('c4', { shipment_id: 'stopped' }),
    landed('c5', { pod_discharged_at: '2026-03-08T10:00:00Z' }),
    landed('c6'),
    // No day, and there for longer than the 3 days that four in five stay: beside those due today.
    landed('c7', { pod_terminal_id: 't1' }),
  ])
  await insertKnown(scene, 'container_import_deadlines', [
    deadline('c1', '2026-03-11'),
    deadline('c3', '2026-03-13', 'Europe/Berlin'),
    deadline('c4', '2026-03-01'),
    deadline('c6', '2026-03-14'),
  ])
  await shows(`
    container_id | state     | days_left | is_long_there
    c1           | overdue   | -1        | false
    c7           | none      | -         | true
    c3           | due_today | 0         | false
    c6           | upcoming  | 2         | false
    c5           | none      | -         | false
    c2           | none      | -         | false
    c4           | unknown   | -         | false`)
})
