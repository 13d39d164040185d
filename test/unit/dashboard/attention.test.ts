import { expect, it } from 'vitest'
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
  runs: [],
  silences: [],
  quarantined: 2,
  refetchQueue: 0,
  queues: [
    { queue: 'webhook_notifications' as const, state: 'dead', entries: 4, oldestSeconds: 60 },
  ],
  budgets: [],
  isStandby: false,
  lease: null,
  webhooks: [],
  storedViews: [],
  sourceAheadSeconds: null,
  replicationSlots: [],
}

it('what needs attention is named in sentences', () => {
  const slots = { cron: '*/15 * * * *', timeZone: 'UTC' }
  expect(sentencesOf(findAlerts(status, { slots, isServing: true, freeDiskBytes: 1e9 }))).toEqual([
    'the last complete sync began 2026-03-08 08:00 UTC, and two more were due since (SYNC_CRON is */15 * * * *)',
    'only 954 MiB are free on the disk of the embedded database (TRACKING_HOME); make room',
    '4 notifications could not be applied; look at error in webhook_notifications, then run `tracking-sync webhooks replay --state dead`',
    'the last run (sync 7): shipments: <script>alert(1)</script>',
    '2 records could not be stored and are set aside; see `tracking-sync quarantine list`',
  ])
})
