import { describe, expect, it } from 'vitest'
import { type LogFields, type Logger, silentLogger } from '../../../src/base/logger.js'
import { loadConfirmedPasses } from '../../../src/warehouse/bookkeeping/checkpoints.js'
import type { SimulatorOptions } from '../../../src/extensions/simulator/server.js'
import type { TestSyncOptions } from '../../support/run-test-sync.js'
import { planOf } from '../../support/test-service.js'
import { expectTrueCounts } from './expect-sync.js'
import { HOUR, openLoadedScene, requestCounts, type Scene } from './sync-scene.js'

const ALL_WHOLE = ['whole', 'whole', 'whole']
const SETTINGS = { pageSize: 5, fullSyncHours: 24 }

/** Most of sixteen shipments are no longer tracked. */
function openScene(options: SimulatorOptions = {}): Promise<Scene> {
  return openLoadedScene({ shipments: 16, ...options }, SETTINGS)
}

async function sync(scene: Scene, options: Partial<TestSyncOptions> = {}) {
  scene.simulator.clock.advance(HOUR / 4)
  scene.simulator.requests.reset()
  return scene.sync({ command: 'sync', settings: SETTINGS, ...options })
}

function shipments({ simulator: { world, clock } }: Scene) {
  return [...world.records('shipment', clock.now())].map(({ id, attributes }) => ({
    id,
    isStopped: (attributes?.line_tracking_stopped_at ?? null) !== null,
  }))
}

/** Queries of the list requests, without the pages. */
function askedFor({ simulator }: Scene): string[] {
  const asked = simulator.requests.recent
    .filter(({ path }) => /^\/v2\/(?:shipments|tracking_requests)$/.test(path))
    .map(({ path, query }) => {
      const filters = [...new URLSearchParams(query)].filter(([name]) => name.startsWith('filter'))
      return [path.slice(4), ...filters.map(([name, value]) => `${name}=${value}`)].join(' ')
    })
  return [...new Set(asked)]
}

const scopes = async (scene: Scene, syncRunId: number) =>
  scene.rows`
    select stream, pass_scope as scope, outcome from tracking_sync.sync_run_streams
    where sync_run_id = ${syncRunId} and stream in ('shipments', 'containers', 'tracking_requests')
    order by stream`

const ageWholePasses = async (scene: Scene, hours: number) =>
  scene.rows`
    update tracking_sync.checkpoints
    set completed_pass_began_at = completed_pass_began_at - make_interval(hours => ${hours})
    where scope = 'whole'`

const rowOf = async (scene: Scene, id: string) => {
  const [row] = await scene.rows<{ is_stopped: boolean; customer: string; is_live: boolean }>`
    select line_tracking_stopped_at is not null as is_stopped, customer_name as customer,
        _deleted_at is null as is_live
    from tracking.shipments where shipment_id = ${id}`
  return row
}

const absences = async (scene: Scene) => scene.rows`select row_key from tracking_sync.absences`

describe('a scheduled sync', { tags: ['FF7'] }, () => {
  it('reads only what can change, at times the whole', async () => {
    const scene = await openScene()
    const passes = async (scope: 'any' | 'whole') =>
      (await loadConfirmedPasses(scene.warehouse, scope)).get('shipments')
    const wholePass = await passes('whole')
    const stopped = shipments(scene).filter(({ isStopped }) => isStopped)
    expect(stopped.length).toBeGreaterThan(5)
    const { edits, clock } = scene.simulator
    const [tracked, ending] = shipments(scene).filter(({ isStopped }) => !isStopped)
    edits.change('shipment', tracked!.id, { customer_name: 'Tracked' })
    edits.change('shipment', stopped[0]!.id, { customer_name: 'Late' })
    // It is on no list of what can change, and read by its id.
    edits.change('shipment', ending!.id, {
      line_tracking_stopped_at: clock.now().toISOString(),
      line_tracking_stopped_reason: 'cancelled_by_user',
    })

    const [step] = (await planOf(scene, SETTINGS)).steps
    expect(step).toMatchObject({ step: 'shipments', backfill: 4 })
    const changing = await sync(scene)
    expect(changing).toMatchObject({ outcome: 'complete', exitCode: 0 })
    expect(askedFor(scene)).toEqual([
      'shipments filter[tracking_stopped]=false',
      'tracking_requests filter[updated_at][start]=2026-03-02T07:00:00.000Z',
    ])
    const pages = Math.ceil((15 - stopped.length) / SETTINGS.pageSize)
    expect(requestCounts(scene.simulator)).toMatchObject({ '/shipments': pages, '/shipments/*': 1 })
    expect(step?.sync).toBe(pages)
    await expectTrueCounts(scene, changing)
    expect(await scopes(scene, changing.syncRunId)).toEqual([
      { stream: 'containers', scope: 'changing', outcome: 'complete' },
      { stream: 'shipments', scope: 'changing', outcome: 'complete' },
      { stream: 'tracking_requests', scope: 'changing', outcome: 'complete' },
    ])
    expect(await rowOf(scene, tracked!.id)).toMatchObject({ customer: 'Tracked' })
    expect(await rowOf(scene, ending!.id)).toMatchObject({ is_stopped: true, is_live: true })
    expect((await rowOf(scene, stopped[0]!.id))?.customer).not.toBe('Late')
    expect(await absences(scene)).toEqual([])
    expect(await passes('whole')).toEqual(wholePass)
    expect((await passes('any'))!.getTime()).toBeGreaterThan(wholePass!.getTime())
    const [row] = await scene.rows<{ is_older: boolean }>`
      select last_whole_started_at < last_complete_started_at as is_older
      from tracking_analytics.freshness where stream = 'shipments'`
    expect(row).toEqual({ is_older: true })

    await ageWholePasses(scene, 24)
    const whole = await sync(scene)
    expect(askedFor(scene)).toEqual(['shipments', 'tracking_requests'])
    expect((await scopes(scene, whole.syncRunId)).map(({ scope }) => scope)).toEqual(ALL_WHOLE)
    expect(await scene.differences()).toEqual([])
    await sync(scene)
    expect(askedFor(scene)[0]).toBe('shipments filter[tracking_stopped]=false')
    expect(requestCounts(scene.simulator)['/shipments/*']).toBeUndefined()
  })

  function noteWarnings(said: string[]): Logger {
    const note = (message: string, fields?: LogFields): void => {
      if (message.startsWith('the filter is not used')) said.push(String(fields?.stream))
    }
    const logger: Logger = { ...silentLogger, warn: note, child: () => logger }
    return logger
  }

  it.each(['ignore', 'refuse'] as const)(
    'reads the whole, and says once that it does, of a service that %ss the filters',
    { tags: ['release'] },
    async (filters) => {
      const scene = await openScene({ filters })
      const old = scene.records('tracking_request')
      expect(old.length).toBeGreaterThan(16)
      const said: string[] = []
      const first = await sync(scene, { logger: noteWarnings(said) })
      expect(first).toMatchObject({ outcome: 'complete', exitCode: 0, problems: [] })
      expect(said).toEqual(['shipments', 'tracking_requests'])
      expect((await scopes(scene, first.syncRunId)).map(({ scope }) => scope)).toEqual(ALL_WHOLE)
      expect(await scene.differences()).toEqual([])
      await sync(scene, { logger: noteWarnings(said) })
      expect(askedFor(scene)).toEqual(['shipments', 'tracking_requests'])
      expect(said).toHaveLength(2)
      const accepted = await scene.value<number>`
        select jsonb_array_length(detail -> 'accepted') as accepted
        from tracking_sync.source_capabilities where capability = 'include on shipments'`
      expect(accepted).toBeGreaterThan(5)
    },
  )

  it('reads the whole when a filter hides a late record', { tags: ['release'] }, async () => {
    // Ten may no longer be tracked.
    const scene = await openScene({ shipments: 40 })
    scene.simulator.faults.add({
      times: Infinity,
      match: ({ path, query }) => path === '/shipments' && query.has('filter[tracking_stopped]'),
      fault: {
        kind: 'transform',
        apply: () => ({ data: [], meta: { size: 0, total: 0 }, links: {} }),
      },
    })
    const report = await sync(scene)
    expect(report).toMatchObject({ outcome: 'complete', exitCode: 0 })
    expect((await scopes(scene, report.syncRunId))[1]).toMatchObject({ scope: 'whole' })
    expect(requestCounts(scene.simulator)['/shipments/*']).toBeUndefined()
    expect(await scene.differences()).toEqual([])
  })
})
