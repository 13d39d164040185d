import { describe, expect, it } from 'vitest'
import { atScale } from '../../support/test-scale.js'
import { runMeasured } from './cli-peak.js'
import { useFaultScenes } from './fault-scene.js'

const scenes = useFaultScenes()

/**
 * Two containers and thirty transport events each: their documents alone are several times the heap
 * that is allowed.
 */
const SHIPMENTS = atScale(250, 3_000)
const HEAP_MIB = 48

describe('a small heap', { tags: ['C21'] }, () => {
  it(`of ${HEAP_MIB} MiB is enough for a backfill of ${SHIPMENTS} shipments and the sync after it (60,000 containers in 256 MiB: npm run bench:memory -- 30000 256)`, async () => {
    const scene = await scenes.open({ shipments: SHIPMENTS })
    const env = {
      TRACKING_API_URL: scene.simulator.url,
      TRACKING_API_KEY: scene.simulator.apiKey,
      DATABASE_URL: scene.url,
      TRACKING_RATE_LIMIT_PER_MINUTE: '100000',
      TRACKING_LOG_LEVEL: 'silent',
      NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}`,
    }
    for (const command of ['backfill', 'sync']) {
      const result = await runMeasured([command, '--json'], env)
      expect(result).toMatchObject({ exitCode: 0, signal: null })
      expect(JSON.parse(result.stdout)).toMatchObject({ outcome: 'complete', problems: [] })
      expect(result.peakMiB ?? 0).toBeLessThan(300)
    }
    const [row] = await scene.rows<{ rows: number }>`
      select count(*)::int as rows from tracking.shipments`
    expect(row!.rows).toBe(SHIPMENTS)
  })
})
