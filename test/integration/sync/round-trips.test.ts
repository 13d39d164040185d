import pg from 'pg'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { closeScenes, openScene } from './sync-scene.js'

afterEach(async () => {
  vi.restoreAllMocks()
  await closeScenes()
})

/** A database may be a network away, and a small account's sync is then the sum of its waits. */
const MOST_WAITS = 48

/** Two lists that this account may not read, and the catalogue of events. */
const OTHERS = 3

/** A writer's transaction locks the row of the lease, which is logged. */
const CHECK_OF_LEASE = 'for key share'

interface Counts {
  /** Statements that were sent while nothing else of their connection was under way. */
  waits: number
  checksOfLease: number
}

function countStatements(): Counts {
  const counts = { waits: 0, checksOfLease: 0 }
  const underWay = new WeakMap<pg.Client, number>()
  const { query: send } = pg.Client.prototype as unknown as {
    query: (this: pg.Client, ...given: unknown[]) => Promise<unknown>
  }
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
    this: pg.Client,
    ...given: unknown[]
  ): unknown {
    const others = underWay.get(this) ?? 0
    if (others === 0) counts.waits += 1
    const [statement] = given as [string | { readonly text?: string }]
    const text = typeof statement === 'string' ? statement : statement.text
    if (text?.endsWith(CHECK_OF_LEASE) === true) counts.checksOfLease += 1
    underWay.set(this, others + 1)
    return send.apply(this, given).finally(() => {
      underWay.set(this, (underWay.get(this) ?? 1) - 1)
    })
  })
  return counts
}

describe('a sync of an account that fits on one page and has not changed', () => {
  it('waits for the warehouse a bounded number of times, and for each more page a few times more', async () => {
    const scene = await openScene({ shipments: 6 })
    scene.answers.fail(/^\/custom_field/, 403)
    await scene.sync()
    await scene.sync({ command: 'sync' })
    const before = await scene.snapshot()
    const counts = countStatements()
    const countsOf = async (pageSize: number): Promise<Counts> => {
      const earlier = { ...counts }
      const report = await scene.sync({ command: 'sync', settings: { pageSize } })
      expect(report).toMatchObject({ exitCode: 0, requests: (pageSize === 100 ? 2 : 4) + OTHERS })
      return {
        waits: counts.waits - earlier.waits,
        checksOfLease: counts.checksOfLease - earlier.checksOfLease,
      }
    }
    const onePage = await countsOf(100)
    expect(onePage.waits).toBeLessThanOrEqual(MOST_WAITS)
    expect(await countsOf(100)).toEqual(onePage)
    // Two lists of two pages each: a position after each page, and a checkpoint before the first of
    // them.
    const twoPages = await countsOf(3)
    expect(twoPages.waits).toBeLessThanOrEqual(onePage.waits + 2 * 12)
    expect(onePage.checksOfLease).toBeGreaterThan(0)
    // Those checkpoints alone are written.
    expect(twoPages.checksOfLease).toBe(onePage.checksOfLease + 2)
    expect(await scene.snapshot()).toEqual(before)
  })
})
