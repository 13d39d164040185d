import { sql } from 'kysely'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../../../src/base/logger.js'
import { startSimulator } from '../../../src/extensions/simulator/server.js'
import { createWarehouse } from '../../../src/warehouse/connection/warehouse.js'
import { endPrograms, runCli, startCli, waitUntil } from '../../support/run-cli.js'
import { createTestDatabase } from '../../support/test-database.js'
import { DEFAULT_SIGNATURE, notificationBody, signBody } from '../../support/test-receiver.js'
import { START } from '../sync/sync-scene.js'
import { tableRef } from '../../../src/warehouse/connection/typed-database.js'

const SECRETS = { acme: 'whsec-of-acme-5be1f0', sea: 'whsec-of-sea-77c0d1' }

/** Roles are the server's, not the database's: other runs may have theirs. */
const WORKER = `worker_${process.pid}`
const PASSWORD = 'of-the-worker-3f9c'
/** Also those of the roles of writers and readers. */
const SCHEMAS = ['acme', 'sea'].map((account) => `tracking_${account}`)

const closers: (() => Promise<unknown>)[] = []

/** A login with the rights that docs/accounts.md shows, and no others. */
async function makeWorkerLogin(databaseUrl: string): Promise<string> {
  const page = await readFile(fileURLToPath(new URL('../../../docs/accounts.md', import.meta.url)))
  const [, shown = ''] = /## Rights\n[^]*?```sql\n([^]*?)```/.exec(page.toString()) ?? []
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const query = (sqlText: string): Promise<unknown> => client.query(sqlText)
  const roles = SCHEMAS.flatMap((schema) => [`${schema}_writer`, `${schema}_reader`])
  closers.push(async () => {
    for (const role of [WORKER, ...roles]) await query(`drop owned by ${role}; drop role ${role}`)
    await client.end()
  })
  await query(`create role ${WORKER} login password '${PASSWORD}'`)
  for (const schema of SCHEMAS) await query(`grant ${schema}_writer to ${WORKER}`)
  await query(shown.replaceAll('worker', WORKER))
  const url = new URL(databaseUrl)
  url.username = WORKER
  url.password = PASSWORD
  return url.href
}

afterEach(() => endPrograms())

afterAll(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

describe('serve for every account', { tags: ['C24', 'JB7', 'release'] }, () => {
  it('stores a delivery for its account, and a worker with few rights applies it at once', async () => {
    const database = await createTestDatabase()
    closers.push(() => database.drop())
    const directory = await mkdtemp(join(tmpdir(), 'tracking-sync-accounts-'))
    closers.push(() => rm(directory, { recursive: true, force: true }))
    await mkdir(join(directory, 'config'))
    const accounts = []
    const env: Record<string, string> = {
      DATABASE_URL: database.url,
      PORT: '0',
      TRACKING_PAGES_PORT: '0',
      TRACKING_LOG_LEVEL: 'warn',
      TRACKING_WEBHOOK_SECRET_ACME: SECRETS.acme,
      TRACKING_WEBHOOK_SECRET_SEA: SECRETS.sea,
    }
    for (const [at, name] of ['acme', 'sea'].entries()) {
      const apiKey = `the-key-of-${name}-17`
      const simulator = await startSimulator({
        seed: at + 1,
        shipments: 1,
        startAt: START,
        speed: 0,
        rateLimitPerMinute: null,
        apiKey,
      })
      closers.push(() => simulator.close())
      env[`TRACKING_API_KEY_${name.toUpperCase()}`] = apiKey
      accounts.push({ name, apiUrl: simulator.url, webhookIds: 'a-webhook' })
    }
    const file = join(directory, 'config', 'tracking-sync.json')
    await writeFile(file, JSON.stringify({ accounts }))
    const secrets = [...Object.values(SECRETS), PASSWORD]
    const options = { directory, env, secrets }
    expect(await runCli(['migrate', '--all', '--roles'], options)).toMatchObject({ exitCode: 0 })
    const workerUrl = await makeWorkerLogin(database.url)
    const receiver = await startCli(['serve', '--all', '--no-processor', '--no-scheduler'], options)
    await receiver.waitFor(({ stdout }) => stdout().includes('webhooks at'))
    const [url = '', pagesUrl = ''] = receiver.stdout().match(/http:\/\/[\d.]+:\d+/g)!
    const post = async (path: string, body: string, secret: string): Promise<number> => {
      const headers = {
        'content-type': 'application/json',
        [DEFAULT_SIGNATURE.header]: signBody(body, secret),
      }
      const answer = await fetch(`${url}/webhooks/${path}`, { method: 'POST', headers, body })
      await answer.arrayBuffer()
      return answer.status
    }
    const body = notificationBody()
    await waitUntil('it is stored', async () => (await post('acme', body, SECRETS.acme)) === 202)
    expect(await post('sea', body, SECRETS.acme)).not.toBe(202)
    expect(await post('nobody', body, SECRETS.acme)).toBe(404)
    const states = async (schema: string): Promise<string[]> => {
      const warehouse = createWarehouse({ url: database.url, schema, logger: silentLogger })
      try {
        const rows = await warehouse.query(
          'look',
          sql<{ state: string }>`select state from ${tableRef('sync.webhook_notifications')}`,
        )
        return rows.map(({ state }) => state)
      } finally {
        await warehouse.close()
      }
    }
    // It only receives.
    expect(await states('tracking_acme')).toEqual(['received'])
    const worker = await startCli(['serve', '--worker'], {
      ...options,
      env: {
        ...env,
        DATABASE_URL: workerUrl,
        TRACKING_MIGRATE: 'false',
        TRACKING_STRICT: 'true',
      },
    })
    await waitUntil(
      'it is applied',
      async () => !(await states('tracking_acme')).includes('received'),
    )
    await waitUntil('the other account is there too', async () => {
      const text = await (await fetch(`${pagesUrl}/metrics`)).text()
      return /account_sync_age_seconds\{account="sea"\} \d/.test(text)
    })
    expect(await states('tracking_sea')).toEqual([])
    await waitUntil('the metrics of a moment ago are renewed', async () => {
      const text = await (await fetch(`${pagesUrl}/metrics`)).text()
      return (
        text.includes('account_deliveries_total{account="acme",result="stored"} 1') &&
        text.includes('account_deliveries_total{account="",result="refused_path"} 1') &&
        text.includes('account_sync_late{account="acme"} 0')
      )
    })
    for (const program of [worker, receiver]) {
      program.kill('SIGTERM')
      expect((await program.ended).exitCode).toBe(0)
    }
  })
})
