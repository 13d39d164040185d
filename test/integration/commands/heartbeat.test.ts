import { afterAll, beforeAll, expect, it } from 'vitest'
import { callCli, settingsOf } from '../../support/call-cli.js'
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.js'
import { closeScenes, openScene, type Scene } from '../sync/sync-scene.js'

const SECRET_PATH = '/ping/0b1f6c1e-canary'
const TOLD = `GET ${SECRET_PATH}`

let scene: Scene
let monitor: WebhookReceiver
let monitorUrl: string

beforeAll(async () => {
  monitor = await startWebhookReceiver()
  monitorUrl = new URL(SECRET_PATH, monitor.url).href
  scene = await openScene({ shipments: 2 })
})
afterAll(async () => {
  await closeScenes()
  await monitor.close()
})

async function run(args: readonly string[], more: Readonly<Record<string, string>> = {}) {
  monitor.deliveries.length = 0
  const call = await callCli(args, {
    ...settingsOf(scene.simulator, scene.url),
    TRACKING_HEARTBEAT_URL: monitorUrl,
    ...more,
  })
  expect(`${call.stdout}${call.stderr}`).not.toContain('canary')
  return { ...call, beats: monitor.deliveries.map(({ line }) => line) }
}

it('a monitor hears of each run and of how it ended', { tags: ['JS2', 'release'] }, async () => {
  expect(await run(['backfill'])).toMatchObject({ exitCode: 0, beats: [TOLD] })
  expect(await run(['sync'])).toMatchObject({ exitCode: 0, beats: [TOLD] })
  // A run of a part says nothing about the whole.
  expect(await run(['backfill', '--stream', 'shipments'])).toMatchObject({ exitCode: 0, beats: [] })

  const refused = await run(['sync', '--accept-account'], { TRACKING_API_KEY: 'another-key' })
  expect(refused).toMatchObject({ exitCode: 3, beats: [`${TOLD}/fail`] })
  const query = { TRACKING_HEARTBEAT_URL: `${monitorUrl}/?rid=7` }
  const away = await run(['sync'], { ...query, DATABASE_URL: 'postgres://me:pw@127.0.0.1:1/none' })
  expect(away).toMatchObject({ exitCode: 5, beats: [`${TOLD}/fail?rid=7`] })
})

it('a monitor that refuses or is away changes nothing of the run', { tags: ['JS2'] }, async () => {
  monitor.answer = () => 500
  const refused = await run(['sync'])
  expect(refused).toMatchObject({ exitCode: 0, beats: [TOLD] })
  expect(refused.stderr).toContain('the heartbeat did not arrive; check TRACKING_HEARTBEAT_URL')
  const away = await run(['sync'], { TRACKING_HEARTBEAT_URL: 'http://127.0.0.1:1/canary' })
  expect(away.exitCode).toBe(0)
  expect(away.stderr).toContain('ECONNREFUSED')
})
