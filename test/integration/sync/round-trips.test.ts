import pg from 'pg'
import { afterEach, expect, it, vi } from 'vitest'
import { openScene } from './sync-scene.js'

afterEach(() => {
  vi.restoreAllMocks()
})

/** A database may be a network away, and a small account's sync is then the sum of its waits. */
const MOST_WAITS = 48

/** Two lists that this account may not read, and the catalogue of events. */
const OTHERS = 3

/** Statements that were sent while nothing else of their connection was under way. */
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

it('a sync of an account that has not changed waits for the warehouse a bounded number of times', async () => {
  const scene = await openScene({ shipments: 6 })
  scene.answers.fail(/^\/custom_field/, 403)
  await scene.sync()
  await scene.sync({ command: 'sync' })
  const before = await scene.snapshot()
  const waits = countWaits()
  const waitsOf = async (pageSize: number): Promise<number> => {
    const earlier = waits()
    const report = await scene.sync({ command: 'sync', settings: { pageSize } })
    expect(report).toMatchObject({ exitCode: 0, requests: (pageSize === 100 ? 2 : 4) + OTHERS })
    return waits() - earlier
  }
  const onePage = await waitsOf(100)
  expect(onePage).toBeLessThanOrEqual(MOST_WAITS)
  // Two lists of two pages each: a position after each page, and a checkpoint before the first of
  // them.
  expect(await waitsOf(3)).toBeLessThanOrEqual(onePage + 2 * 12)
  expect(await scene.snapshot()).toEqual(before)
})
