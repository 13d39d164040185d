import pg from 'pg'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { closeScenes, openScene } from './sync-scene.js'

afterEach(async () => {
  vi.restoreAllMocks()
  await closeScenes()
})

/** A database may be a network away, and a small account's sync is then the sum of its waits. */
const MOST_STATEMENTS = 41

describe('a sync of an account that fits on one page and has not changed', () => {
  it('waits for the warehouse a bounded number of times, and for each more page a few times more', async () => {
    const scene = await openScene({ shipments: 6 })
    await scene.sync()
    await scene.sync({ command: 'sync' })
    const before = await scene.snapshot()
    const query = vi.spyOn(pg.Client.prototype, 'query')
    const statementsOf = async (pageSize: number): Promise<number> => {
      const earlier = query.mock.calls.length
      const report = await scene.sync({ command: 'sync', settings: { pageSize } })
      expect(report).toMatchObject({ exitCode: 0, requests: pageSize === 100 ? 2 : 4 })
      return query.mock.calls.length - earlier
    }
    const onePage = await statementsOf(100)
    expect(onePage).toBeLessThanOrEqual(MOST_STATEMENTS)
    expect(await statementsOf(100)).toBe(onePage)
    // Two lists of two pages each: a position after each page, and a checkpoint before the first of
    // them.
    expect(await statementsOf(3)).toBeLessThanOrEqual(onePage + 2 * 12)
    expect(await scene.snapshot()).toEqual(before)
  })
})
