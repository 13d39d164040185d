import pg from 'pg'
import { afterEach, describe, expect, it } from 'vitest'
import { notificationBody } from '../support/test-receiver.js'
import { callProgram } from '../support/call-cli.js'
import { connectMcp } from '../support/mcp-client.js'
import { closeServeScenes, openServeScene, type ServeScene } from './serve-scene.js'

afterEach(closeServeScenes)

/** Answers wait until it is released; deliveries do not read the table. */
async function lockShipments({ database }: ServeScene): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await client.query('begin')
  await client.query('lock table tracking.shipments in access exclusive mode')
  return () => client.end()
}

describe('serve --questions', () => {
  it('turns a flood away while it receives', { tags: ['HQ4', 'release'] }, async () => {
    const scene = await openServeScene()
    const { options, pagesUrl, url } = scene
    const program = await scene.serve([
      ...['--questions', '--mcp', '--no-processor', '--no-scheduler'],
    ])
    const args = ['tokens', 'create', '--json', '--name', 'sheets', '--questions', 'last_free_days']
    const created = await callProgram(args, options)
    const { token } = JSON.parse(created.stdout) as { token: string }
    const ask = (): Promise<Response> =>
      fetch(`${pagesUrl}/questions/last_free_days.json?token=${token}`, {
        headers: { 'x-forwarded-for': '203.0.113.7' },
      })
    expect(await (await ask()).json()).toEqual([])
    expect((await fetch(`${url}/questions/last_free_days.json?token=${token}`)).status).toBe(404)
    const chat = await connectMcp(`${pagesUrl}/mcp`, {
      authorization: `Bearer ${token}`,
      'x-forwarded-for': '203.0.113.7',
    })
    expect((await chat.call('ask', { question: 'last_free_days' })).data).toMatchObject({
      rows: [],
    })
    await chat.close()
    const release = await lockShipments(scene)
    const flood = Array.from({ length: 60 }, ask)
    try {
      const first = await Promise.race(flood)
      expect([first.status, first.headers.get('retry-after')]).toEqual([429, '5'])
      for (let delivery = 0; delivery < 5; delivery += 1) {
        const answer = await scene.post(notificationBody(`flood-${delivery}`))
        expect(answer.status).toBe(202)
      }
      expect((await scene.get('/readyz')).status).toBe(200)
    } finally {
      await release()
    }
    const statuses = (await Promise.all(flood)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 429)).toHaveLength(40)
    expect(statuses.filter((status) => status === 200)).toHaveLength(20)
    program.kill('SIGTERM')
    const { exitCode, stdout, stderr } = await program.ended
    expect(exitCode).toBe(0)
    expect(`${stdout}${stderr}`).not.toContain(token.slice(17))
    const [counted] = await scene.select<{ uses: number }>(
      'select uses from tracking_sync.access_tokens',
    )
    // A chat asks several times before its first question.
    expect(counted!.uses).toBeGreaterThan(61 + 2)
  })

  it('answers none of them unless it is told to', async () => {
    const scene = await openServeScene()
    await scene.serve(['--no-processor', '--no-scheduler'])
    for (const path of ['/questions', '/mcp']) {
      expect((await scene.get(path)).status).toBe(404)
    }
    expect((await scene.get('/metrics')).status).toBe(200)
  })
})
