import { afterEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../../../src/base/logger.js'
import { JsonNestingError, parseExactJson } from '../../../src/source/jsonapi/exact-json.js'
import { Health } from '../../../src/serve/health.js'
import { createWarehouse } from '../../../src/warehouse/connection/warehouse.js'
import { startHttpServer } from '../../../src/http/http-server.js'

const closers: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** Nothing else runs in this process meanwhile. */
function block(milliseconds: number): void {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}

/**
 * Blocks the loop until the monitor reports it. The monitor checks every 20 ms and restarts with
 * each question, so it misses a block that follows a question too closely; on a busy machine that
 * may happen.
 */
async function blockUntilTold(ask: () => Promise<number>): Promise<void> {
  for (let tries = 0; tries < 10; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    block(1_200)
    await new Promise((resolve) => setTimeout(resolve, 100))
    if ((await ask()) === 503) return
  }
  throw new Error('never told')
}

/** At once, unless the machine itself is as busy as that. */
async function untilAlive(ask: () => Promise<number>): Promise<void> {
  for (let tries = 0; tries < 10; tries += 1) if ((await ask()) === 200) return
  throw new Error('never alive')
}

async function openHealth(): Promise<{ health: Health; ask: () => Promise<number> }> {
  const warehouse = createWarehouse({
    url: 'postgres://me@127.0.0.1:9/nothing',
    schema: 'tracking',
    logger: silentLogger,
  })
  const health = new Health(warehouse, () => Promise.resolve(true))
  const server = await startHttpServer({
    httpPort: 0,
    logger: silentLogger,
    routes: { '/healthz': health.alive },
  })
  closers.push(
    () => warehouse.close(),
    () => {
      health.close()
    },
    () => server.stop(1_000),
  )
  return { health, ask: async () => (await fetch(`${server.url}/healthz`)).status }
}

describe('the event loop', { tags: ['S10'] }, () => {
  it('that was blocked for more than a second is told by /healthz once, and not afterwards', async () => {
    const { ask } = await openHealth()
    await untilAlive(ask)
    await blockUntilTold(ask)
    await expect(untilAlive(ask)).resolves.toBeUndefined()
  })

  it('is not held up by what is refused: deep nesting ends at the limit, however long the text', () => {
    for (const levels of [65, 1_000, 50_000, 200_000]) {
      for (const text of [
        '['.repeat(levels),
        '{"a":'.repeat(levels),
        `[${'[],'.repeat(3)}`.repeat(levels),
      ]) {
        const startedAt = performance.now()
        expect(() => parseExactJson(text)).toThrow(JsonNestingError)
        expect(performance.now() - startedAt).toBeLessThan(200)
      }
    }
  })
})
