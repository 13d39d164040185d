import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createCanaryScanner } from '../support/canary-scanner.js'
import { lookAt } from '../support/look-at-cli-rows.js'
import { callProgram, type CliCall } from '../support/call-cli.js'
import { runCli, waitUntil, type ProgramOptions, type ProgramResult } from '../support/run-cli.js'
import { startSmtpReceiver, type SmtpReceiver } from '../support/smtp-receiver.js'
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js'
import { closeServeScenes, openServeScene, type ServeScene } from './serve-scene.js'

const SIGNING = 'canary/sign+4d2b='
const PATH = '/services/T0CANARY/B0CANARY/canary8a61'
const MAIL_PASSWORD = 'canary/mail+90ce='

let scene: ServeScene
let receiver: WebhookReceiver
let smtp: SmtpReceiver
let channels: Record<string, string>

beforeAll(async () => {
  scene = await openServeScene()
  receiver = await startWebhookReceiver()
  smtp = await startSmtpReceiver()
  const { origin } = new URL(receiver.url)
  channels = {
    TRACKING_ALERT_WEBHOOK_URL: receiver.url,
    TRACKING_ALERT_WEBHOOK_SECRET: SIGNING,
    TRACKING_ALERT_SLACK_URL: `${origin}${PATH}/slack`,
    TRACKING_ALERT_TEAMS_URL: `${origin}${PATH}/teams?sig=canary77`,
    TRACKING_ALERT_SMTP_URL: `smtp://robot:${encodeURIComponent(MAIL_PASSWORD)}@127.0.0.1:${smtp.port}`,
    TRACKING_ALERT_SMTP_FROM: 'alerts@example.com',
    TRACKING_ALERT_SMTP_TO: 'a@example.com, b@example.com',
    // Only what a test makes.
    TRACKING_ALERT_KINDS: 'TrackingSyncQuarantine',
  }
  expect((await call(['backfill'])).exitCode).toBe(0)
}, 120_000)
beforeEach(() => {
  receiver.deliveries.length = 0
  receiver.answer = () => 200
})
afterAll(async () => {
  await receiver.close()
  await smtp.close()
  await closeServeScenes()
})

const SECRETS = [SIGNING, MAIL_PASSWORD, `${PATH}/slack`, `${PATH}/teams?sig=canary77`]

const withEnv = (env: Record<string, string>): ProgramOptions => ({
  ...scene.options,
  secrets: SECRETS,
  env: { ...scene.options.env, ...env },
})

/** In a process of its own: it starts another one. */
const run = (args: readonly string[], env: Record<string, string> = {}): Promise<ProgramResult> =>
  runCli(args, withEnv(env))

const call = (args: readonly string[], env: Record<string, string> = {}): Promise<CliCall> =>
  callProgram(args, withEnv(env))

const setAside = (hash: string) =>
  scene.select(
    `insert into tracking_sync.quarantine (stream, reason, pointer, payload, payload_hash, source)
    values ('shipments', 'no id', '', '{}', '${hash}', 'test') returning quarantine_id`,
  )

const messages = () =>
  scene.select(
    `select channel, event, state from tracking_sync.alert_messages order by channel, created_at`,
  )

describe('alerts', () => {
  it('are tried out through every channel that is set', async () => {
    const none = await call(['alerts', 'test'])
    expect(none.exitCode).toBe(2)
    expect(none.stderr).toContain('TRACKING_ALERT_WEBHOOK_URL is not set')
    const all = await call(['alerts', 'test'], channels)
    expect(all.exitCode).toBe(0)
    expect(all.stdout.trim().split('\n')).toHaveLength(4)
    expect(receiver.deliveries).toHaveLength(3)
    expect(smtp.mails.map(({ login, to }) => ({ login, to }))).toEqual([
      { login: `robot:${MAIL_PASSWORD}`, to: ['a@example.com', 'b@example.com'] },
    ])
    // The answer of a receiver may contain its own address.
    receiver.answer = (_delivery, response) => {
      response.writeHead(404).end(`no ${PATH}/slack, ${SIGNING}`)
      return undefined
    }
    const { exitCode, stdout } = await call(['alerts', 'test', '--json'], channels)
    expect(exitCode).toBe(6)
    const results = JSON.parse(stdout) as { name: string; isOk: boolean; detail: string }[]
    expect(results.map(({ name, isOk }) => [name, isOk])).toEqual([
      ['webhook', false],
      ['slack', false],
      ['teams', false],
      ['mail', true],
    ])
    expect(results[0]!.detail).toContain('answered 404: no [secret]')
  })

  it('fail no sync and show no secret', { tags: ['A3', 'S1', 'release'] }, async () => {
    receiver.answer = (_delivery, response) => {
      response.writeHead(500).end(`sorry, ${PATH}/teams?sig=canary77 ${SIGNING} ${MAIL_PASSWORD}`)
      return undefined
    }
    smtp.fate = 'be away'
    await setAside('shown')
    await scene.select('delete from tracking_sync.alerts returning 1')
    const debug = { ...channels, TRACKING_LOG_LEVEL: 'debug' }
    // Their output is searched for the secrets.
    for (const args of [['sync'], ['alerts'], ['config'], ['status', '--json']]) {
      expect((await call(args, debug)).exitCode).toBe(0)
    }
    expect((await messages()).map(({ state }) => state)).toEqual(Array(4).fill('waiting'))
    const [made] = await scene.select<{ id: string }>(
      `update tracking_sync.alert_messages set state = 'in_doubt' where channel = 'webhook' returning message_id as id`,
    )
    const { id } = made!
    expect((await call(['alerts'], channels)).stdout).toContain(`alerts resend ${id}`)
    expect((await call(['alerts', 'resend', id])).stdout).toBe('1 message will be sent again.\n')
    expect((await call(['alerts', 'resend', id])).exitCode).toBe(2)
    const scanner = createCanaryScanner(Object.fromEntries(SECRETS.map((one) => [one, one])))
    await lookAt(scene.database.url, (warehouse) => scanner.tables(warehouse))
    expect(scanner.findings()).toEqual([])
  })
})

it('serve looks for alerts when it starts, and tells of them', { tags: ['release'] }, async () => {
  await scene.select('delete from tracking_sync.alerts returning 1')
  await scene.select('delete from tracking_sync.quarantine returning 1')
  await setAside('serve')
  const program = await scene.serve([], {
    TRACKING_ALERT_WEBHOOK_URL: receiver.url,
    TRACKING_ALERT_WEBHOOK_SECRET: SIGNING,
    TRACKING_ALERT_KINDS: 'TrackingSyncQuarantine',
    SYNC_CRON: 'off',
  })
  await waitUntil('a message came', () => receiver.deliveries.length > 0)
  program.kill('SIGTERM')
  expect((await program.ended).exitCode).toBe(0)
  expect(receiver.deliveries).toHaveLength(1)
  expect(await messages()).toEqual([{ channel: 'webhook', event: 'opened', state: 'sent' }])
})

describe('--on-finish', { tags: ['release'] }, () => {
  const script = (text: string) => `${text} > '${join(scene.options.directory, 'finished')}'`
  const finished = () => readFile(join(scene.options.directory, 'finished'), 'utf8')

  it('gives a command the outcome, and no secret', { tags: ['S1', 'JD7'] }, async () => {
    const { exitCode, stdout } = await run(
      ['sync', '--json', '--on-finish', script('(echo told; env)')],
      { ...channels, TRACKING_API_KEY_ACME: 'canary-of-acme', AWS_SECRET_ACCESS_KEY: 'canary' },
    )
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ outcome: 'complete' })
    const lines = (await finished()).split('\n')
    const told = ['COMMAND=sync', 'OUTCOME=complete', 'EXIT_CODE=0', 'INSERTED=0', 'PROBLEM=']
    expect(lines).toEqual(expect.arrayContaining(['told', ...told.map((one) => `RUN_${one}`)]))
    const names = lines.flatMap((line) => /^([A-Z_]+)=/.exec(line)?.[1] ?? [])
    // The last two are the shell's own.
    const own = /^(?:RUN_[A-Z]+(?:_[A-Z]+)*|PATH|HOME|USER|LOGNAME|LANG|LC_[A-Z]+|TZ|TMPDIR|PWD|_)$/
    expect(names.filter((name) => !own.test(name))).toEqual([])
    expect(lines.join('\n')).not.toContain('canary')
  })

  it('runs when the run fails, with the reason as data', async () => {
    const title = '$(touch ran); `touch ran`'
    const body = JSON.stringify({ errors: [{ title, detail: title }] })
    const fault = { kind: 'status', status: 422, body } as const
    scene.simulator.faults.add({ fault, match: { path: '/shipments' }, times: Infinity })
    const { exitCode } = await run([
      'sync',
      '--on-finish',
      script('printf "%s|%s|%s" "$RUN_OUTCOME" "$RUN_EXIT_CODE" "$RUN_PROBLEM"'),
    ])
    scene.simulator.faults.clear()
    const [outcome, code, problem] = (await finished()).split('|')
    expect({ outcome, code }).toEqual({ outcome: 'failed', code: String(exitCode) })
    expect(problem).toContain(title)
    await expect(readFile(join(scene.options.directory, 'ran'))).rejects.toThrow('ENOENT')
    const away = new URL(scene.database.url)
    away.port = '1'
    const down = await run(['sync', '--on-finish', script('printf "%s" "$RUN_EXIT_CODE"')], {
      DATABASE_URL: away.href,
    })
    expect(down.exitCode).toBe(5)
    expect(await finished()).toBe('5')
  })

  it('tells of its failure and leaves the exit code alone', async () => {
    const { exitCode, stderr } = await run(['sync', '--on-finish', 'echo on the terminal; exit 3'])
    expect(exitCode).toBe(0)
    expect(stderr).toContain('on the terminal')
    expect(stderr).toContain('the command of --on-finish ended with exit code 3')
  })
})
