import { sql } from 'kysely'
import { afterEach, expect, test } from 'vitest'
import { setAsOf } from '../../support/set-as-of.js'
import { closeScenes, HOUR, openScene, START, type Scene } from './sync-scene.js'

afterEach(closeScenes)

/** The first gate-out after the start that a terminal reports before it happens. */
function findAnnounced({ simulator }: Scene) {
  const { sources } = simulator.world
  const now = START.getTime()
  for (let serial = 0; ; serial += 1) {
    const shipment = sources.book.shipment(serial, now)
    if (shipment === undefined) throw new Error('nothing is announced in this world')
    for (const { id, milestones } of shipment.containers) {
      const out = milestones.find(({ name }) => name === 'full_out')
      if (out?.announcedAt === undefined || out.announcedAt <= now) continue
      if (out.reportedAt < shipment.ending.frozenAt) return { ...out, id, at: new Date(out.at) }
    }
  }
}

test(
  'a gate-out that is reported before it happens is stored as sent, and ends nothing until then',
  { tags: ['FE5', 'release'] },
  async () => {
    const scene = await openScene({ shipments: 60, seed: 3 })
    const { simulator, warehouse } = scene
    const { id, at, announcedAt } = findAnnounced(scene)
    const advanceTo = (time: number) => {
      simulator.clock.advance(time - simulator.clock.now().getTime())
    }
    const hasEnded = () =>
      warehouse.transaction('ask', async (session) => {
        await setAsOf(session, simulator.clock.now().toISOString())
        const [stay] = await session.query(
          'ask',
          sql<{
            has_ended: boolean
          }>`select bool_and(has_ended) as has_ended from tracking_as_of.container_stays
          where container_id = ${id}`,
        )
        return stay?.has_ended
      })
    await scene.sync()
    advanceTo(announcedAt! + HOUR)
    await scene.sync({ command: 'sync', areChecksDue: true })
    expect(await scene.differences()).toEqual([])
    const [stored] = await scene.query(
      `select coalesce(pod_full_out_at, final_destination_full_out_at) = $2 as is_out_as_sent,
        current_status,
        (
          select count(*)::integer from tracking.transport_events as event
          where event.container_id = container.container_id
            and event.event = 'container.transport.full_out' and event.timestamp = $2
        ) as events
      from tracking.containers as container where container_id = $1`,
      id,
      at,
    )
    expect(stored).toEqual({ is_out_as_sent: true, current_status: 'picked_up', events: 1 })
    expect(await hasEnded()).toBe(false)
    advanceTo(at.getTime() + HOUR)
    await scene.sync({ command: 'sync' })
    expect(await hasEnded()).toBe(true)
    expect(await scene.differences()).toEqual([])
  },
)
