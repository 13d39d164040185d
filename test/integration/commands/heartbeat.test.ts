import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startSimulator, type Simulator } from '../../../src/extensions/simulator/server.js'
import { callCli, type CliCall } from '../../support/call-cli.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'

const API_KEY = 'key-of-the-account'
const SECRET_PATH = '/ping/0b1f6c1e-canary'

let opened: TestWarehouse
let simulator: Simulator
let status = 200
/** Method and path of each request that came to the monitor. */
const beats: string[] = []
const monitor = createServer((request, response) => {
  beats.push(`${request.method} ${request.url}`)
  response.writeHead(status).end('OK')
})
let monitorUrl: string

beforeAll(async () => {
  monitor.listen(0, '127.0.0.1')
  await once(monitor, 'listening')
  monitorUrl = `http://127.0.0.1:${(monitor.address() as AddressInfo).port}${SECRET_PATH}`
  opened = await createTestWarehouse()
  simulator = await startSimulator({
    shipments: 2,
    speed: 0,
    rateLimitPerMinute: null,
    apiKey: API_KEY,
  })
})
afterAll(async () => {
  await simulator.close()
  await opened.drop()
  monitor.closeAllConnections()
  monitor.close()
})

async function run(args: readonly string[], more: Readonly<Record<string, string>> = {}) {
  beats.length = 0
  const call: CliCall = await callCli(args, {
    TRACKING_API_URL: simulator.url,
    TRACKING_API_KEY: API_KEY,
    TRACKING_HEARTBEAT_URL: monitorUrl,
    DATABASE_URL: opened.url,
    ...more,
  })
  expect(`${call.stdout}${call.stderr}`).not.toContain('canary')
  return { ...call, beats: [...beats] }
}

it('a monitor hears of each run and of how it ended', { tags: ['JS2', 'release'] }, async () => {
  const complete = `GET ${SECRET_PATH}`
  expect(await run(['backfill'])).toMatchObject({ exitCode: 0, beats: [complete] })
  expect(await run(['sync'])).toMatchObject({ exitCode: 0, beats: [complete] })
  // A run of a part says nothing about the whole.
  expect(await run(['backfill', '--stream', 'shipments'])).toMatchObject({ exitCode: 0, beats: [] })

  const refused = await run(['sync', '--accept-account'], { TRACKING_API_KEY: 'another-key' })
  expect(refused).toMatchObject({ exitCode: 3, beats: [`${complete}/fail`] })
  const query = { TRACKING_HEARTBEAT_URL: `${monitorUrl}/?rid=7` }
  const away = await run(['sync'], { ...query, DATABASE_URL: 'postgres://me:pw@127.0.0.1:1/none' })
  expect(away).toMatchObject({ exitCode: 5, beats: [`${complete}/fail?rid=7`] })
})

it('a monitor that refuses or is away changes nothing of the run', { tags: ['JS2'] }, async () => {
  status = 500
  const refused = await run(['sync'])
  expect(refused).toMatchObject({ exitCode: 0, beats: [`GET ${SECRET_PATH}`] })
  expect(refused.stderr).toContain('the heartbeat did not arrive; check TRACKING_HEARTBEAT_URL')
  const away = await run(['sync'], { TRACKING_HEARTBEAT_URL: 'http://127.0.0.1:1/canary' })
  expect(away.exitCode).toBe(0)
  expect(away.stderr).toContain('ECONNREFUSED')
})
