import { expect, it, onTestFinished } from 'vitest'
import { atScale } from '../../support/test-scale.js'
import { endPrograms } from '../../support/run-cli.js'
import { runMeasured } from './cli-peak.js'
import { openFaultScene } from './fault-scene.js'

/**
 * Two containers and thirty transport events each: their documents alone are several times the heap
 * that is allowed.
 */
const SHIPMENTS = atScale(250, 3_000)
const HEAP_MIB = 48

// 60,000 containers in 256 MiB: npm run bench:memory -- 30000 256.
it(`${SHIPMENTS} shipments fit into ${HEAP_MIB} MiB`, { tags: ['C21'] }, async () => {
  const scene = await openFaultScene({ shipments: SHIPMENTS })
  onTestFinished(endPrograms)
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
  expect(await scene.count('tracking.shipments')).toBe(SHIPMENTS)
})
