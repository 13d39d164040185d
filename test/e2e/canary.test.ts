import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createCanaryScanner, type CanaryScanner } from '../support/canary-scanner.js'
import { lookAt, selectRows } from '../support/look-at-cli-rows.js'
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

const onServer = (statement: string) => selectRows(inject('databaseServerUrl'), statement)

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
  await onServer(`drop owned by ${LOGIN}`)
  await onServer(`drop role ${LOGIN}`)
})

/** Runs a command to its end, with any exit code; `runCli` scans the output of each. */
async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const all = { ...options, env: { ...options.env, ...env } }
  const { exitCode, stdout, stderr } = await runCli(args, all)
  expect(stdout + stderr).not.toBe('')
  return exitCode
}

describe('the secrets, with debug logs on,', { tags: ['S1'] }, () => {
  it('stand in nothing that the commands say', { tags: ['I15', 'release'] }, async () => {
    const { faults } = scene.simulator
    const play = (fault: Parameters<typeof faults.add>[0]['fault'], times = Infinity) => {
      faults.clear()
      faults.add({ fault, match: { path: '/shipments' }, times })
    }
    play({ kind: 'status', status: 500, body: ECHO }, 1)
    expect(await run(['backfill'])).toBe(0)
    play({ kind: 'status', status: 200, body: ECHO, contentType: 'text/html' }, 1)
    expect(await run(['sync', '--json'], { TRACKING_LOG_FORMAT: 'text' })).toBe(0)
    const said = { errors: [{ title: 'Bad key', detail: `Token ${KEY} is bad` }] }
    play({ kind: 'status', status: 422, body: JSON.stringify(said) })
    expect(await run(['sync'])).not.toBe(0)
    const location = `https://evil.example/?key=${encodeURIComponent(KEY)}`
    play({ kind: 'redirect', status: 302, location })
    expect(await run(['sync'])).not.toBe(0)
    faults.clear()
    for (const args of [
      ['config'],
      ['status', '--json'],
      ['check'],
      ['webhooks', 'list', '--json'],
      ['query', 'select * from tracking_sync.sync_runs'],
    ]) {
      await run(args)
    }
  })

  it('stand in nothing that serve says, answers or stores', { tags: ['release'] }, async () => {
    const program = await scene.serve()
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
    expect((await program.ended).exitCode).toBe(0)
  })

  it('stand in no table of the database and in no file; in all that was looked at, no form of them', async () => {
    await lookAt(scene.database.url, (warehouse) => scanner.tables(warehouse))
    await scanner.files(options.directory)
    expect(scanner.findings()).toEqual([])
    expect(scanner.looked()).toBeGreaterThan(40)
  })
})
