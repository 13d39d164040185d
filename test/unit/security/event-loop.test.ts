import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { Health } from '../../../src/serve/health.js'
import type { Warehouse } from '../../../src/warehouse/connection/warehouse.js'

/** Nothing else runs in this process meanwhile. */
function block(milliseconds: number): void {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 100))

it('a blocked event loop is told once', { tags: ['S10'] }, async () => {
  const health = new Health({} as Warehouse, () => Promise.resolve(true))
  onTestFinished(() => {
    health.close()
  })
  /**
   * The monitor looks every 20 ms and starts over with each question: it misses a block that
   * follows one too closely, and a busy machine may block by itself.
   */
  const untilAnswered = async (status: number, work?: () => Promise<void>): Promise<void> => {
    for (let tries = 0; tries < 10; tries += 1) {
      await work?.()
      const response = new ServerResponse(new IncomingMessage(new Socket()))
      await health.alive.handle(response.req, response)
      if (response.statusCode === status) return
    }
    throw new Error(`never ${status}`)
  }
  await untilAnswered(200)
  await untilAnswered(503, async () => {
    await pause()
    block(1_200)
    await pause()
  })
  await expect(untilAnswered(200)).resolves.toBeUndefined()
})
