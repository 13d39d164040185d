import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import pg from 'pg'
import { createCanaryScanner, type CanaryScanner } from '../support/canary-scanner.js'
import { lookAt } from '../support/look-at-cli-rows.js'
import { runCli, waitUntil, type ProgramOptions } from '../support/run-cli.js'
import { signBody } from '../support/test-receiver.js'
import { closeServeScenes, KEY, openServeScene, SECRET, type ServeScene } from './serve-scene.js'

const PASSWORD = 'canary/pass+7c1e='
/** Many programs, one after the other. */
const LOGIN = `canary_${process.pid}`
/** A page of a proxy that shows what it was sent. */
const ECHO = `<html>Authorization: Token ${KEY}, ${Buffer.from(KEY).toString('base64')}, ${encodeURIComponent(KEY)}</html>`

let scene: ServeScene
let options: ProgramOptions
let scanner: CanaryScanner

async function onServer(...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: inject('databaseServerUrl') })
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}

beforeAll(async () => {
  await onServer(`create role ${LOGIN} superuser login password '${PASSWORD}'`)
  scene = await openServeScene({
    settings: { TRACKING_LOG_LEVEL: 'debug' },
    throughUrl: (url) => {
      const own = new URL(url)
      own.username = LOGIN
      own.password = encodeURIComponent(PASSWORD)
      return Promise.resolve(own.href)
    },
  })
  options = scene.options
  scanner = createCanaryScanner({
    'the key': KEY,
    'the webhook secret': SECRET,
    'the password of the database': PASSWORD,
  })
})
afterAll(async () => {
  await closeServeScenes()
  await onServer(`drop owned by ${LOGIN}`, `drop role ${LOGIN}`)
})

/** Runs a command to its end, with any exit code, and scans its output. */
async function run(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<number | null> {
  const all = { ...options, env: { ...options.env, ...env } }
  const { exitCode, stdout, stderr } = await runCli(args, all)
  scanner.text(`${args.join(' ')}: output`, stdout)
  scanner.text(`${args.join(' ')}: errors`, stderr)
  expect(stdout + stderr).not.toBe('')
  return exitCode
}

describe('the secrets, with debug logs on,', { tags: ['S1'] }, () => {
  it('stand in nothing that the commands say', { tags: ['I15', 'release'] }, async () => {
    const { simulator } = scene
    const isList = { path: '/shipments' }
    simulator.faults.add({ fault: { kind: 'status', status: 500, body: ECHO }, match: isList })
    expect(await run(['backfill'])).toBe(0)
    const page = { status: 200, body: ECHO, contentType: 'text/html' }
    simulator.faults.add({ fault: { kind: 'status', ...page }, match: isList })
    expect(await run(['sync', '--json'], { TRACKING_LOG_FORMAT: 'text' })).toBe(0)
    const said = { errors: [{ title: 'Bad key', detail: `Token ${KEY} is bad` }] }
    simulator.faults.add({
      fault: { kind: 'status', status: 422, body: JSON.stringify(said) },
      match: isList,
      times: Infinity,
    })
    expect(await run(['sync'])).not.toBe(0)
    simulator.faults.clear()
    simulator.faults.add({
      fault: {
        kind: 'redirect',
        status: 302,
        location: `https://evil.example/?key=${encodeURIComponent(KEY)}`,
      },
      match: isList,
      times: Infinity,
    })
    expect(await run(['sync'])).not.toBe(0)
    simulator.faults.clear()
    for (const args of [
      ['config'],
      ['status', '--json'],
      ['check'],
      ['webhooks', 'list', '--json'],
      ['query', 'select * from tracking_sync.sync_runs'],
    ]) {
      await run(args)
    }
    expect(scanner.findings()).toEqual([])
  })

  it('stand in nothing that serve says, answers or stores', { tags: ['release'] }, async () => {
    const program = await scene.serve()
    const { simulator } = scene
    scene.simulator.clock.advance(3 * 24 * 3_600_000)
    await waitUntil('a delivery is stored', async () => {
      const rows = await scene.select('select from tracking_sync.webhook_notifications')
      return rows.length > 0
    })
    const body = JSON.stringify({
      data: { id: 'one', type: 'webhook_notification', attributes: {} },
    })
    expect((await scene.post(body)).status).toBe(202)
    const address = `${scene.url}/webhooks`
    for (const headers of [
      {},
      { 'X-SVC-Webhook-Signature': SECRET },
      { 'X-SVC-Webhook-Signature': signBody(body, KEY), Authorization: `Bearer ${SECRET}` },
    ]) {
      const answer = await fetch(address, { method: 'POST', body, headers })
      expect(answer.status).toBeGreaterThanOrEqual(400)
      scanner.text('an answer to a wrong delivery', await answer.text())
    }
    // Signed rightly, with headers that are secrets of other programs and of ours.
    const signed = {
      'content-type': 'application/json',
      'X-SVC-Webhook-Signature': signBody(body, SECRET),
      Authorization: `Bearer ${SECRET}`,
      Cookie: `key=${KEY}`,
    }
    expect((await fetch(address, { method: 'POST', body, headers: signed })).status).toBe(202)
    for (const path of ['/', '/metrics', '/healthz', '/readyz', '/nowhere']) {
      scanner.text(`GET ${path}`, (await scene.get(path)).text)
    }
    program.kill('SIGTERM')
    const { exitCode, stdout, stderr } = await program.ended
    expect(exitCode).toBe(0)
    scanner.text('serve: output', stdout)
    scanner.text('serve: errors', stderr)
    expect(simulator.requests.total).toBeGreaterThan(0)
  })

  it('stand in no table of the database and in no file; in all that was looked at, no form of them', async () => {
    await lookAt(scene.database.url, (warehouse) => scanner.tables(warehouse))
    await scanner.files(options.directory)
    expect(scanner.findings()).toEqual([])
    expect(scanner.looked()).toBeGreaterThan(40)
  })
})
