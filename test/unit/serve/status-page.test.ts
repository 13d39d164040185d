import { describe, expect, it } from 'vitest'
import { describeServing, formatStatusPage } from '../../../src/serve/status-page.js'

const status = {
  freshness: { beganAt: '2026-03-08 08:00:00+00', ageSeconds: 7_200 },
  lastRun: null,
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
  lease: null,
  webhooks: [],
  storedViews: [],
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

describe('the status page', () => {
  it('begins with what needs attention', () => {
    const [alerts, ...others] = describeServing(status, serving)
    expect(alerts).toEqual({
      title: 'Alerts',
      columns: ['what needs attention'],
      rows: [
        [
          'the last complete sync began 2026-03-08 08:00:00+00: more than two slots of SYNC_CRON (*/15 * * * *) ago',
        ],
        [
          '4 notifications could not be applied; look at error in webhook_notifications, then run `tracking-sync replay --state dead`',
        ],
        ['the last run (sync 7): shipments: <script>alert(1)</script>'],
      ],
      empty: 'none',
    })
    expect(others.map(({ title }) => title)).toEqual([
      'Streams',
      'Last runs',
      'Queues',
      'Request budget',
      'Who writes',
      'Our webhooks',
      'Stored views',
      'This process',
      'Jobs of this process',
    ])
  })

  it('shows texts of others as texts', () => {
    const page = formatStatusPage('a <title>', describeServing(status, serving))
    expect(page).not.toMatch(/<script|<title>a </)
    expect(page).toContain('&#60;script&#62;alert(1)&#60;/script&#62;')
  })
})
