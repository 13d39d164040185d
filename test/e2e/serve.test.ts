import { sql } from 'kysely'
import { Agent, request } from 'undici'
import { afterEach, describe, expect, it } from 'vitest'
import { openRaw, statusesOf } from '../support/raw-http.js'
import { callProgram, refusalOf } from '../support/call-cli.js'
import { connectMcp } from '../support/mcp-client.js'
import { runCli, waitUntil } from '../support/run-cli.js'
import { lookAt } from '../support/look-at-cli-rows.js'
import { notificationBody } from '../support/test-receiver.js'
import { closeServeScenes, logLines, metricOf, openServeScene } from './serve-scene.js'

afterEach(closeServeScenes)

describe('what serve says of itself', () => {
  it('answers the names of its list alone', { tags: ['FC6', 'W20', 'release'] }, async () => {
    const scene = await openServeScene({ settings: { TRACKING_HOSTS: 'status.example, proxy' } })
    const program = await scene.serve(['--no-scheduler'])
    const statusFor = async (path: string, host: string): Promise<number> => {
      const text = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
      const of = path === '/healthz' ? scene.url : scene.pagesUrl
      const connection = await openRaw(Number(new URL(of).port), text)
      return statusesOf(await connection.closed())[0] ?? 0
    }
    const listed = ['127.0.0.1:80', 'localhost', '[::1]:8080', 'PROXY:8080', 'status.example']
    const others = ['evil.example', 'localhost.evil.example', 'status.example.evil:8080', '']
    const expectStatus = async (path: string, hosts: readonly string[], status: number) => {
      for (const host of hosts) {
        expect([path, host, await statusFor(path, host)]).toEqual([path, host, status])
      }
    }
    await expectStatus('/metrics', listed, 200)
    await expectStatus('/metrics', others, 421)
    // The page is dearer to make.
    await expectStatus('/', listed.slice(0, 1), 200)
    await expectStatus('/', listed.slice(-1), 401)
    await expectStatus('/', others, 421)
    expect(await statusFor('/healthz', 'evil.example')).toBe(200)
    expect(await scene.get('/readyz?verbose=1')).toEqual({ status: 200, text: 'ok\n' })
    for (const path of ['/health', '/healthz/', '/metrics/x', '/.env', '/status']) {
      const { status, text } = await scene.get(path)
      expect([path, status, text]).toEqual([path, 404, '{"error":"not_found"}\n'])
    }
    // Neither is answered unless it is told to.
    for (const path of ['/questions', '/mcp']) expect((await scene.get(path)).status).toBe(404)
    // The port of the service shows no page, and that of the pages takes no delivery.
    for (const path of ['/', '/metrics', '/panels/arrivals.csv', '/questions']) {
      expect((await fetch(`${scene.url}${path}`)).status).toBe(404)
    }
    const delivery = await fetch(`${scene.pagesUrl}/webhooks`, { method: 'POST', body: '{}' })
    expect(delivery.status).toBe(404)
    expect((await fetch(`${scene.pagesUrl}/readyz`)).status).toBe(200)
    program.kill('SIGTERM')
    await program.ended
  })

  it('receives while a hundred clients await panels', { tags: ['JD4', 'JB7', 'JD5'] }, async () => {
    const scene = await openServeScene()
    const program = await scene.serve(['--no-scheduler', '--no-processor'])
    const clients = new Agent({ connections: 100 })
    await lookAt(scene.database.url, async (warehouse) => {
      let panels: Promise<number[]> = Promise.resolve([])
      await warehouse.transaction('hold the panel', async (session) => {
        await session.query('lock', sql`lock table tracking.containers in access exclusive mode`)
        // Panels of one container: those of the overview are read when the program starts.
        const askFor = async (container: string): Promise<number> => {
          const address = `${scene.pagesUrl}/panels/timeline.csv?container=${container}`
          const { statusCode, body } = await request(address, { dispatcher: clients })
          await body.dump()
          return statusCode
        }
        const fifty = (container: string) => Array.from({ length: 50 }, () => askFor(container))
        panels = Promise.all(['MSCU1234567', 'MSCU7654321'].flatMap(fifty))
        await waitUntil('both panels wait for the lock', async () => {
          const waiting = await warehouse.query(
            'look for waits',
            sql`select from pg_stat_activity
              where wait_event_type = 'Lock' and datname = current_database()`,
          )
          return waiting.length > 1
        })
        for (const at of ['', '/']) {
          const { status } = await scene.post(notificationBody(`meanwhile${at}`), at)
          expect([at, status]).toEqual([at, 202])
        }
      })
      const statuses = await panels
      expect(statuses).toHaveLength(100)
      expect(new Set(statuses)).toEqual(new Set([200]))
    })
    await clients.close()
    expect((await scene.post(notificationBody('astray'), '/astray')).status).toBe(404)
    expect((await scene.get('/webhooks')).status).toBe(405)
    expect((await scene.get('/a-stranger')).status).toBe(404)
    const { text } = await scene.get('/metrics')
    const refused = (result: string) =>
      metricOf(text, `webhook_deliveries_total{result="${result}"}`)
    expect([refused('stored'), refused('refused_path'), refused('refused_method')]).toEqual([
      2, 1, 1,
    ])
    await waitUntil('the refusals are noted', async () => {
      return (await scene.select('select from tracking_sync.delivery_refusals')).length === 2
    })
    const { stdout } = await runCli(['check'], scene.options)
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(
      /ok deliveries warning: 1 refused since [\d-]+, the last at [\d: -]+ UTC: (path|method)/,
    )
    expect(stdout).toContain('another path than TRACKING_WEBHOOK_PATH')
    program.kill('SIGTERM')
    expect((await program.ended).exitCode).toBe(0)
    const lines = logLines(program, 'a delivery was refused')
    expect(lines.map(({ reason, path }) => [reason, path])).toEqual([
      ['path', '/webhooks/astray'],
      ['method', '/webhooks'],
    ])
  })

  it('takes unsigned deliveries on this machine only', { tags: ['FC6', 'release'] }, async () => {
    const scene = await openServeScene()
    const serve = (...args: string[]) => refusalOf(callProgram(['serve', ...args], scene.options))
    expect(await serve('--webhook-path', '/healthz')).toMatch(
      /^2 error: TRACKING_WEBHOOK_PATH is \/healthz, which serve answers/,
    )
    for (const host of ['0.0.0.0', '::', '192.0.2.1']) {
      const refused = await serve('--insecure-no-signature', '--host', host)
      expect(refused).toContain(`2 error: TRACKING_HOST is ${host}, but --insecure-no-signature`)
    }
    const program = await scene.serve([
      ...['--insecure-no-signature', '--questions', '--mcp', '--no-scheduler'],
    ])
    const created = await callProgram(
      ['tokens', 'create', '--json', '--name', 'sheets', '--questions', 'last_free_days'],
      scene.options,
    )
    const { token } = JSON.parse(created.stdout) as { token: string }
    const question = `/questions/last_free_days.json?token=${token}`
    expect(await scene.get(question)).toMatchObject({
      status: 200,
      text: expect.stringMatching(/^\[\]/) as string,
    })
    expect((await fetch(`${scene.url}${question}`)).status).toBe(404)
    const chat = await connectMcp(`${scene.pagesUrl}/mcp`, { authorization: `Bearer ${token}` })
    expect((await chat.call('ask', { question: 'last_free_days' })).data).toMatchObject({
      rows: [],
    })
    await chat.close()
    program.kill('SIGTERM')
    expect((await program.ended).exitCode).toBe(0)
  })
})
