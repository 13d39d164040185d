import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'

const scene = useAnalyticsScene()

/** Hours after Monday 2 March 2026, 12:00 in Los Angeles. */
const at = (hours: number): string =>
  new Date(Date.parse('2026-03-02T20:00:00Z') + hours * 3_600_000).toISOString()
const AS_OF = at(60)

it('takes the middle where exactly half is left, as survfit does', { tags: ['JA7'] }, async () => {
  await scene.insert('terminals', [{ terminal_id: 'even', name: 'Even' }])
  const waits = (week: number, hours: readonly number[]) =>
    hours.map((out, n) => ({
      container_id: `even ${String(week)} ${String(n)}`,
      pod_terminal_id: 'even',
      pod_arrived_at: at(-week * 168),
      pod_full_out_at: at(-week * 168 + out),
    }))
  await insertKnown(scene, 'containers', [
    ...waits(1, [10, 30]),
    ...waits(2, [10, 20, 30, 40]),
    // Nothing ends after half is left, so that nobody knows how long it stays so.
    ...waits(3, [10]),
    { container_id: 'even still', pod_terminal_id: 'even', pod_arrived_at: at(-504) },
    // A tenth is left from 90 to 100.
    ...waits(4, [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]),
  ])
  const rows = await scene.read('port_waits', {
    asOf: AS_OF,
    columns: ['n', 'median_hours', 'estimated_median_hours', 'estimated_p90_hours'],
    rest: `where terminal_id = 'even' and stage = '5 arrival to out' order by week_on desc`,
  })
  expect(rows.map((row) => Object.values(row))).toEqual([
    [2, '20.0', '20.0', '30.0'],
    [4, '25.0', '25.0', '40.0'],
    [1, '10.0', '10.0', null],
    [10, '55.0', '55.0', '95.0'],
  ])
})
