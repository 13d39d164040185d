import { tmpdir } from 'node:os'
import { describe, expect, it } from 'vitest'
import { runCli, startCli, waitUntil } from '../../support/run-cli.js'
import { atScale, isFullScale } from '../../support/test-scale.js'
import { startFaultProxy } from '../../support/fault-proxy.js'
import type { Scene } from '../sync/sync-scene.js'
import { doubledRows } from '../../support/doubled-rows.js'
import { useFaultScenes } from './fault-scene.js'
import { presetFile } from '../../support/preset-file.js'

const scenes = useFaultScenes()

/**
 * Each life of the program: so many pages answered (at full scale: so long from its first answer,
 * of a page or a reference), then it is killed.
 */
const LIFE_PAGES = 6
const LIFE_MS = 10_000
const PAGE_SIZE = 2
/** At full scale about 593 pages, as an account of 59,230 containers has them at 100 a page. */
const SHIPMENTS = atScale(20, 590)
/** Per kill: the page that was stored last, and pages that had arrived or were read ahead. */
const REPEATED_PAGES_PER_KILL = 3

function envOf(scene: Scene, apiUrl = scene.simulator.url): Record<string, string> {
  return {
    TRACKING_API_URL: apiUrl,
    TRACKING_API_KEY: scene.simulator.apiKey,
    DATABASE_URL: scene.url,
    TRACKING_SERVICE: presetFile({ pageSize: PAGE_SIZE }),
    TRACKING_RATE_LIMIT_PER_MINUTE: '100000',
    TRACKING_LOG_LEVEL: 'silent',
  }
}

const LISTS = /^\/v2\/(?:shipments|containers|tracking_requests)$/

const pagesAnswered = ({ simulator }: Scene): number =>
  simulator.requests.recent.filter(({ path, status }) => status === 200 && LISTS.test(path)).length

const isAnswered = ({ simulator }: Scene): boolean =>
  simulator.requests.recent.some(({ status }) => status === 200)

describe('a program that is killed again and again', { tags: ['C11'] }, () => {
  it('in the same rhythm for ever ends all the same, and repeats a few pages per kill', async () => {
    const scene = await scenes.open({
      shipments: SHIPMENTS,
      acceptedIncludes: { shipment: ['containers', 'containers.transport_events'] },
    })
    const proxy = await startFaultProxy(scene.simulator.url)
    scenes.atEnd(() => proxy.close())
    // Slow enough for a life to end before the work does.
    proxy.add({ kind: 'latency', ms: atScale(20, 250) }, { direction: 'toClient' })
    const env = envOf(scene, proxy.url)
    let kills = 0
    let answered = 0
    for (let isOver = false; !isOver;) {
      scene.simulator.requests.reset()
      const program = await startCli(['backfill', '--json'], {
        directory: tmpdir(),
        env,
        deadlineMs: 60_000,
      })
      const life = { isOver: false }
      void program.ended.then(() => {
        life.isOver = true
      })
      await waitUntil('it works or is done', () => life.isOver || isAnswered(scene))
      const until = performance.now() + LIFE_MS
      await waitUntil('its life is over', () =>
        life.isOver
          ? true
          : isFullScale
            ? performance.now() > until
            : pagesAnswered(scene) >= LIFE_PAGES,
      )
      if (!life.isOver) {
        kills += 1
        program.kill('SIGKILL')
      }
      const { exitCode, signal } = await program.ended
      isOver = signal === null
      if (isOver) expect(exitCode).toBe(0)
      answered += pagesAnswered(scene)
    }
    expect(kills).toBeGreaterThan(1)
    const lists = 2 * Math.ceil(SHIPMENTS / PAGE_SIZE)
    // Tracking requests are some more than shipments.
    expect(answered).toBeLessThan(lists * 1.25 + kills * REPEATED_PAGES_PER_KILL)
    expect(await scene.differences()).toEqual([])
    expect(await doubledRows(scene.warehouse)).toEqual([])
  })
})

describe('a program that is stopped and continued', { tags: ['C10'] }, () => {
  it('after another has taken over writes nothing more and ends with 7', async () => {
    const scene = await scenes.open()
    const env = envOf(scene)
    const hang = scene.simulator.faults.add({
      fault: { kind: 'hang', phase: 'beforeHeaders' },
      match: ({ path, query }) => path === '/shipments' && query.get('page[number]') === '3',
    })
    const paused = await startCli(['backfill'], { directory: tmpdir(), env })
    await waitUntil('two pages are stored', async () => {
      const rows = await scene.rows`select from tracking.shipments`
      return hang.played > 0 && rows.length >= 4
    })
    paused.kill('SIGSTOP')
    // As if it had slept for ninety seconds.
    await scene.run`
      update tracking_sync.lease set heartbeat_at = heartbeat_at - interval '90 seconds'`
    expect((await runCli(['backfill'], { directory: tmpdir(), env })).exitCode).toBe(0)
    scene.simulator.clock.advance(60_000)
    const before = await scene.snapshot()
    scene.simulator.faults.clear()
    paused.kill('SIGCONT')
    const { exitCode, stderr } = await paused.ended
    expect({ exitCode, stderr }).toEqual({
      exitCode: 7,
      stderr: expect.stringContaining('this run lost the lease') as unknown,
    })
    expect(await scene.snapshot()).toEqual(before)
    expect(await scene.differences()).toEqual([])
  })
})
