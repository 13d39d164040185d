import { afterEach, describe, expect, it, vi } from 'vitest'
import type * as Deciding from '../../../src/ingest/decide.js'
import type { Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { runTestSync } from '../../support/run-test-sync.js'
import { loadTables } from '../../support/snapshot-tables.js'
import { closeScenes, HOUR, openScene } from './sync-scene.js'

const WITH_EVENTS = ['containers', 'containers.transport_events', 'transport_events']

/** Whether rows that are not there yet are copied; else they go the way of those that are. */
const inserting = vi.hoisted(() => ({ isOn: true, rows: 0 }))

vi.mock('../../../src/ingest/decide.js', async (importOriginal) => {
  const original = await importOriginal<typeof Deciding>()
  return {
    ...original,
    decide: (...given: Parameters<typeof Deciding.decide>) => {
      const decision = original.decide(...given)
      const withoutRow = inserting.isOn ? decision.withoutRow : new Set()
      inserting.rows += withoutRow.size
      return { ...decision, withoutRow }
    },
  }
})

afterEach(async () => {
  Object.assign(inserting, { isOn: true, rows: 0 })
  await closeScenes()
})

/** All rows of all data tables, in an order of their own. */
async function readRows(warehouse: Warehouse): Promise<Record<string, string[]>> {
  const tables = await loadTables(warehouse)
  return Object.fromEntries(
    [...tables].map(([name, { rows }]) => [name, rows.map((row) => JSON.stringify(row)).sort()]),
  )
}

describe('rows that are not there yet', () => {
  it.each([
    { world: 'on pages', includes: WITH_EVENTS, pageSize: 4 },
    { world: 'on one page', includes: WITH_EVENTS, pageSize: 100 },
    { world: 'whose events are read for each container', includes: ['containers'], pageSize: 4 },
    { world: 'of which nothing comes included', includes: [], pageSize: 4 },
  ])(
    'make the same rows, histories and children as an upsert: a world $world',
    async ({ includes, pageSize }) => {
      const acceptedIncludes = { shipment: includes, container: includes }
      const scene = await openScene({ shipments: 14, acceptedIncludes })
      const settings = { pageSize }
      const other = await openScene({ shipments: 1 })
      const loadOther = (command: 'backfill' | 'sync') =>
        runTestSync({ warehouse: other.warehouse, source: scene.simulator, command, settings })
      for (const command of ['backfill', 'sync', 'backfill'] as const) {
        if (inserting.rows > 0) scene.simulator.clock.advance(60 * HOUR)
        inserting.isOn = true
        expect(await scene.sync({ command, settings })).toMatchObject({ exitCode: 0 })
        inserting.isOn = false
        expect(await loadOther(command)).toMatchObject({ exitCode: 0 })
        expect(await readRows(scene.warehouse)).toEqual(await readRows(other.warehouse))
      }
      expect(inserting.rows).toBeGreaterThan(300)
      expect(await scene.differences()).toEqual([])
    },
  )

  it('are written the other way when they came to be there meanwhile', async () => {
    const settings = { pageSize: 4 }
    const scene = await openScene({ shipments: 14 })
    const other = await openScene({ shipments: 14 })
    await other.sync({ settings })
    const events = await other.query<{ container_id: string; event_id: string }>(
      'select container_id, transport_event_id as event_id from tracking.transport_events',
    )
    // Containers do not have a row yet, so nobody looks for these.
    for (const { container_id: containerId, event_id: eventId } of events) {
      await scene.query(
        `insert into tracking.transport_events
          (container_id, transport_event_id, _observed_at, _first_seen_at, _changed_at)
        values ($1, $2, $3, $3, $3)`,
        containerId,
        eventId,
        '2026-03-01T00:00:00Z',
      )
    }
    expect(await scene.sync({ settings })).toMatchObject({ exitCode: 0, outcome: 'complete' })
    expect(await scene.differences()).toEqual([])
    const [early] = await scene.query<{ count: number }>(
      `select count(*)::int as count
      from tracking.transport_events
      where _first_seen_at < _observed_at`,
    )
    expect(early?.count).toBe(events.length)
    const before = await scene.snapshot()
    await scene.sync({ command: 'sync', settings })
    expect(await scene.snapshot()).toEqual(before)
  })
})
