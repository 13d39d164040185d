import { afterEach, describe, expect, it } from 'vitest'
import type { WarehouseStatus } from '../../../src/status/read-status.js'
import { callCli } from '../../support/call-cli.js'
import { closeScenes, openScene, type Scene } from '../sync/sync-scene.js'

afterEach(closeScenes)

type StatusJson = WarehouseStatus & { readonly alerts: readonly string[] }

async function status(
  scene: Scene,
  given: Readonly<Record<string, string>> = {},
): Promise<{ text: string; json: StatusJson }> {
  const settings = { DATABASE_URL: scene.url, TRACKING_LOG_LEVEL: 'silent', ...given }
  const text = await callCli(['status'], settings)
  const json = await callCli(['status', '--json'], settings)
  expect([text.exitCode, text.stderr, json.exitCode, json.stderr]).toEqual([0, '', 0, ''])
  return { text: text.stdout, json: JSON.parse(json.stdout) as StatusJson }
}

/** A line of a table, by its words. */
function line(...words: readonly (string | number)[]): RegExp {
  return new RegExp(`^ *${words.join(' +')} *$`, 'm')
}

describe('the status command', () => {
  it('says of an empty warehouse that nothing ran or waits, then what does', async () => {
    const scene = await openScene({ shipments: 1 })
    const empty = await status(scene)
    const nothing = { runs: [], quarantined: 0, refetchQueue: 0, queues: [], lease: null }
    expect(empty.json).toMatchObject({ ...nothing, budgets: [], alerts: [] })
    expect(empty.text).toMatch(line('shipments', 0, 0, 'never'))
    expect(empty.text).toContain('No run yet: start with `tracking-sync backfill`.')
    expect(empty.text).toContain('No requests in the last 60 s.')
    expect(empty.text).toContain('No run is under way.')
    expect(empty.text).toContain('No webhook of ours is known.')
    expect(empty.text).not.toContain('ALERT')
    await scene.run`
      insert into tracking_sync.refetch_queue
          (resource_type, resource_id, reason, requested_at, not_before, claimed_until)
      values
          ('port', 'a', 'test', now() - interval '2 hours', null, null),
          ('port', 'b', 'test', now() - interval '4 minutes', now() - interval '1 minute', null),
          ('port', 'c', 'test', now() - interval '5 minutes', now() + interval '1 hour', null),
          ('port', 'd', 'test', now() - interval '3 minutes', null, now() + interval '1 hour')`
    await scene.run`
      insert into tracking_sync.webhook_notifications (notification_id, webhook_id, state, received_at)
      values
          ('n1', 'hook', 'received', now() - interval '7 minutes'),
          ('n2', 'hook', 'received', now() - interval '1 minute'),
          ('n3', 'hook', 'processed', now() - interval '3 days'),
          ('n4', 'hook', 'dead', now() - interval '3 days')`
    await scene.run`
      insert into tracking_sync.webhooks (webhook_id, url, is_active, is_ours, events, checked_at, alert)
      values ('hook', 'https://a.example', false, true, '{}', now(), 'it is off')`
    await scene.run`
      insert into tracking_sync.quarantine (stream, reason, pointer, payload, payload_hash, source)
      values ('shipments', 'test', '', '{}', 'hash', '/shipments')`
    await scene.run`
      insert into tracking_sync.request_budget
          (account, requested_at, sync_requests, other_requests, paused_until)
      values
          ('one', array[now() - interval '70 s', now() - interval '50 s', now()], '{9, 4, 2}', '{0, 1, 0}', null),
          ('two', '{}', '{}', '{}', now() + interval '1 minute'),
          ('three', '{}', '{}', '{}', now() - interval '1 minute')`
    await scene.run`
      insert into tracking_sync.lease (lease_name, holder, fencing_token, acquired_at, heartbeat_at)
      values ('writer', 'backfill, process 4711 on harbour', 3, now() - interval '1 hour', now() - interval '20 s')`
    const { text, json } = await status(scene)
    expect(json).toMatchObject({ refetchQueue: 4, quarantined: 1 })
    expect(json.queues.map(({ queue, state, entries }) => [queue, state, entries])).toEqual([
      ['refetch_queue', 'being read', 1],
      ['refetch_queue', 'due', 2],
      ['refetch_queue', 'later', 1],
      ['webhook_notifications', 'dead', 1],
      ['webhook_notifications', 'processed', 1],
      ['webhook_notifications', 'received', 2],
    ])
    expect(json.webhooks).toMatchObject([{ webhookId: 'hook', isActive: false, events: 0 }])
    const budget = { requestsLastMinute: 0, pausedUntil: null, pauseSeconds: 0 }
    expect(json.budgets).toEqual([
      { ...budget, account: 'one', requestsLastMinute: 7 },
      { ...budget, account: 'three' },
      {
        account: 'two',
        requestsLastMinute: 0,
        pausedUntil: expect.any(String) as string,
        pauseSeconds: expect.closeTo(60, -1) as number,
      },
    ])
    expect(json.lease).toMatchObject({ holder: 'backfill, process 4711 on harbour' })
    for (const words of [
      ['to be refetched', 'due', 2, '2 h 0 min'],
      ['to be refetched', 'later', 1, '5 min'],
      ['webhook notifications', 'received', 2, '7 min'],
      ['webhook notifications', 'processed', 1],
      ['webhook notifications', 'dead', 1, '3 d 0 h'],
      ['quarantine', 'set aside', 1],
      ['one', 7, 90],
      ['two', 0, 90, '20\\S+ \\S+'],
      ['hook', 'https://a.example', 'NO', 0, '20\\S+ \\S+', '.+'],
      ['ALERT: it is off'],
    ]) {
      expect(text).toMatch(line(...words))
    }
    expect(text).toMatch(/^backfill, process 4711 on harbour +20\S+ \S+ +2\d s ago$/m)
  })

  it.each([
    [
      -90 * 24,
      "The service's clock is 90 d 0 h behind, and ages and answers go by the database's.",
    ],
    [2, "The service's clock is ahead, and ages and answers go by the database's: what it dates"],
    [0, undefined],
  ])('says which clock rules: +%i hours', { tags: ['JE7', 'release'] }, async (hours, expected) => {
    const startAt = new Date(Date.now() + hours * 3_600_000)
    const scene = await openScene({ shipments: 3, startAt })
    await scene.sync()
    const { text } = await status(scene)
    if (expected === undefined) expect(text).not.toContain("The service's clock")
    else expect(text).toContain(expected)
    expect(text).toMatch(line('raw_events', 0, 0, 'on request'))
    expect(text).toContain('raw_events stays empty while TRACKING_RAW_EVENTS is off.')
  })

  it('says how fresh streams are, how runs ended', { tags: ['FA6', 'release'] }, async () => {
    const scene = await openScene({ shipments: 3 })
    await scene.sync()
    await scene.query(
      `update tracking_sync.sync_run_streams set pass_began_at = now() - interval '3 hours 5 minutes'
      where stream = 'containers'`,
    )
    await scene.sync({ command: 'sync', source: { url: scene.simulator.url, apiKey: 'wrong' } })
    const { text, json } = await status(scene)
    const containers = json.streams.find(({ stream }) => stream === 'containers')
    expect(containers?.ageSeconds).toBeGreaterThanOrEqual(11_100)
    expect(containers?.ageSeconds).toBeLessThan(11_160)
    expect(text).toMatch(/^containers +\d+ +0 .* 3 h 5 min +complete$/m)
    expect(json.runs.map(({ command, outcome }) => [command, outcome])).toEqual([
      ['sync', 'failed'],
      ['backfill', 'complete'],
    ])
    expect(text).toMatch(/^ *2 +sync .* failed /m)
    expect(json.alerts).toEqual([
      expect.stringMatching(/^the last complete sync began .* two more were due/),
      expect.stringMatching(/^the last run \(sync 2\): /),
    ])
    expect(text).toMatch(/^ALERT: the last run \(sync 2\): /m)
  })
})
