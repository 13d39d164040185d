import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { silentLogger, type Logger } from '../../../src/base/logger.js'
import { startSimulator, type Simulator } from '../../../src/extensions/simulator/server.js'
import type { RunReport } from '../../../src/sync/run-sync.js'
import { prepareSchemas } from '../../../src/warehouse/schema/prepare-schemas.js'
import { createWarehouse, type Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { compareWarehouse } from '../../support/compare-warehouse.js'
import { holdOldest } from '../../support/small-world.js'
import { emptyWarehouse } from '../../support/empty-warehouse.js'
import { atScale } from '../../support/test-scale.js'
import { openOwnServer, type OwnServer } from '../../support/own-server.js'
import { runTestSync } from '../../support/run-test-sync.js'
import { START } from '../sync/sync-scene.js'

let server: OwnServer
let url: string
let warehouse: Warehouse
let adminUrl: string
let simulator: Simulator

beforeAll(async () => {
  server = await openOwnServer()
  const started = await server.start()
  url = started.url
  adminUrl = started.adminUrl
  warehouse = openWarehouse()
  await prepareSchemas(warehouse, { sleep: () => Promise.resolve() })
})

afterAll(async () => {
  await warehouse.close()
  await server.remove()
})

afterEach(() => simulator.close())

function openWarehouse(statementTimeoutMs?: number): Warehouse {
  const schema = { url, schema: 'tracking', logger: silentLogger }
  return createWarehouse({
    ...schema,
    ...(statementTimeoutMs === undefined ? {} : { statementTimeoutMs }),
  })
}

interface Disturbed {
  readonly report: RunReport
  /** Milliseconds from the disturbance to the first try again. */
  readonly noticedAfterMs: number | undefined
}

/**
 * A backfill that is disturbed after its first page. `mend` is called as soon as it has noticed.
 */
async function runDisturbed(
  disturb: () => Promise<unknown>,
  mend: () => Promise<unknown>,
  own: Warehouse = warehouse,
): Promise<Disturbed> {
  await emptyWarehouse(warehouse)
  simulator = await startSimulator({
    seed: 9,
    shipments: 6,
    startAt: START,
    speed: 0,
    rateLimitPerMinute: null,
  })
  holdOldest(simulator)
  let disturbedAt: number | undefined
  let noticedAfterMs: number | undefined
  let working: Promise<unknown> | undefined
  const logger: Logger = {
    ...silentLogger,
    warn: (message) => {
      if (noticedAfterMs !== undefined || !message.startsWith('the database failed')) return
      noticedAfterMs = performance.now() - (disturbedAt ?? NaN)
      working = mend()
    },
    child: () => logger,
  }
  const disturbing = new Promise<void>((resolve, reject) => {
    simulator.faults.add({
      fault: {
        kind: 'transform',
        apply: (document) => {
          disturbedAt = performance.now()
          void disturb().then(() => {
            resolve()
          }, reject)
          return document
        },
      },
      match: ({ query }) => query.get('page[number]') === '2',
      times: 1,
    })
  })
  const report = await runTestSync({
    warehouse: own,
    source: simulator,
    settings: { pageSize: 2 },
    logger,
    // Real pauses: a server needs its time to start again.
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  })
  await disturbing
  await working
  return { report, noticedAfterMs }
}

async function expectAllThere(): Promise<void> {
  const { world, clock } = simulator
  expect(await compareWarehouse(warehouse, world, clock.now())).toEqual([])
}

describe('PostgreSQL under a run', { tags: ['C12'] }, () => {
  const ends = [
    ['restarted without a shutdown', 'SIGQUIT'],
    ['restarted, fast', 'SIGINT'],
    ['crashed, and started again', 'SIGKILL'],
  ] as const

  it.each(ends.slice(0, atScale(1, ends.length)))(
    '%s: the run goes on by itself and is complete',
    { tags: ['release'] },
    async (_, signal) => {
      const { report, noticedAfterMs } = await runDisturbed(
        () => server.end(signal),
        () => server.start(),
      )
      expect(noticedAfterMs).toBeDefined()
      expect(report).toMatchObject({ exitCode: 0, outcome: 'complete', problems: [] })
      await expectAllThere()
    },
  )

  const setReadOnly = async (value: 'on' | 'off'): Promise<void> => {
    const admin = new pg.Client({ connectionString: adminUrl })
    await admin.connect()
    try {
      await admin.query(`alter system set default_transaction_read_only = ${value}`)
      await admin.query('select pg_reload_conf()')
    } finally {
      await admin.end()
    }
  }

  it('read-only, as after a failover: the run goes on when it can be written again', async () => {
    const { report, noticedAfterMs } = await runDisturbed(
      () => setReadOnly('on'),
      () => setReadOnly('off'),
    )
    expect(noticedAfterMs).toBeDefined()
    expect(report).toMatchObject({ exitCode: 0, outcome: 'complete', problems: [] })
    await expectAllThere()
  })
})
