import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterEach, expect, it, onTestFinished } from 'vitest'
import { selectRows } from '../../support/look-at-cli-rows.js'
import { endPrograms, runCli, startCli, waitUntil } from '../../support/run-cli.js'
import { startSameWorld } from '../../support/simulate-cli.js'
import { useFolder } from '../../support/temp-folder.js'
import { createTestDatabase } from '../../support/test-database.js'
import { DEFAULT_SIGNATURE, notificationBody, signBody } from '../../support/test-receiver.js'

const SECRETS = { acme: 'whsec-of-acme-5be1f0', sea: 'whsec-of-sea-77c0d1' }

/** Roles are the server's, not the database's: other runs may have theirs. */
const WORKER = `worker_${process.pid}`
const PASSWORD = 'of-the-worker-3f9c'
/** Also those of the roles of writers and readers. */
const SCHEMAS = ['acme', 'sea'].map((account) => `tracking_${account}`)

const folder = useFolder('file')
/** A login with the rights that docs/accounts.md shows, and no others. */
async function makeWorkerLogin(databaseUrl: string): Promise<string> {
  const page = await readFile(fileURLToPath(new URL('../../../docs/accounts.md', import.meta.url)))
  const [, shown = ''] = /## Rights\n[^]*?```sql\n([^]*?)```/.exec(page.toString()) ?? []
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const query = (sqlText: string): Promise<unknown> => client.query(sqlText)
  const roles = SCHEMAS.flatMap((schema) => [`${schema}_writer`, `${schema}_reader`])
  onTestFinished(async () => {
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

afterEach(endPrograms)

it('a worker applies what came for an account', { tags: ['C24', 'JB7', 'release'] }, async () => {
  const database = await createTestDatabase()
  onTestFinished(() => database.drop())
  const directory = folder.path
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
    const simulator = await startSameWorld({ seed: at + 1, shipments: 1, apiKey })
    onTestFinished(() => simulator.close())
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
    const text = `select state from ${schema}_sync.webhook_notifications`
    return (await selectRows<{ state: string }>(database.url, text)).map(({ state }) => state)
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
