import { beforeEach, describe, expect, it } from 'vitest'
import { forgetBodies } from '../../../src/webhooks/receive/inbox.js'
import { callCli, type CliCall } from '../../support/call-cli.js'
import { emptyWarehouse } from '../../support/empty-warehouse.js'
import { useTestWarehouse } from '../../support/reused-warehouse.js'

const opened = useTestWarehouse()

const call = (...args: string[]): Promise<CliCall> =>
  callCli(['webhooks', 'replay', ...args], {
    DATABASE_URL: opened.url,
    TRACKING_MIGRATE: 'false',
    TRACKING_LOG_LEVEL: 'silent',
  })

/** One of each state, a day apart; `bare` lacks a body, `retrying` waits for its next attempt. */
const INBOX = [
  ['processed', 'processed', 'container.updated', '2026-03-01T00:00:00Z'],
  ['ignored', 'ignored', 'document.extracted', '2026-03-02T00:00:00Z'],
  ['foreign', 'foreign', 'container.updated', '2026-03-03T00:00:00Z'],
  ['unresolved', 'unresolved', 'container.created', '2026-03-04T00:00:00Z'],
  ['dead', 'dead', 'container.updated', '2026-03-05T00:00:00Z'],
  ['retrying', 'received', 'container.updated', '2026-03-06T00:00:00Z'],
  ['waiting', 'received', 'container.updated', '2026-03-07T00:00:00Z'],
  ['bare', 'processed', 'container.updated', '2026-03-08T00:00:00Z'],
] as const

beforeEach(async () => {
  await emptyWarehouse(opened.warehouse)
  for (const [id, state, event, at] of INBOX) {
    await opened.run`
      insert into tracking_sync.webhook_notifications
      (notification_id, state, event, received_at, attempts, next_attempt_at, processed_at, error)
      values (${id}, ${state}, ${event}, ${at}, 7, '2026-12-31', ${at}, 'why')`
  }
  await opened.run`
    update tracking_sync.webhook_notifications
    set body = case when notification_id != 'bare' then '\\x7b7d'::bytea end,
    attempts = case when notification_id = 'waiting' then 0 else 7 end`
})

/** Ids of notifications that are due now, for the first time. */
function putBack(): Promise<string[]> {
  return opened.column`
    select notification_id as id from tracking_sync.webhook_notifications
    where state = 'received' and attempts = 0 and next_attempt_at <= now() and error is null
    and processed_at is null
    order by received_at`
}

describe('replay', () => {
  it('also runs by its former name, and names the new one', { tags: ['release'] }, async () => {
    const settings = { DATABASE_URL: opened.url, TRACKING_MIGRATE: 'false' }
    const { exitCode, stdout, stderr } = await callCli(['replay', 'dead'], settings)
    expect([exitCode, stdout, await putBack()]).toEqual([
      0,
      '1 of 1 notification put back.\n',
      ['dead'],
    ])
    expect(stderr).toContain(
      'note: `replay` is now `webhooks replay`; this name works until 0.3.0\n',
    )
  })

  it.each<[string, string]>([
    ['dead', 'dead'],
    ['ignored foreign', 'ignored foreign'],
    ['--state processed', 'processed'],
    ['--state dead --state unresolved', 'unresolved dead'],
    ['--event container.updated', 'processed foreign dead retrying'],
    ['--since 2026-03-04', 'unresolved dead retrying'],
    ['--until 2026-03-02T00:00:01Z', 'processed ignored'],
    // Half past midnight in Berlin is the day before in UTC.
    ['--since 2026-03-05T00:30+01:00 --until 2026-03-06T00:00', 'dead'],
    ['--event container.updated --since 2026-03-02 --state dead', 'dead'],
    ['dead ignored --state dead', 'dead'],
    ['--all', 'processed ignored foreign unresolved dead retrying'],
  ])('%s puts back %s and nothing else', { tags: ['release'] }, async (line, ids) => {
    const [args, expected] = [line.split(' '), ids.split(' ')]
    const before = await opened.rows`select * from tracking_sync.webhook_notifications`
    const dry = await call(...args, '--dry-run')
    expect(dry.stdout).toMatch(new RegExp(`^${expected.length} of \\d+ notifications? would be`))
    expect(await opened.rows`select * from tracking_sync.webhook_notifications`).toEqual(before)

    const output = await call(...args)
    expect(output).toMatchObject({ exitCode: 0, stderr: '' })
    expect(output.stdout).toMatch(
      new RegExp(`^${expected.length} of \\d+ notifications? put back\\.`),
    )
    expect(await putBack()).toEqual(expected)
    const rest = INBOX.map(([id]) => id).filter((id) => !expected.includes(id))
    expect(
      await opened.column`
        select notification_id as id from tracking_sync.webhook_notifications
        where error = 'why' order by received_at`,
    ).toEqual(rest)
    // A second time there is nothing left to do.
    expect((await call(...args)).stdout).toMatch(/^0 of /)
  })

  it('tells of ids that are not there, and leaves alone what waits or lacks a body', async () => {
    const output = await call('bare', 'waiting', 'dead', 'nobody')
    expect(output.exitCode).toBe(2)
    expect(output.stdout).toBe(
      'not in the inbox: nobody\n' +
        '1 of 3 notifications put back.\n' +
        '1 already wait to be applied.\n' +
        '1 lack a body, so they cannot be applied: `tracking-sync sync` brings their changes.\n',
    )
    expect(await putBack()).toEqual(['dead'])
    expect(JSON.parse((await call('--all', '--dry-run', '--json')).stdout)).toEqual({
      isDryRun: true,
      selected: 8,
      replayed: 5,
      waiting: 2,
      withoutBody: 1,
      unknownIds: [],
    })
  })

  it('puts back more than one batch', async () => {
    await opened.run`
      insert into tracking_sync.webhook_notifications (notification_id, state, body, attempts)
      select 'many ' || number, 'dead', '\\x7b7d', 10 from generate_series(1, 12000) as number`
    expect((await call('--state', 'dead')).stdout).toBe('12001 of 12001 notifications put back.\n')
    expect(await putBack()).toHaveLength(12_001)
  })
})

it('bodies of settled notifications are forgotten after a while, ids never', async () => {
  await opened.run`
    update tracking_sync.webhook_notifications set received_at = now() -
    case when notification_id = 'foreign' then interval '29 days' else interval '31 days' end`
  await opened.run`
    insert into tracking_sync.webhook_notifications (notification_id, state, body, received_at)
    select 'old ' || number, 'processed', '\\x7b7d', now() - interval '40 days'
    from generate_series(1, 25) as number`
  expect(await forgetBodies(opened.warehouse, { batch: 10 })).toBe(27)
  expect(
    await opened.column`
      select notification_id as id from tracking_sync.webhook_notifications
      where body is not null order by 1`,
  ).toEqual(['dead', 'foreign', 'retrying', 'unresolved', 'waiting'])
  const all = await opened.column`select count(*) from tracking_sync.webhook_notifications`
  expect(all).toEqual([33])
  expect(await forgetBodies(opened.warehouse)).toBe(0)
})
