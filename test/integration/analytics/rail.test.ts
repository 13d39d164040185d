import { it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'
import { lastFreeDay } from '../../support/scenes/charges.js'
import { expectRows, rowsOf } from '../../support/tables.js'

const scene = useAnalyticsScene()

const BOX = {
  shipment_id: 's1',
  pod_terminal_id: 't1',
  pod_timezone: 'America/Los_Angeles',
  final_destination_timezone: 'America/Chicago',
  pod_rail_carrier_scac: 'UPRR',
  ind_rail_carrier_scac: 'UPRR',
}

it(
  'waits for its train until the departure is reported and has happened',
  { tags: ['JA4'] },
  async () => {
    const boxes = rowsOf(
      `container_id | pod_discharged_at | pod_rail_loaded_at | pod_rail_departed_at | current_status
     announced    | 2026-11-03T20:00Z | 2026-11-05T20:00Z  | 2026-11-09T20:00Z    | on_rail
     departed     | 2026-11-03T20:00Z | 2026-11-05T20:00Z  | 2026-11-06T20:00Z    | on_rail
     loaded       | 2026-11-03T20:00Z | 2026-11-05T20:00Z  | -                    | on_rail
     not loaded   | 2026-11-03T20:00Z | -                  | -                    |`,
      BOX,
    )
    await insertKnown(scene, 'containers', boxes)
    const days = boxes.map(({ container_id }) =>
      lastFreeDay(container_id!, 'terminal', '2026-11-06'),
    )
    await insertKnown(scene, 'container_import_deadlines', days)
    // Noon of the 8th in Los Angeles.
    const options = { asOf: '2026-11-08T20:00:00Z', rest: 'order by container_id' }
    const table = `
    container_id | stage      | is_waiting_for_train | port_last_free_on | port_days_left | hours_in_stage | loaded_to_departed_hours
    announced    | loaded     | true                 | 2026-11-06        | -2             | 72.00          | -
    departed     | departed   | false                | -                 | -              | 48.00          | 24.00
    loaded       | loaded     | true                 | 2026-11-06        | -2             | 72.00          | -
    not loaded   | discharged | true                 | 2026-11-06        | -2             | 120.00         | -`
    await expectRows(scene, 'rail', options, table)
  },
)
