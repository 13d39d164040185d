import { describe, expect, it } from 'vitest'
import {
  startFaultProxy,
  type FaultOptions,
  type FaultProxy,
  type LinkFault,
} from '../../support/fault-proxy.js'
import { atScale } from '../../support/test-scale.js'
import type { Scene } from '../sync/sync-scene.js'
import { runMeasured } from './cli-peak.js'
import { useFaultScenes, wrongCounts } from './fault-scene.js'
import { presetFile } from '../../support/preset-file.js'

const scenes = useFaultScenes()

async function proxyTo({ simulator }: Scene): Promise<FaultProxy> {
  const proxy = await startFaultProxy(simulator.url)
  scenes.atEnd(() => proxy.close())
  return proxy
}

const TOXICS: Readonly<Record<string, readonly [LinkFault, FaultOptions?]>> = {
  latency: [
    { kind: 'latency', ms: atScale(20, 2_000), jitterMs: atScale(10, 1_000) },
    { direction: 'toClient' },
  ],
  'slices of 16 bytes': [{ kind: 'slice', bytes: 16 }],
  'a slow close': [{ kind: 'slowClose', ms: atScale(300, 5_000) }],
  'little bandwidth': [
    { kind: 'bandwidth', bytesPerSecond: atScale(500_000, 20_000) },
    { direction: 'toClient' },
  ],
}

describe('a bad link to the service', { tags: ['H8', 'release'] }, () => {
  it.each(Object.entries(TOXICS))(
    'with %s makes a run slower and nothing else',
    async (_, [fault, options]) => {
      const scene = await scenes.open({ shipments: atScale(4, 12) })
      const proxy = await proxyTo(scene)
      const toxic = proxy.add(fault, options)
      const { apiKey, clock } = scene.simulator
      const source = { url: proxy.url, apiKey, clock }
      const report = await scene.sync({ source, settings: { pageSize: 2 } })
      proxy.clear()
      expect(report).toMatchObject({ exitCode: 0, outcome: 'complete', problems: [] })
      expect(await scene.differences()).toEqual([])
      expect(await wrongCounts(scene)).toEqual([])
      // The end of a kept-alive connection comes after the run.
      if (fault.kind !== 'slowClose') expect(toxic.played).toBeGreaterThan(0)
    },
  )

  // Where it takes too long: test/unit/api/client-limits.test.ts.
  it('costs the program no memory', async () => {
    const scene = await scenes.open({ shipments: atScale(10, 60) })
    const peaks: number[] = []
    const slow = [TOXICS['slices of 16 bytes']!, TOXICS['a slow close']!]
    for (const toxics of [[], slow]) {
      const proxy = await proxyTo(scene)
      for (const [fault, options] of toxics) proxy.add(fault, options)
      const result = await runMeasured(['backfill', '--json'], {
        TRACKING_API_URL: proxy.url,
        TRACKING_API_KEY: scene.simulator.apiKey,
        DATABASE_URL: scene.url,
        TRACKING_LOG_LEVEL: 'silent',
        TRACKING_SERVICE: presetFile({ pageSize: 10 }),
        TRACKING_RATE_LIMIT_PER_MINUTE: '100000',
      })
      expect(result.exitCode).toBe(0)
      peaks.push(result.peakMiB ?? 0)
    }
    expect(peaks[1]! - peaks[0]!).toBeLessThan(50)
  })
})
