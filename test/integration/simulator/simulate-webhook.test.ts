import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest'
import { sign } from '../../../src/extensions/simulator/notifications/notification-body.js'
import { makeFreshHome, removeFreshHomes } from '../../support/fresh-home.js'
import { endPrograms, runCli, startCli, type ProgramOptions } from '../../support/run-cli.js'
import { WORLD_ARGUMENTS } from '../../support/simulate-cli.js'
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.js'

let receiver: WebhookReceiver
let directory: string

beforeEach(async () => {
  receiver = await startWebhookReceiver()
  directory = (await makeFreshHome()).directory
})

afterEach(async () => {
  await endPrograms()
  await receiver.close()
})

afterAll(removeFreshHomes)

interface Told {
  readonly apiUrl: string
  readonly apiKey: string
  readonly webhookSecret?: string
}

async function simulate(args: readonly string[], options: Partial<ProgramOptions>): Promise<Told> {
  const all = ['simulate', '--port', '0', '--json', '--webhook', receiver.url, ...WORLD_ARGUMENTS]
  const program = await startCli([...all, ...args], { directory, ...options })
  await program.waitFor(({ stdout }) => stdout().trimEnd().endsWith('}'))
  return JSON.parse(program.stdout()) as Told
}

/** One more shipment in the world of the other process. */
async function insertShipment({ apiUrl }: Told): Promise<void> {
  const response = await fetch(`${apiUrl.replace(/\/v2$/, '')}/simulator/edits`, {
    method: 'POST',
    body: JSON.stringify({ insert_shipments: 1 }),
  })
  expect(response.status).toBe(200)
}

it('sends what happens, signed with the secret it prints', { tags: ['release'] }, async () => {
  const told = await simulate([], {})
  expect(told.webhookSecret).toMatch(/.{16}/)
  await insertShipment(told)
  await expect.poll(() => receiver.deliveries.length).toBeGreaterThan(1)
  const [delivery] = receiver.deliveries
  expect(delivery!.data!.attributes!.event).toBe('tracking_request.succeeded')
  expect(delivery!.headers['x-svc-webhook-signature']).toBe(
    sign(delivery!.body, told.webhookSecret!),
  )
})

it('signs with the secret of a file, tells it nobody, and disturbs as it is told', async () => {
  const secret = 'canary/webhook+5e2d='
  const file = join(directory, 'secret')
  await writeFile(file, `${secret}\n`)
  const told = await simulate(['--webhook-thin', '100', '--webhook-duplicate', '100'], {
    env: { SIMULATOR_WEBHOOK_SECRET_FILE: file },
    secrets: [secret],
  })
  expect(told).not.toHaveProperty('webhookSecret')
  await insertShipment(told)
  await expect.poll(() => receiver.deliveries.length).toBeGreaterThan(3)
  for (const { headers, body, included } of receiver.deliveries) {
    expect(headers['x-svc-webhook-signature']).toBe(sign(body, secret))
    expect(included).toBeUndefined()
  }
  const ids = receiver.deliveries.map(({ data }) => data!.id)
  expect(new Set(ids).size).toBeLessThan(ids.length)
})

it('refuses a short secret, a lost file and no address', { tags: ['release'] }, async () => {
  const attempt = (address: string, env: Readonly<Record<string, string>>) =>
    runCli(['simulate', '--port', '0', '--webhook', address], { directory, env })
  const short = await attempt(receiver.url, { SIMULATOR_WEBHOOK_SECRET: 'short' })
  expect(short).toMatchObject({ exitCode: 2, stdout: '' })
  expect(short.stderr).toContain('SIMULATOR_WEBHOOK_SECRET must have at least 16 characters')
  const missing = await attempt(receiver.url, { SIMULATOR_WEBHOOK_SECRET_FILE: 'nowhere' })
  expect(missing).toMatchObject({ exitCode: 2, stdout: '' })
  expect(missing.stderr).toContain('cannot be read (ENOENT)')
  for (const address of ['nonsense', 'ftp://127.0.0.1/', 'http://user:password@127.0.0.1/']) {
    expect(await attempt(address, {})).toMatchObject({ exitCode: 2, stdout: '' })
  }
})
