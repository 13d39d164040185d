import pg from 'pg'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { closeScenes, openScene } from './sync-scene.js'

afterEach(async () => {
  vi.restoreAllMocks()
  await closeScenes()
})

/** A database may be a network away, and a small account's sync is then the sum of its waits. */
const MOST_WAITS = 34

/** Counts the statements that are sent while nothing else of their connection is under way. */
function countWaits(): () => number {
  let waits = 0
  const underWay = new WeakMap<pg.Client, number>()
  const { query: send } = pg.Client.prototype as unknown as {
    query: (this: pg.Client, ...given: unknown[]) => Promise<unknown>
  }
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
    this: pg.Client,
    ...given: unknown[]
  ): unknown {
    const others = underWay.get(this) ?? 0
    if (others === 0) waits += 1
    underWay.set(this, others + 1)
    return send.apply(this, given).finally(() => {
      underWay.set(this, (underWay.get(this) ?? 1) - 1)
    })
  })
  return () => waits
}

describe('a sync of an account that fits on one page and has not changed', () => {
  it('waits for the warehouse a bounded number of times, and for each more page a few times more', async () => {
    const scene = await openScene({ shipments: 6 })
    await scene.sync()
    await scene.sync({ command: 'sync' })
    const before = await scene.snapshot()
    const waits = countWaits()
    const waitsOf = async (pageSize: number): Promise<number> => {
      const earlier = waits()
      const report = await scene.sync({ command: 'sync', settings: { pageSize } })
      expect(report).toMatchObject({ exitCode: 0, requests: pageSize === 100 ? 2 : 4 })
      return waits() - earlier
    }
    const onePage = await waitsOf(100)
    expect(onePage).toBeLessThanOrEqual(MOST_WAITS)
    expect(await waitsOf(100)).toBe(onePage)
    // Two lists of two pages each: a position after each page, and a checkpoint before the first of
    // them.
    expect(await waitsOf(3)).toBeLessThanOrEqual(onePage + 2 * 12)
    expect(await scene.snapshot()).toEqual(before)
  })
})
