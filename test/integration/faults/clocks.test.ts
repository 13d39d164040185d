import { describe, expect, it } from 'vitest'
import { atScale } from '../../support/test-scale.js'
import type { Scene } from '../sync/sync-scene.js'
import { openBench } from '../webhooks/process-scene.js'
import { useFaultScenes } from './fault-scene.js'
import { notifyOfAll } from './notify-of-all.js'

const scenes = useFaultScenes()

const MINUTE = 60_000

/** How far our clock is from the service's, at the nth time it is asked. */
type Skew = (asked: number) => number

const SKEWS: Readonly<Record<string, Skew>> = {
  'ten minutes fast': () => 10 * MINUTE,
  'ten minutes slow': () => -10 * MINUTE,
  'put back an hour in the middle of the run': (asked) => (asked > 20 ? -60 * MINUTE : 0),
  'put forward an hour, as a wrong daylight saving would': (asked) =>
    asked > 20 ? 60 * MINUTE : 0,
}

function sourceWithClock({ simulator }: Scene, skew: Skew) {
  let asked = 0
  const { url, apiKey, clock } = simulator
  const now = (): Date => new Date(clock.now().getTime() + skew((asked += 1)))
  return { url, apiKey, clock: { now } }
}

async function stampsOf({ query }: Scene): Promise<Map<string, string>> {
  const rows = await query<{ key: string; stamp: string }>(
    `select container_id as key, _observed_at::text as stamp from tracking.containers`,
  )
  return new Map(rows.map(({ key, stamp }) => [key, stamp]))
}

describe('our clock', { tags: ['Z11'] }, () => {
  it.each(Object.entries(SKEWS))('%s: no row goes back, each sync ends equal', async (_, skew) => {
    const scene = await scenes.open({ shipments: 3 })
    const { simulator } = scene
    const bench = openBench(scene.warehouse, simulator)
    scenes.atEnd(() => bench.close())
    await scene.sync({ source: sourceWithClock(scene, skew) })
    let stamps = await stampsOf(scene)
    for (let round = 0; round < atScale(1, 5); round += 1) {
      // Written with a right clock, by another host, between our runs.
      await notifyOfAll(scene, `ROUND-${round}`)
      await bench.settle()
      simulator.clock.advance(2 * MINUTE)
      const [one] = simulator.world.records('container', simulator.clock.now())
      simulator.edits.change('container', one!.id, { weight_in_lbs: 1_000 + round })
      const report = await scene.sync({
        command: 'sync',
        source: sourceWithClock(scene, skew),
      })
      expect(report).toMatchObject({ exitCode: 0, problems: [] })
      expect(await scene.differences()).toEqual([])
      const now = await stampsOf(scene)
      for (const [key, stamp] of stamps) expect(now.get(key)! >= stamp).toBe(true)
      stamps = now
    }
  })
})
