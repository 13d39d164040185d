import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { chooseFreePort } from '../../../src/extensions/embedded-postgres/server-process.js'
import { endPrograms } from '../../support/run-cli.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'
import { startWebhookReceiver, type ReceivedDelivery } from '../../support/webhook-receiver.js'
import {
  countAnswers,
  deliverRest,
  expectEverythingOnce,
  openCrashScene,
  sendRound,
  startServing,
  waitUntilApplied,
} from './crash-scene.js'

const ROUNDS = 20
const COPIES = 10

const closers: (() => Promise<unknown>)[] = []
let target: TestWarehouse

beforeAll(async () => {
  target = await createTestWarehouse()
})

afterAll(() => target.drop())

afterEach(async () => {
  await endPrograms()
  for (const close of closers.splice(0).reverse()) await close()
})

/**
 * The same delivery, several times at once, to each of the addresses in turn. Resolves with the
 * worst status.
 */
async function sendCopies(
  { headers, body }: ReceivedDelivery,
  urls: readonly string[],
): Promise<number> {
  const { 'content-type': type = '', 'x-svc-webhook-signature': signature } = headers
  const statuses = Array.from({ length: COPIES }, async (_, copy) => {
    const answer = await fetch(urls[copy % urls.length] ?? '', {
      method: 'POST',
      headers: { 'content-type': type, 'x-svc-webhook-signature': String(signature) },
      body: new Uint8Array(body),
    })
    await answer.arrayBuffer()
    return answer.status
  })
  return Math.max(...(await Promise.all(statuses)))
}

describe('two serve processes on one warehouse', { tags: ['D1', 'I6'] }, () => {
  it('process each notification once, though each comes ten times at once to both', async () => {
    const first = await chooseFreePort([], new Set())
    const ports = [first, await chooseFreePort([], new Set([first]))]
    const scene = await openCrashScene({
      number: 1,
      warehouse: target.warehouse,
      databaseUrl: target.url,
      httpPort: first,
    })
    closers.push(() => scene.simulator.close())
    const programs = await Promise.all(
      ports.map((httpPort) => startServing({ ...scene, httpPort }, 'all')),
    )
    const relay = await startWebhookReceiver()
    closers.push(() => relay.close())
    const urls = ports.map((port) => `http://127.0.0.1:${port}/webhooks`)
    relay.answer = (delivery, response) => {
      void sendCopies(delivery, urls)
        .catch(() => 500)
        .then((status) => response.writeHead(status).end())
      return undefined
    }
    scene.simulator.webhooks.update(scene.webhookId, { url: relay.url })
    for (let round = 0; round < ROUNDS; round += 1) await sendRound(scene)
    await deliverRest(scene)
    await waitUntilApplied(scene)
    for (const program of programs) {
      program.kill('SIGTERM')
      expect(await program.ended).toMatchObject({ exitCode: 0, stderr: '' })
    }
    expect([...countAnswers(scene).keys()]).toEqual([202])
    const [inbox] = await target.warehouse.query(
      'count notifications',
      sql<{ rows: number }>`select count(*)::int as rows from tracking_sync.webhook_notifications`,
    )
    expect(inbox?.rows).toBeGreaterThanOrEqual(4 * ROUNDS)
    await expectEverythingOnce(scene)
  })
})
