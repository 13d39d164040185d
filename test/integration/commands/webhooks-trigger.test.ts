import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { chooseFreePort } from '../../../src/extensions/embedded-postgres/server-process.js'
import type { Simulator } from '../../../src/extensions/simulator/server.js'
import { DEFAULT_SIGNATURE } from '../../support/test-receiver.js'
import { callCli, settingsOf, type CliCall } from '../../support/call-cli.js'
import { startWebhookReceiver } from '../../support/webhook-receiver.js'
import { startSameWorld } from '../../support/simulate-cli.js'
import { presetFile } from '../../support/preset-file.js'

const SECRET = 'a-secret-that-only-the-service-knows'

let simulator: Simulator
let httpPort: number
let settings: Record<string, string>

beforeAll(async () => {
  simulator = await startSameWorld({ shipments: 5, allowInsecureTrigger: true })
})

afterAll(async () => {
  await simulator.close()
})

beforeEach(async () => {
  simulator.requests.reset()
  httpPort = await chooseFreePort([], new Set())
  settings = {
    // Nothing is stored, so nothing of this needs a database.
    ...settingsOf(simulator, 'postgres://nobody@127.0.0.1:1/nowhere'),
    TRACKING_WEBHOOK_URL: `http://127.0.0.1:${httpPort}/webhooks`,
    TRACKING_WEBHOOK_SECRET: SECRET,
    PORT: String(httpPort),
    TRACKING_LOG_LEVEL: 'silent',
  }
})

async function trigger(...args: string[]): Promise<CliCall> {
  const output = await callCli(['webhooks', 'trigger', ...args], settings)
  expect(output.stdout + output.stderr).not.toContain(SECRET)
  return output
}

/** The step that failed: its name and what it says. */
function failure({ exitCode, stdout }: CliCall): string | undefined {
  expect(exitCode).not.toBe(0)
  return /^FAIL {2}(.*)$/m.exec(stdout)?.[1]
}

describe('webhooks trigger, the test of the whole way', () => {
  it('passes where the sample comes signed, and says so step by step', async () => {
    const output = await trigger('--event', 'container.updated')
    expect(output).toMatchObject({ exitCode: 0, stderr: '' })
    const passed = [...output.stdout.matchAll(/^ok {4}(\w+)/gm)].map(([, step]) => step)
    expect(passed.join()).toBe('listen,secret,trigger,delivery,signature,body')
    expect(output.stdout).toContain('of container.updated; nothing was stored')
    const json = JSON.parse((await trigger('--json')).stdout) as { steps: unknown[] }
    expect(json).toMatchObject({ isPassed: true })
    expect(json.steps).toHaveLength(6)
  })

  it('finds the right form when the preset says another', async () => {
    const changes = { algorithm: 'sha512', encoding: 'base64', prefix: 'sha256=' } as const
    const signature = { header: 'X-Other-Signature', ...changes }
    settings.TRACKING_SERVICE = presetFile({ webhooks: { signature } })
    expect(failure(await trigger())).toMatch(
      /signature .*"signature": {"header":"x-svc-webhook-signature","algorithm":"sha256","encoding":"hex","prefix":""}$/i,
    )
  })

  it('says where nothing arrives, or at a path that `serve` would not know', async () => {
    settings.TRACKING_WEBHOOK_URL = `http://127.0.0.1:${httpPort}/hooks/tracking`
    expect(failure(await trigger())).toMatch(
      /came to \/hooks\/tracking.*TRACKING_WEBHOOK_PATH=\/hooks\/track/,
    )
    settings.TRACKING_WEBHOOK_URL = 'http://127.0.0.1:1/webhooks'
    expect(failure(await trigger('--timeout', '1'))).toMatch(
      `delivery  nothing arrived within 1 s: see that http://127.0.0.1:1/webhooks leads to 127.0.0.1:${httpPort}/webhooks`,
    )
  })

  it('says what to do when `serve` has the port, and asks the service nothing', async () => {
    const server = createServer().listen(httpPort, '127.0.0.1')
    await once(server, 'listening')
    expect(failure(await trigger())).toMatch(
      /is in use.*webhooks trigger --to http:\/\/127.0.0.1:\d+\/webhooks/,
    )
    expect(simulator.requests.recent).toEqual([])
    const free = await chooseFreePort([], new Set([httpPort]))
    settings.TRACKING_WEBHOOK_URL = `http://127.0.0.1:${free}/webhooks`
    expect(await trigger('--listen', `127.0.0.1:${free}`)).toMatchObject({ exitCode: 0 })
    server.close()
    await once(server, 'close')
  })

  it('fails where real deliveries have another secret', { tags: ['FF1', 'FC7'] }, async () => {
    const secret = 'made-by-the-service-0123456789'
    const events = ['container.updated']
    const url = settings.TRACKING_WEBHOOK_URL!
    const { id } = simulator.webhooks.create({ url, active: true, events, secret, headers: [] })
    try {
      const refused = await trigger()
      expect(refused.exitCode).toBe(6)
      expect(failure(refused)).toMatch(`enable ${id} --secret-file`)
      expect(refused.stdout).not.toContain(secret)
      settings.TRACKING_WEBHOOK_SECRET_PREVIOUS = secret
      const passed = await trigger()
      expect(passed.exitCode).toBe(0)
      expect(passed.stdout).toContain(`webhook ${id} signs with TRACKING_WEBHOOK_SECRET`)
      expect(passed.stdout).not.toContain(secret)
    } finally {
      simulator.webhooks.remove(id)
    }
  })

  it('answers 503 to real deliveries meanwhile, which the service sends again', async () => {
    const body = '{"data":{"id":"real"}}'
    const signature = createHmac('sha256', SECRET).update(body).digest('hex')
    const headers = { [DEFAULT_SIGNATURE.header]: signature }
    const statuses: number[] = []
    const { onTrigger } = simulator.webhooks
    simulator.webhooks.onTrigger = (sample) => {
      void fetch(settings.TRACKING_WEBHOOK_URL!, { method: 'POST', body, headers }).then((real) => {
        statuses.push(real.status)
        onTrigger(sample)
      })
    }
    expect(await trigger()).toMatchObject({ exitCode: 0 })
    simulator.webhooks.onTrigger = onTrigger
    expect(statuses).toEqual([503])
  })
})

describe('webhooks trigger --to', () => {
  it('only has a sample sent there, signed with the secret of the settings', async () => {
    const receiver = await startWebhookReceiver()
    const output = await trigger('--to', receiver.url)
    expect(output).toMatchObject({ exitCode: 0, stderr: '' })
    expect(output.stdout).toMatch(/signed with TRACKING_WEBHOOK_SECRET\.\n$/)
    await expect.poll(() => receiver.deliveries.length).toBe(1)
    const [{ headers, body }] = receiver.deliveries as [(typeof receiver.deliveries)[number]]
    const signature = createHmac('sha256', SECRET).update(body).digest('hex')
    expect(headers['x-svc-webhook-signature']).toBe(signature)
    await receiver.close()
  })

  it('refuses to have data sent in the clear', async () => {
    const output = await trigger('--to', 'http://tracking.example.com/webhooks')
    expect(output).toMatchObject({ exitCode: 2, stdout: '' })
    expect(simulator.requests.recent).toEqual([])
  })
})
