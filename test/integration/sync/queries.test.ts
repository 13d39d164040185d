import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Simulator } from '../../../src/extensions/simulator/server.js'
import { createCompiler } from '../../../src/warehouse/connection/typed-statements.js'
import { rawStatement, type Statement } from '../../../src/warehouse/connection/typed-database.js'
import type { Session, Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { runTestSync } from '../../support/run-test-sync.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'
import { HOUR, startService } from './sync-scene.js'

/**
 * The statements of a first load and of the syncs after it, as PostgreSQL gets them: one file for
 * each action in `test/queries`, to be read, pasted into psql and explained. `UPDATE_QUERIES=1`
 * writes them again.
 */
const FOLDER = new URL('../../queries/', import.meta.url)

let target: TestWarehouse
let simulator: Simulator
const statements = new Map<string, Set<string>>()

beforeAll(async () => {
  // A warehouse that was used before asks for less.
  target = await createTestWarehouse()
  simulator = await startService({})
  const warehouse = recording(target.warehouse)
  const source = simulator
  await runTestSync({ warehouse, source, command: 'backfill' })
  for (let day = 1; day <= 2; day += 1) {
    simulator.clock.advance(24 * HOUR)
    await runTestSync({ warehouse, source, command: 'sync', areChecksDue: true })
  }
})

afterAll(async () => {
  await simulator.close()
  await target.drop()
})

/** Notes what goes through `query`, here and in transactions. */
function recording(warehouse: Warehouse): Warehouse {
  const { compile } = createCompiler(warehouse.names)
  const note = (action: string, text: string): void => {
    statements.set(action, (statements.get(action) ?? new Set()).add(text))
  }
  const listen = <Watched extends Session>(session: Watched): Watched => ({
    ...session,
    query: <Row>(action: string, statement: Statement<Row>) => {
      const { sql } = compile(statement)
      // Comes with time, and not with work.
      if (action === 'renew the lease') return session.query(action, statement)
      note(action, sql)
      return session.query(action, statement)
    },
    copy: (action, statement, rows) => {
      note(action, compile(statement).sql)
      return session.copy(action, statement, rows)
    },
  })
  return {
    ...listen(warehouse),
    transaction: (action, work) =>
      warehouse.transaction(action, (session) => work(listen(session))),
    unfencedTransaction: (action, work) =>
      warehouse.unfencedTransaction(action, (session) => work(listen(session))),
  }
}

const fileOf = (action: string): string => `${action.replace(/[^a-z0-9]+/gi, '-')}.sql`

describe('the statements of runs', () => {
  it('are those in test/queries', () => {
    const files = new Map(
      [...statements].map(([action, texts]) => [
        fileOf(action),
        `-- ${action}\n${[...texts]
          .sort()
          .map((text) => `\n${text};\n`)
          .join('')}`,
      ]),
    )
    if (process.env.UPDATE_QUERIES !== undefined) {
      rmSync(FOLDER, { recursive: true, force: true })
      mkdirSync(FOLDER)
      for (const [name, text] of files) writeFileSync(new URL(name, FOLDER), text)
    }
    expect(files.size).toBeGreaterThan(70)
    const stored = existsSync(FOLDER) ? readdirSync(FOLDER) : []
    expect(stored.sort(), 'UPDATE_QUERIES=1 writes them again').toEqual([...files.keys()].sort())
    for (const [name, text] of files) {
      expect(readFileSync(new URL(name, FOLDER), 'utf8'), name).toBe(text)
    }
  })

  it('can each be planned as they are', async () => {
    let planned = 0
    for (const text of [...statements.values()].flatMap((texts) => [...texts])) {
      if (!/^(?:select|with|insert|update|delete)\b/.test(text)) continue
      await target.warehouse.query('plan', rawStatement(`explain (generic_plan) ${text}`))
      planned += 1
    }
    expect(planned).toBeGreaterThan(100)
  })
})
