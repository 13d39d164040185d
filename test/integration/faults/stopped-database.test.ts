import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { silentLogger, type Logger } from '../../../src/base/logger.js'
import { prepareSchemas } from '../../../src/warehouse/schema/prepare-schemas.js'
import { createWarehouse, type Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { emptyWarehouse } from '../../support/empty-warehouse.js'
import { atScale } from '../../support/test-scale.js'
import { openOwnServer, type OwnServer } from '../../support/own-server.js'
import { sceneOf, startService, type Scene } from '../sync/sync-scene.js'

let server: OwnServer
let warehouse: Warehouse
let adminUrl: string
let scene: Scene

beforeAll(async () => {
  server = await openOwnServer()
  const started = await server.start()
  adminUrl = started.adminUrl
  warehouse = createWarehouse({ url: started.url, schema: 'tracking', logger: silentLogger })
  await prepareSchemas(warehouse, { sleep: () => Promise.resolve() })
})

afterAll(async () => {
  await warehouse.close()
  await server.remove()
})

afterEach(() => scene.simulator.close())

/**
 * A backfill that is disturbed after its first page; `mend` is called as soon as it has noticed.
 * It goes on by itself and is complete.
 */
async function expectToGoOn(
  disturb: () => Promise<unknown>,
  mend: () => Promise<unknown>,
): Promise<void> {
  await emptyWarehouse(warehouse)
  const world = { seed: 9, shipments: 6 }
  scene = sceneOf(await startService(world), { warehouse, url: '' }, world)
  let mending: Promise<unknown> | undefined
  const logger: Logger = {
    ...silentLogger,
    warn: (message) => {
      if (message.startsWith('the database failed')) mending ??= mend()
    },
    child: () => logger,
  }
  const disturbing = new Promise<void>((resolve, reject) => {
    scene.simulator.faults.add({
      fault: {
        kind: 'transform',
        apply: (document) => {
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
  const report = await scene.sync({
    settings: { pageSize: 2 },
    logger,
    // Real pauses: a server needs its time to start again.
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  })
  await disturbing
  expect(mending).toBeDefined()
  await mending
  expect(report).toMatchObject({ exitCode: 0, outcome: 'complete', problems: [] })
  expect(await scene.differences()).toEqual([])
}

describe('PostgreSQL under a run', { tags: ['C12'] }, () => {
  const ends = [
    ['restarted without a shutdown', 'SIGQUIT'],
    ['restarted, fast', 'SIGINT'],
    ['crashed, and started again', 'SIGKILL'],
  ] as const

  it.each(ends.slice(0, atScale(1, ends.length)))('%s', { tags: ['C14'] }, async (_, signal) => {
    await expectToGoOn(
      () => server.end(signal),
      () => server.start(),
    )
  })

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

  it('read-only, as after a failover, until it can be written again', async () => {
    await expectToGoOn(
      () => setReadOnly('on'),
      () => setReadOnly('off'),
    )
  })
})
