import { chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PANELS } from '../../../src/extensions/dashboard/dashboard-routes.js'
import { startSimulator, type Simulator } from '../../../src/extensions/simulator/server.js'
import type { WarehouseStatus } from '../../../src/status/read-status.js'
import { callProgram, type CliCall } from '../../support/call-cli.js'
import { openOwnServer, type OwnServer } from '../../support/own-server.js'
import { startCli } from '../../support/run-cli.js'

let directory: string
let simulator: Simulator
let server: OwnServer
let env: Readonly<Record<string, string>>

/**
 * A stopped server that waits for the log of another from now on: it is a standby, and only reads.
 */
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tracking-sync-standby-'))
  simulator = await startSimulator({ seed: 7, shipments: 3, speed: 0, rateLimitPerMinute: null })
  server = await openOwnServer({ settings: { wal_level: 'replica' } })
  const primary = await server.start()
  env = {
    TRACKING_API_URL: simulator.url,
    TRACKING_API_KEY: simulator.apiKey,
    TRACKING_LOG_LEVEL: 'silent',
    TRACKING_RATE_LIMIT_PER_MINUTE: '100000',
    TRACKING_WEBHOOK_SECRET: 'a-secret-that-is-long-enough-for-this',
    DATABASE_URL: primary.url,
    TRACKING_READER_URL: primary.readerUrl,
    TRACKING_API_KEY_ACME: simulator.apiKey,
    TRACKING_WEBHOOK_SECRET_ACME: 'a-secret-that-is-long-enough-for-acme',
  }
  // Its schemas are those of the other commands.
  const accounts = [{ name: 'acme', apiUrl: simulator.url, schema: 'tracking' }]
  await writeFile(join(directory, 'accounts.json'), JSON.stringify({ accounts }))
  for (const command of ['migrate --roles', 'backfill', 'sync', 'database store-views']) {
    expect(await call(command)).toMatchObject({ exitCode: 0 })
  }
  await primary.stop()
  const signalFile = join(primary.dataDirectory, 'standby.signal')
  await writeFile(signalFile, '')
  const { uid, gid } = await stat(primary.dataDirectory)
  await chown(signalFile, uid, gid)
  await server.start()
})

afterAll(async () => {
  await server.remove()
  await simulator.close()
  await rm(directory, { recursive: true, force: true })
})

/** Words are apart by spaces, or by bars where one of them has spaces. */
function call(line: string): Promise<CliCall> {
  const args = line.split(line.includes('|') ? '|' : ' ')
  return callProgram(args, { directory, env })
}

describe('a hot standby', { tags: ['JB9'] }, () => {
  it('tells its status, and names what it cannot read', async () => {
    const { exitCode, stdout, stderr } = await call('status')
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^containers +8 +0 .* complete$/m)
    for (const lack of ['the request budget', 'the stored views']) {
      expect(stdout).toContain(
        `This is a standby, which cannot read ${lack}; ask the primary server.`,
      )
    }
    const json = JSON.parse((await call('status --json')).stdout) as WarehouseStatus
    expect(json).toMatchObject({ isStandby: true, budgets: [], storedViews: [] })
    expect(json.runs).toHaveLength(2)
  })

  it.each([
    'check',
    'query data_quality',
    'query pickups --as-of 2026-03-01',
    'query|select count(*) from containers',
    'verify --sample 2',
    'plan',
    'alerts',
    'quarantine list',
    'rules export',
    'status --all --config accounts.json',
  ])('answers what only reads: %s', { tags: ['release'] }, async (line) => {
    expect(await call(line)).toMatchObject({ exitCode: 0 })
  })

  it.each([
    'sync',
    'backfill --stream shipments',
    'migrate',
    'migrate --roles',
    'database store-views',
    'webhooks replay --all',
    'webhooks reconcile',
    'quarantine drop 1',
    'custom-fields set some-id slug x',
    'serve --port 0',
    'serve --port 0 --no-receiver',
    'serve --port 0 --no-processor --no-scheduler',
    'serve --port 0 --all --config accounts.json',
    'serve --port 0 --worker --config accounts.json',
  ])('takes no writes, and says so in one sentence: %s', async (line) => {
    const { exitCode, stderr } = await call(line)
    expect({ exitCode, error: stderr }).toEqual({
      exitCode: 5,
      error:
        'error: nothing can be written here: this is a standby; use the primary server in DATABASE_URL\n',
    })
  })

  it('draws every panel of the dashboard', { tags: ['release'] }, async () => {
    const page = await startCli(['dashboard', '--port', '0'], { directory, env })
    await page.waitFor(({ stdout }) => stdout().includes('Ctrl+C'))
    const [url = ''] = /http:\S+(?=;)/.exec(page.stdout()) ?? []
    const answers = await Promise.all(
      PANELS.map(async ({ id }) => (await fetch(`${url}/panels/${id}.csv`)).status),
    )
    const pages = await Promise.all([fetch(url), fetch(`${url}/operations`)])
    const [overview = '', operations = ''] = await Promise.all(pages.map((one) => one.text()))
    page.kill('SIGTERM')
    await page.ended
    expect(answers).toEqual(PANELS.map(() => 200))
    expect(pages.map(({ status }) => status)).toEqual([200, 200])
    expect(operations).toContain('This is a standby, which cannot read the stored views')
    expect(overview + operations).not.toMatch(/The question failed|does not answer/)
  })
})
