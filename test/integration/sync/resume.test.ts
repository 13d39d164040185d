import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TrackingService } from '../../../src/source/client/endpoints.js'
import { closeScenes, openScene, type Scene } from './sync-scene.js'

const SETTINGS = { pageSize: 2 }
/** 16 shipments are 8 pages of shipments, and more of tracking requests. */
const WORLD = { shipments: 16 }

function listPages(scene: Scene): string[] {
  return scene.simulator.requests.recent
    .filter(({ path }) => /^\/v2\/(?:shipments|containers|tracking_requests)$/.test(path))
    .map(({ path, query }) => `${path} ${new URLSearchParams(query).get('page[number]') ?? ''}`)
}

/** Pages of the shipments that the warehouse says it has. */
async function positions(scene: Scene): Promise<unknown> {
  const [row] = await scene.rows`
    select (saved.position ->> 'page')::int as checkpoint,
        (advanced.position ->> 'page')::int as position
    from tracking_sync.checkpoints as saved
    left join tracking_sync.pass_positions as advanced using (stream)
    where stream = 'shipments'`
  return row
}

describe('a run that is cut off', () => {
  it('starts over when the remains are half an hour old', { tags: ['release'] }, async () => {
    const scene = await openScene(WORLD)
    await scene.crash('after_commit:4', { settings: SETTINGS })
    await scene.run`
      update tracking_sync.checkpoints set updated_at = updated_at - interval '31 minutes'`
    scene.simulator.requests.reset()
    expect((await scene.sync({ settings: SETTINGS })).exitCode).toBe(0)
    expect(listPages(scene)[0]).toBe('/v2/shipments 1')
    expect(await scene.differences()).toEqual([])
  })

  it('is as old as the first request of its pass', { tags: ['FA6', 'release'] }, async () => {
    const scene = await openScene(WORLD)
    const now = () => scene.value<string>`select clock_timestamp()`
    const isBetween = (from: string, to: string): Promise<boolean[]> =>
      scene.column`
        select last_complete_started_at between ${from} and ${to} from tracking_analytics.freshness
        where stream in ('shipments', 'containers', 'transport_events')`
    const started = await now()
    let firstRequest = ''
    const watch = (service: TrackingService): TrackingService => ({
      ...service,
      listRecords: async function* (stream, options) {
        if (stream === 'shipments') firstRequest = await now()
        yield* service.listRecords(stream, options)
      },
    })
    await scene.crash('response_received:3', { settings: SETTINGS, watch })
    expect(await scene.sync({ settings: SETTINGS })).toMatchObject({ outcome: 'complete' })
    expect(await isBetween(started, firstRequest)).toEqual([true, true, true])
    // A run in which nothing changes writes its rows only at its end.
    await scene.sync({ command: 'sync', settings: SETTINGS, watch })
    expect(await isBetween(started, firstRequest)).toEqual([true, true, true])
  })
})

describe('a run cut off over a filled warehouse goes on', { tags: ['C11', 'C12', 'P14'] }, () => {
  let scene: Scene

  afterAll(closeScenes)

  beforeAll(async () => {
    scene = await openScene(WORLD)
    await scene.sync({ settings: SETTINGS })
  })

  it.each([
    {
      // Behind pages that changed nothing, which are noted in a table without a log.
      where: 'where it was when the run that resumed is cut off as well',
      cutAfter: [3, 3],
      noted: { checkpoint: 3, position: 5 },
      page: 5,
    },
    {
      where: 'at its checkpoint when a crash of the database emptied that table',
      changedPage: 4,
      cutAfter: [7],
      noted: { checkpoint: 4, position: 7 },
      meanwhile: 'truncate tracking_sync.pass_positions',
      page: 4,
    },
    {
      where: 'at its checkpoint when that position belongs to another pass',
      cutAfter: [6],
      noted: { checkpoint: 1, position: 6 },
      meanwhile: `update tracking_sync.pass_positions
          set pass_started_at = pass_started_at - interval '1 second'`,
      page: 1,
    },
  ])('$where', async (given) => {
    const { world, edits, clock, requests } = scene.simulator
    if (given.changedPage !== undefined) {
      const [shipment] = world.page('shipment', 2 * (given.changedPage - 1), 1, clock.now())
      edits.change('shipment', shipment!.id, { customer_name: 'Another' })
    }
    for (const pages of given.cutAfter) {
      await scene.crash(`after_commit:${pages}`, { command: 'sync', settings: SETTINGS })
    }
    expect(await positions(scene)).toEqual(given.noted)
    if (given.meanwhile !== undefined) await scene.query(given.meanwhile)
    requests.reset()
    const report = await scene.sync({ command: 'sync', settings: SETTINGS })
    expect(report).toMatchObject({ outcome: 'complete', exitCode: 0 })
    expect(listPages(scene)[0]).toBe(`/v2/shipments ${given.page}`)
    expect(listPages(scene)).not.toContain(`/v2/shipments ${given.page - 1}`)
    expect(await scene.differences()).toEqual([])
  })
})
