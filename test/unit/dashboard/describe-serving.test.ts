import { describe, expect, it } from 'vitest'
import { describeServing } from '../../../src/extensions/dashboard/describe-serving.js'
import { findAlerts, sentencesOf } from '../../../src/status/describe-status.js'

const status = {
  freshness: { beganAt: '2026-03-08 08:00:00+00', ageSeconds: 7_200 },
  lastRun: {
    syncRunId: 7,
    command: 'sync',
    outcome: 'failed' as const,
    seconds: 60,
    problem: 'shipments: <script>alert(1)</script>\nand more',
    rows: {},
  },
  isRunUnderWay: false,
  streams: [],
  runs: [
    {
      syncRunId: 7,
      command: 'sync',
      startedAt: '2026-03-08 10:00:00+00',
      finishedAt: null,
      outcome: 'failed' as const,
      requests: 3,
      problem: 'shipments: <script>alert(1)</script>\nand more',
    },
  ],
  silences: [],
  quarantined: 2,
  refetchQueue: 0,
  queues: [
    {
      queue: 'webhook_notifications' as const,
      state: 'dead',
      entries: 4,
      oldestSeconds: 60,
    },
  ],
  budgets: [],
  isStandby: false,
  lease: null,
  webhooks: [],
  storedViews: [],
  sourceAheadSeconds: null,
  replicationSlots: [],
}
const serving = {
  programVersion: '1.2.3',
  startedAt: new Date('2026-03-08T09:00:00Z'),
  parts: ['receiver'],
  slots: { cron: '*/15 * * * *', timeZone: 'UTC' },
  isServing: true,
  requestLimit: 90,
  jobs: [],
  processor: undefined,
}

describe('what serve says of itself', () => {
  it('names what needs attention', () => {
    expect(sentencesOf(findAlerts(status, { ...serving, freeDiskBytes: 1e9 }))).toEqual([
      'the last complete sync began 2026-03-08 08:00 UTC, and two more were due since (SYNC_CRON is */15 * * * *)',
      'only 954 MiB are free on the disk of the embedded database (TRACKING_HOME); make room',
      '4 notifications could not be applied; look at error in webhook_notifications, then run `tracking-sync webhooks replay --state dead`',
      'the last run (sync 7): shipments: <script>alert(1)</script>',
      '2 records could not be stored and are set aside; see `tracking-sync quarantine list`',
    ])
  })

  it('has a table for each part', () => {
    expect(describeServing(status, serving).map(({ title }) => title)).toEqual([
      'Streams',
      'Last runs',
      'Queues',
      'Request budget',
      'Who writes',
      'Our webhooks',
      'Stored views',
      'Replication slots',
      'This process',
      'Jobs of this process',
    ])
  })
})
