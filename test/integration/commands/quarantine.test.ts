import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callCli, settingsOf } from '../../support/call-cli.js'
import { closeScenes, openScene, type Scene } from '../sync/sync-scene.js'

let scene: Scene
let settings: Record<string, string>

beforeAll(async () => {
  scene = await openScene({ shipments: 10 })
  settings = {
    ...settingsOf(scene.simulator, scene.url),
    TRACKING_RATE_LIMIT_PER_MINUTE: '100000',
    TRACKING_LOG_LEVEL: 'silent',
  }
})

afterAll(closeScenes)

const call = (...args: string[]) => callCli(args, settings)

async function setAside(stream: string, payload: string, recordId: string | null = null) {
  const id = await scene.value<number>`
    insert into tracking_sync.quarantine
    (stream, record_id, reason, pointer, payload, payload_hash, source)
    values (${stream}, ${recordId}, 'type is missing', '/type', ${payload}, md5(${payload}), 'test')
    returning quarantine_id as id`
  return String(id)
}

describe('the quarantine command', () => {
  it('lists, shows with escapes neutralised, and drops', async () => {
    expect((await call('quarantine', 'list')).stdout).toBe('Nothing is set aside.\n')
    const id = await setAside(
      'shipments',
      '{"id":"a","ref":"\\u001b[31mred\u009b1m","n":12345678901234567890}',
      'a',
    )
    await setAside('containers', '[]')
    const list = await call('quarantine', 'list', '--stream', 'shipments')
    expect(list).toMatchObject({ exitCode: 0, stderr: '' })
    expect(list.stdout.split('\n').slice(2)).toHaveLength(2)
    expect(list.stdout).toMatch(new RegExp(`^ *${id} +shipments +a +type is missing +/type`, 'm'))

    const shown = await call('quarantine', 'show', id)
    expect(shown.stdout).toContain('reason     type is missing')
    expect(shown.stdout).toContain('  "id": "a",\n')
    expect(shown.stdout).toContain('  "n": 12345678901234567890\n}')
    expect(shown.stdout).toContain('\\u001b[31mred\\u009b1m')
    expect(shown.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)

    const json = JSON.parse((await call('quarantine', 'list', '--json')).stdout) as unknown[]
    expect(json).toHaveLength(2)
    expect(await call('quarantine', 'drop', id)).toMatchObject({
      exitCode: 0,
      stdout: '1 record dropped.\n',
    })
    const rest = await call('quarantine', 'drop', '--all', '--stream', 'containers', '--json')
    expect(JSON.parse(rest.stdout)).toMatchObject({ dropped: [expect.any(Number)] })
    expect(await scene.query('select from tracking_sync.quarantine')).toEqual([])
  })

  it('retries, and ends with 6 while something remains', async () => {
    const id = await setAside('shipments', '{"id":"a"}')
    const retried = await call('quarantine', 'retry', id)
    expect(retried.exitCode).toBe(6)
    expect(retried.stdout).toContain('0 written, 1 remain.')
    expect(retried.stdout).toMatch(new RegExp(`^ *${id} +type is missing`, 'm'))
    await call('quarantine', 'drop', '--all')
    expect((await call('quarantine', 'retry', '--all', '--json')).exitCode).toBe(0)
  })
})
