import { expect, it } from 'vitest'
import { openBench } from '../webhooks/process-scene.js'
import { useFaultScenes } from './fault-scene.js'
import { notifyOfAll } from './notify-of-all.js'

const scenes = useFaultScenes()

const MINUTE = 60_000

it.each<[string, (asked: number) => number]>([
  ['ten minutes fast', () => 10 * MINUTE],
  ['ten minutes slow', () => -10 * MINUTE],
  ['put back an hour in the middle of the run', (asked) => (asked > 20 ? -60 * MINUTE : 0)],
  ['put forward an hour', (asked) => (asked > 20 ? 60 * MINUTE : 0)],
])('our clock %s: each sync ends equal', { tags: ['Z11'] }, async (_, skew) => {
  const scene = await scenes.open({ shipments: 3 })
  const { url, apiKey, clock, edits } = scene.simulator
  const bench = openBench(scene.warehouse, scene.simulator)
  scenes.atEnd(() => bench.close())
  const source = () => {
    let asked = 0
    const now = (): Date => new Date(clock.now().getTime() + skew((asked += 1)))
    return { url, apiKey, clock: { now } }
  }
  await scene.sync({ source: source() })
  // Written with a right clock, by another host, between our runs.
  await notifyOfAll(scene)
  await bench.settle()
  clock.advance(2 * MINUTE)
  edits.change('container', scene.ids('container')[0]!, { weight_in_lbs: 1_000 })
  const report = await scene.sync({ command: 'sync', source: source() })
  expect(report).toMatchObject({ exitCode: 0, problems: [] })
  expect(await scene.differences()).toEqual([])
})
