import { it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { lastFreeDay } from '../../support/scenes/charges.js'
import { rowsOf } from '../../support/tables.js'

const scene = useAnalyticsScene()

const LOS_ANGELES = 'America/Los_Angeles'
/** 23:30 of 12 March in Los Angeles; the 13th in UTC and, at 00:30 and 01:30, further east. */
const AS_OF = '2026-03-13T06:30:00Z'

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
  lastFreeDay(container_id, 'terminal', local_date, { time_zone })

it('is ready or barred, in the order in which it bites', { tags: ['FE4'] }, async () => {
  await scene.insertKnown('shipments', [
    { shipment_id: 'stopped', line_tracking_stopped_reason: 'past_full_out_window' },
  ])
  const finished = Array.from({ length: 10 }, (_, day) =>
    landed(`f${day}`, {
      pod_terminal_id: 't1',
      pod_discharged_at: '2026-02-01T10:00:00Z',
      pod_full_out_at: `2026-02-0${Math.min(day, 2) + 2}T10:00:00Z`,
    }),
  )
  // At 07:30 of the 13th in Berlin the day of c3 is today. c7 lacks one, and is there for longer
  // than the 3 days that four in five stay: beside those due today.
  const boxes = `
    container_id | pod_discharged_at | pod_terminal_id | pod_timezone  | shipment_id | availability_known | available_for_pickup
    c1           |                   |                 |               |             |                    |
    c2           | 2026-03-12T10:00Z | t1              |               |             |                    | false
    c3           | 2026-03-10T10:00Z |                 | Europe/Berlin |             |                    | -
    c4           |                   |                 |               | stopped     | false              |
    c5           | 2026-03-08T10:00Z |                 |               |             | -                  |
    c6           |                   |                 |               |             |                    |
    c7           |                   | t1              |               |             |                    | false`
  await scene.insertKnown('containers', [...finished, ...rowsOf(boxes, landed(''))])
  await scene.insertKnown('container_import_deadlines', [
    deadline('c1', '2026-03-11'),
    deadline('c3', '2026-03-13', 'Europe/Berlin'),
    deadline('c4', '2026-03-01'),
    deadline('c6', '2026-03-14'),
  ])
  await scene.insertKnown('container_holds', [
    { container_id: 'c6', hold_key: 'a', name: 'customs', status: 'pending' },
    { container_id: 'c7', hold_key: 'a', name: 'customs', status: 'hold' },
  ])
  const table = `
    container_id | state     | days_left | is_long_there | is_ready | blockers                     | other_holds
    c1           | overdue   | -1        | false         | true     | []                           | []
    c7           | none      | -         | true          | false    | hold: customs, not available | []
    c3           | due_today | 0         | false         | false    | availability unknown         | []
    c6           | upcoming  | 2         | false         | true     | []                           | customs (pending)
    c5           | none      | -         | false         | true     | []                           | []
    c2           | none      | -         | false         | false    | not available                | []
    c4           | unknown   | -         | false         | false    | availability unknown         | []`
  await scene.expectRows('pickups', { asOf: AS_OF }, table)
})

it('waits for its train until its departure has happened', { tags: ['JA4'] }, async () => {
  const boxes = rowsOf(
    `container_id | pod_rail_loaded_at | pod_rail_departed_at | current_status
     announced    | 2026-03-10T20:00Z  | 2026-03-14T20:00Z    | on_rail
     departed     | 2026-03-10T20:00Z  | 2026-03-11T20:00Z    | on_rail
     loaded       | 2026-03-10T20:00Z  | -                    | on_rail
     not loaded   | -                  | -                    | available`,
    landed('', { pod_rail_carrier_scac: 'UPRR', ind_rail_carrier_scac: 'UPRR' }),
  )
  await scene.insertKnown('containers', boxes)
  const days = boxes.map(({ container_id }) => deadline(container_id, '2026-03-11'))
  await scene.insertKnown('container_import_deadlines', days)
  const table = `
    container_id | stage      | is_waiting_for_train | port_last_free_on | port_days_left | hours_in_stage | loaded_to_departed_hours
    announced    | loaded     | true                 | 2026-03-11        | -1             | 58.50          | -
    departed     | departed   | false                | -                 | -              | 34.50          | 24.00
    loaded       | loaded     | true                 | 2026-03-11        | -1             | 58.50          | -
    not loaded   | discharged | true                 | 2026-03-11        | -1             | 92.50          | -`
  await scene.expectRows('rail', { asOf: AS_OF, rest: 'order by container_id' }, table)
})
