import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Simulator } from '../../../src/extensions/simulator/server.js'
import { WEBHOOK_EVENT_NAMES } from '../../../src/extensions/simulator/webhooks/webhook-catalog.js'
import {
  callCli,
  callProgram,
  refusalOf,
  settingsOf,
  type CliCall,
} from '../../support/call-cli.js'
import { presetFile } from '../../support/preset-file.js'
import { startSameWorld } from '../../support/simulate-cli.js'
import { useFolder } from '../../support/temp-folder.js'

const SECRET = 'a-secret-that-only-the-service-knows'
const URL_OF_OURS = 'https://tracking.example.com/webhooks'

let simulator: Simulator
let settings: Record<string, string>

beforeEach(async () => {
  simulator = await startSameWorld({ shipments: 5 })
  settings = {
    // Nothing of this needs a database.
    ...settingsOf(simulator, 'postgres://nobody@127.0.0.1:1/nowhere'),
    TRACKING_WEBHOOK_URL: URL_OF_OURS,
    TRACKING_WEBHOOK_SECRET: SECRET,
    TRACKING_LOG_LEVEL: 'silent',
  }
})

afterEach(() => simulator.close())

async function call(...args: string[]): Promise<CliCall> {
  const output = await callCli(args, settings)
  expect(output.stdout + output.stderr).not.toContain(SECRET)
  return output
}

const storedWebhooks = () =>
  simulator.webhooks.webhooks().map(({ id, attributes }) => ({ id, ...attributes }))

const other = (url: string) => ({
  url,
  active: true,
  events: ['document.extracted'],
  secret: SECRET,
  headers: [{ name: 'x-secret-sauce', value: 'sriracha' }],
})

it('webhooks list tells which are ours, and no secret', { tags: ['S4'] }, async () => {
  expect((await call('webhooks', 'list')).stdout).toMatch(/no webhook.*webhooks create/)
  const ours = simulator.webhooks.create(other('https://TRACKING.example.com/webhooks'))
  const theirs = simulator.webhooks.create({ ...other('https://else.example.com'), secret: null })
  const list = await call('webhooks', 'list')
  expect(list).toMatchObject({ exitCode: 0, stderr: '' })
  expect(list.stdout).toMatch(
    new RegExp(`${ours.id} +https://TRACKING\\S+ +yes +1 +ours +yes$`, 'm'),
  )
  expect(list.stdout).toMatch(new RegExp(`${theirs.id} +https://else\\S+ +yes +1 +none +no$`, 'm'))
  const json = await call('webhooks', 'list', '--json', '--webhook-ids', theirs.id)
  expect(json.exitCode).toBe(6)
  // Nor that of a header.
  expect(json.stdout).not.toContain('sriracha')
  expect(JSON.parse(json.stdout)).toMatchObject([
    { webhookId: ours.id, isOurs: false, headerNames: ['x-secret-sauce'] },
    { webhookId: theirs.id, isOurs: true, hasSecret: false },
  ])
})

const WITHOUT_DOCUMENTS = presetFile({ webhooks: { events: ['-document.*'] } })

describe('webhooks create', () => {
  it('subscribes to every event we need and signs with the secret of the settings', async () => {
    const created = await call('webhooks', 'create', '--service', WITHOUT_DOCUMENTS)
    const [webhook] = storedWebhooks()
    expect(webhook).toMatchObject({
      url: URL_OF_OURS,
      active: true,
      secret: SECRET,
      events: WEBHOOK_EVENT_NAMES.filter((name) => !name.startsWith('document.')),
    })
    expect(created).toMatchObject({ exitCode: 0, stderr: '' })
    expect(created.stdout).toContain(`Webhook ${webhook!.id} created: `)
    expect(created.stdout).not.toContain('note:')
  })

  it('refuses a second one for the same address, unless it is asked for again', async () => {
    simulator.webhooks.create({ ...other(URL_OF_OURS), active: false })
    expect(await refusalOf(call('webhooks', 'create'))).toMatch(
      /^2 .*address of webhook \S+ already; switch it on with `tracking-sync webhooks enable/,
    )
    expect(storedWebhooks()).toHaveLength(1)
    expect(await call('webhooks', 'create', '--again')).toMatchObject({ exitCode: 0 })
    expect(storedWebhooks()).toHaveLength(2)
  })

  it('takes plain http on this machine, and tells what to set when the address is not that of the settings', async () => {
    const created = await call('webhooks', 'create', '--url', 'http://127.0.0.1:8080/webhooks')
    expect(created.stdout).toContain(
      'note: set TRACKING_WEBHOOK_URL=http://127.0.0.1:8080/webhooks\n',
    )
    settings.TRACKING_WEBHOOK_IDS = 'somebody'
    const json = await call('webhooks', 'create', '--json')
    const [, webhook] = storedWebhooks()
    expect(JSON.parse(json.stdout)).toMatchObject({
      webhook: { webhookId: webhook!.id, hasSecret: true },
      notes: [`add ${webhook!.id} to TRACKING_WEBHOOK_IDS`],
    })
  })
})

describe('a service that makes the secret of each webhook itself', () => {
  const folder = useFolder()
  let service: Simulator

  beforeEach(async () => {
    service = await startSameWorld({ shipments: 3, makesSecrets: true })
    settings.TRACKING_API_URL = service.url
    settings.TRACKING_API_KEY = service.apiKey
  })

  afterEach(() => service.close())

  const toldSecret = (): string => {
    const secret = service.webhooks.webhooks()[0]!.attributes!.secret
    expect(secret).toMatch(/^[0-9a-f]{64}$/)
    return secret as string
  }

  it('is told at once by every command, until it is ours', { tags: ['FF1', 'FC7'] }, async () => {
    const created = await call('webhooks', 'create')
    expect(created).toMatchObject({ exitCode: 6, stderr: '' })
    const secret = toldSecret()
    const { id } = service.webhooks.webhooks()[0]!
    const alert = `webhook ${id} with a secret of its own and not with TRACKING_WEBHOOK_SECRET, which is another one`
    const fix = `run \`tracking-sync webhooks enable ${id} --secret-file <path>\``
    const list = await call('webhooks', 'list')
    expect(list.exitCode).toBe(6)
    expect(list.stdout).toMatch(/NOT ours +yes$/m)
    const check = await call('check')
    expect(check.stdout).toMatch(/^FAIL {2}webhook/m)
    for (const { stdout } of [created, list, check]) {
      expect(stdout).toContain(alert)
      expect(stdout).toContain(fix)
      expect(stdout).not.toContain(secret)
    }
    const json = await call('webhooks', 'list', '--json')
    expect(JSON.parse(json.stdout)).toMatchObject([{ isSignedWithOurs: false }])
    expect(json.stdout).not.toContain(secret)

    settings.TRACKING_WEBHOOK_SECRET_PREVIOUS = secret
    expect(await call('webhooks', 'list')).toMatchObject({ exitCode: 0 })
    expect((await call('check')).stdout).toMatch(/^ok {4}webhook/m)
    // A masked one proves nothing.
    delete settings.TRACKING_WEBHOOK_SECRET_PREVIOUS
    service.webhooks.update(id, { secret: '************' })
    expect(await call('webhooks', 'list')).toMatchObject({ exitCode: 0 })
  })

  it('tells its secret once, or writes it for its owner alone', { tags: ['FF1'] }, async () => {
    delete settings.TRACKING_WEBHOOK_SECRET
    const file = join(folder.path, 'secret')
    const created = await call('webhooks', 'create', '--secret-file', file)
    const secret = toldSecret()
    expect(created).toMatchObject({ exitCode: 6, stderr: '' })
    expect(created.stdout).toContain(`set TRACKING_WEBHOOK_SECRET_FILE=${file}`)
    expect(created.stdout).not.toContain(secret)
    expect(await readFile(file, 'utf8')).toBe(`${secret}\n`)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const { id } = service.webhooks.webhooks()[0]!
    const shown = await call('webhooks', 'enable', id, '--show-secret')
    expect(shown.stdout).toContain(`Its secret, shown this once: ${secret}\n`)
    const again = refusalOf(call('webhooks', 'enable', id, '--secret-file', file))
    expect(await again).toMatch(/^2 .*exists already/)
    settings.TRACKING_WEBHOOK_SECRET_FILE = file
    const json = await call('webhooks', 'enable', id, '--json')
    expect(json.exitCode).toBe(0)
    expect(json.stdout).not.toContain(secret)
  })

  describe('and .env', { tags: ['JE4'] }, () => {
    const LINES = '# ours\nTRACKING_LOG_LEVEL=silent\n'
    const envFile = (): string => join(folder.path, '.env')
    const create = async (typed: string | undefined, ...more: readonly string[]) => {
      const own = { directory: folder.path, env: settings }
      const options = { ...own, ...(typed !== undefined && { typed }) }
      const output = await callProgram(['webhooks', 'create', ...more], options)
      const made = service.webhooks.webhooks().map(({ attributes }) => String(attributes?.secret))
      for (const secret of made) expect(output.stdout + output.stderr).not.toContain(secret)
      return output
    }

    beforeEach(async () => {
      delete settings.TRACKING_WEBHOOK_SECRET
      await writeFile(envFile(), LINES, { mode: 0o644 })
    })

    it('has its two lines after a yes, and keeps the secret of the one before', async () => {
      const output = await create('\r')
      expect(output).toMatchObject({ exitCode: 0 })
      expect(output.stdout).toMatch('.env has TRACKING_WEBHOOK_IDS, TRACKING_WEBHOOK_SECRET now')
      const { id } = service.webhooks.webhooks()[0]!
      const secret = toldSecret()
      expect(await readFile(envFile(), 'utf8')).toBe(
        `${LINES}TRACKING_WEBHOOK_IDS=${id}\nTRACKING_WEBHOOK_SECRET=${secret}\n`,
      )
      expect((await stat(envFile())).mode & 0o777).toBe(0o600)
      const own = { directory: folder.path, env: settings }
      const list = await callProgram(['webhooks', 'list'], own)
      expect(list).toMatchObject({ exitCode: 0, stderr: '' })
      const more = ['--write', '--url', 'https://tracking.example.com/other']
      expect(await create(undefined, ...more)).toMatchObject({ exitCode: 0 })
      const second = service.webhooks.webhooks()[1]!
      expect(await readFile(envFile(), 'utf8')).toBe(
        `${LINES}TRACKING_WEBHOOK_IDS=${id},${second.id}\n` +
          `TRACKING_WEBHOOK_SECRET=${String(second.attributes?.secret)}\n` +
          `TRACKING_WEBHOOK_SECRET_PREVIOUS=${secret}\n`,
      )
    })

    it('is left alone, and so is the service, where writing would be lost', async () => {
      settings.TRACKING_WEBHOOK_SECRET = SECRET
      const given = await refusalOf(create(undefined, '--write'))
      expect(given).toMatch(/^2 .*TRACKING_WEBHOOK_SECRET is set outside of \.env/)
      delete settings.TRACKING_WEBHOOK_SECRET
      await writeFile(envFile(), Buffer.from([...Buffer.from(LINES), 0xfc]))
      expect(await refusalOf(create(undefined, '--write'))).toMatch(/^2 .*\.env is not UTF-8/)
      await writeFile(envFile(), LINES)
      expect(await create('n\r')).toMatchObject({ exitCode: 2, stdout: '' })
      expect(await readFile(envFile(), 'utf8')).toBe(LINES)
      expect(service.webhooks.webhooks()).toEqual([])
    })
  })

  it('leaves no empty file and no webhook behind where it fails', { tags: ['FF1'] }, async () => {
    const file = join(folder.path, 'secret')
    service.faults.add({ fault: { kind: 'status', status: 403 }, times: 1 })
    expect(await call('webhooks', 'create', '--secret-file', file)).toMatchObject({ exitCode: 3 })
    expect(await readdir(folder.path)).toEqual([])
    const nowhere = join(folder.path, 'nowhere', 'secret')
    const { stderr } = await call('webhooks', 'create', '--secret-file', nowhere)
    expect(stderr).toMatch(/cannot be written \(ENOENT\)/)
    expect(service.webhooks.webhooks()).toEqual([])
  })
})

it('webhooks enable switches on, and adds events and a signature only when told to', async () => {
  const { id } = simulator.webhooks.create({ ...other(URL_OF_OURS), active: false, secret: null })
  const before = storedWebhooks()[0]!
  const unsigned = await call('webhooks', 'enable', id)
  expect(unsigned).toMatchObject({ exitCode: 6, stderr: '' })
  expect(unsigned.stdout).toMatch(/^ALERT: webhook \S+ has no secret/m)
  expect(storedWebhooks()).toEqual([{ ...before, active: true }])
  const signed = await call('webhooks', 'enable', id, '--events', '--sign')
  expect(signed).toMatchObject({ exitCode: 0, stderr: '' })
  expect(storedWebhooks()).toEqual([
    { ...before, active: true, secret: SECRET, events: WEBHOOK_EVENT_NAMES },
  ])
})

it('what the service refuses ends with 2 and its words', { tags: ['FF10'] }, async () => {
  settings.TRACKING_API_URL = simulator.url.replace(/\/v2$/, '/v3')
  expect(await refusalOf(call('webhooks', 'list'))).toMatch(
    /^2 .*404.*It says: .*Check that TRACKING_API_URL is the whole address/,
  )
})

describe('webhooks events, ips and failed', () => {
  it('prints the catalogue and what of it we need', async () => {
    const events = await call('webhooks', 'events', '--service', WITHOUT_DOCUMENTS)
    expect(events).toMatchObject({ exitCode: 0, stderr: '' })
    expect(events.stdout).toMatch(/^container-events +container.updated +yes +An attribute/m)
    expect(events.stdout).toMatch(/^document-events +document.extracted +no +/m)
    const json = JSON.parse((await call('webhooks', 'events', '--json')).stdout) as unknown[]
    expect(json).toHaveLength(WEBHOOK_EVENT_NAMES.length)
  })

  it('lists what the service has given up on', async () => {
    expect((await call('webhooks', 'failed')).stdout).toBe('No notification has failed.\n')
    const relationships = {
      reference_object: { data: { type: 'container', id: 'box' } },
      webhook: { data: { type: 'webhook', id: 'hook' } },
    }
    for (const [serial, delivery_status] of [
      [3, 'failed'],
      [2, 'succeeded'],
      [1, 'failed'],
    ]) {
      const created_at = `2026-03-02T08:00:0${serial}Z`
      const attributes = { event: 'container.updated', delivery_status, created_at }
      const record = { id: `notification-${serial}`, type: 'webhook_notification', attributes }
      simulator.webhooks.notifications.push({ ...record, relationships })
    }
    const failed = await call('webhooks', 'failed')
    expect(failed.stdout).toMatch(
      /^notification-3 +container.updated +2026-03-02T08:00:03Z +hook +container box$/m,
    )
    expect(failed.stdout).not.toContain('notification-2')
    const one = await call('webhooks', 'failed', '--json', '--limit', '1')
    expect(JSON.parse(one.stdout)).toMatchObject([{ notificationId: 'notification-3' }])
  })
})
