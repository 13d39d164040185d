import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'
import { lastFreeDay } from '../../support/scenes/charges.js'
import { expectRows } from '../../support/tables.js'

const scene = useAnalyticsScene()

const LOS_ANGELES = 'America/Los_Angeles'
/** Noon of 8 November 2026 in Los Angeles. */
const AS_OF = '2026-11-08T20:00:00Z'

const box = (container_id: string, more: object = {}) => ({
  container_id,
  number: container_id,
  shipment_id: 's1',
  pod_timezone: LOS_ANGELES,
  ...more,
})

const landed = (container_id: string, more: object = {}) =>
  box(container_id, {
    pod_arrived_at: '2026-11-03T10:00:00Z',
    pod_discharged_at: '2026-11-03T20:00:00Z',
    ...more,
  })

const day = (id: string, on: string) => lastFreeDay(id, 'terminal', on)

it('waits for its train until the departure is reported', { tags: ['JA4'] }, async () => {
  await insertKnown(scene, 'shipments', [{ shipment_id: 's1' }])
  const loaded = { pod_rail_loaded_at: '2026-11-05T20:00:00Z', current_status: 'on_rail' }
  await insertKnown(scene, 'containers', [
    landed('loaded', loaded),
    landed('departed', { ...loaded, pod_rail_departed_at: '2026-11-06T20:00:00Z' }),
    landed('not loaded', { pod_rail_carrier_scac: 'BNSF' }),
  ])
  await insertKnown(
    scene,
    'container_import_deadlines',
    ['loaded', 'departed', 'not loaded'].map((id) => day(id, '2026-11-06')),
  )
  const table = `
    container_id | stage      | is_waiting_for_train | port_last_free_on | port_days_left
    departed     | departed   | false                | -                 | -
    loaded       | loaded     | true                 | 2026-11-06        | -2
    not loaded   | discharged | true                 | 2026-11-06        | -2`
  await expectRows(scene, 'rail', { asOf: AS_OF, rest: 'order by container_id' }, table)
})

it('is not unknown where the terminal was asked lately', { tags: ['JA11'] }, async () => {
  await insertKnown(scene, 'shipments', [
    { shipment_id: 's1', line_tracking_stopped_reason: 'no_updates_at_line' },
  ])
  const checked = {
    asked: '2026-11-06T20:00:01Z',
    'long ago': '2026-11-06T20:00:00Z',
    // A look after the instant asked about says nothing of it.
    later: '2026-11-08T20:00:01Z',
  }
  const ids = [...Object.keys(checked), 'never']
  await insertKnown(
    scene,
    'containers',
    ids.map((id) => landed(id)),
  )
  for (const [id, at] of Object.entries(checked)) {
    await scene.query(
      `update tracking.containers set terminal_checked_at = '${at}' where container_id = '${id}'`,
    )
  }
  await insertKnown(
    scene,
    'container_import_deadlines',
    ids.map((id) => day(id, '2026-11-06')),
  )
  const columns = ['container_id', 'state', 'days_over', 'is_untold']
  const rows = await scene.read('container_stays', { asOf: AS_OF, columns, rest: 'order by 1' })
  expect(rows.map((row) => Object.values(row))).toEqual([
    ['asked', 'overdue', 2, false],
    ['later', 'unknown', null, true],
    ['long ago', 'unknown', null, true],
    ['never', 'unknown', null, true],
  ])
})
