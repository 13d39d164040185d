// The row of config/grafana-dashboard.json over the metrics. Several processes of a warehouse tell
// the same of it: `max` takes it once. What a process counts is added up.

/** A metric of ours, of the jobs that the dashboard is set to. */
const of = (name, labels = '') => `tracking_sync_${name}{job=~"$job"${labels}}`
const perMinute = (name, labels) => `60 * sum(rate(${of(name, labels)}[$__rate_interval]))`
const perMinuteBy = (label, name) => `60 * sum by (${label}) (rate(${of(name)}[$__rate_interval]))`

const GOOD_AT_0 = [[undefined, 'green'], [1, 'red']] // prettier-ignore
const GOOD_AT_1 = [[undefined, 'red'], [1, 'green']] // prettier-ignore

export const METRIC_PANELS = [
  {
    title: 'Alerts that fire',
    shape: 'states',
    size: [24, 5],
    meaning:
      'Rules of config/prometheus-rules.yml that fired, over time. Empty: none did, or ' +
      'Prometheus does not have the rules. Each says itself what to do.',
    queries: [
      [
        'max by (alertname) (ALERTS{alertname=~"TrackingSync.+", alertstate="firing"})',
        '{{alertname}}',
      ],
    ],
  },
  {
    title: 'Age of the last complete sync',
    shape: 'stat',
    size: [4, 4],
    unit: 's',
    meaning:
      'Time since the last complete sync began: nothing in the warehouse is older. Red is more ' +
      'than six hours. Empty: no sync has completed; look at the log of `tracking-sync serve`.',
    steps: [[undefined, 'green'], [3600, 'orange'], [21600, 'red']], // prettier-ignore
    queries: [[`max(${of('last_complete_sync_age_seconds')})`]],
  },
  {
    title: 'Sync is due',
    shape: 'stat',
    size: [4, 4],
    words: { 0: 'in time', 1: 'overdue' },
    meaning:
      'Overdue: no sync has completed for more than two slots of SYNC_CRON. Run `tracking-sync ' +
      'status` to see why. Empty: SYNC_CRON is off.',
    steps: GOOD_AT_0,
    queries: [[`max(${of('sync_overdue')})`]],
  },
  {
    title: 'Last run',
    shape: 'stat',
    size: [4, 4],
    words: { 0: 'good', 1: 'has a problem' },
    meaning:
      'Whether the last run that has ended had a problem. `tracking-sync status` says which, and ' +
      'what to do.',
    steps: GOOD_AT_0,
    queries: [[`max(${of('last_run_failed')})`]],
  },
  {
    title: 'Warehouse',
    shape: 'stat',
    size: [4, 4],
    words: { 0: 'away', 1: 'answers' },
    meaning:
      'Whether the database answers every process. Away: deliveries are refused until it is ' +
      'back, and the figures of the warehouse are missing. `tracking-sync check` says why.',
    steps: GOOD_AT_1,
    queries: [[`min(${of('warehouse_up')})`]],
  },
  {
    title: 'Webhook alerts',
    shape: 'stat',
    size: [4, 4],
    meaning:
      'Webhooks of ours that are switched off, gone or incomplete. `tracking-sync status` says ' +
      'what is wrong with which; `tracking-sync webhooks enable` or `create` mends it.',
    steps: GOOD_AT_0,
    queries: [[`max(${of('webhook_alerts')})`]],
  },
  {
    title: 'Dead notifications',
    shape: 'stat',
    size: [4, 4],
    meaning:
      'Notifications that failed ten times. Read error in tracking_sync.webhook_notifications, ' +
      'mend the cause, then run `tracking-sync webhooks replay --state dead`.',
    steps: GOOD_AT_0,
    queries: [[`max(${of('notifications', ', state="dead"')})`]],
  },
  {
    title: 'Age of each stream',
    shape: 'lines',
    unit: 's',
    meaning:
      'Time since the last complete pass over the stream began. It falls when a run ends: a ' +
      'tooth that goes on rising is a stream that no run completes: see `tracking-sync status`.',
    queries: [[`max by (stream) (${of('stream_age_seconds')})`, '{{stream}}']],
  },
  {
    title: 'Rows of the last run',
    shape: 'lines',
    unit: 'short',
    meaning:
      'Rows the last run wrote, marked as gone (tombstoned), set aside (quarantined), or stored ' +
      'with a value that could not be kept as sent (coerced). A jump of tombstoned or ' +
      'quarantined is a question to the service; `tracking-sync quarantine list` shows them.',
    queries: [[`sum by (change) (max by (stream, change) (${of('last_run_rows')}))`, '{{change}}']],
  },
  {
    title: 'Replication slots',
    shape: 'lines',
    unit: 'bytes',
    meaning:
      'Log that the server keeps for each replication slot, and what its reader has not ' +
      'confirmed. A line that only rises fills the disk: start the reader of the slot again, or ' +
      'drop the slot. Empty: there is none.',
    queries: [
      [`max by (slot) (${of('replication_slot_kept_bytes')})`, '{{slot}}: kept'],
      [`max by (slot) (${of('replication_slot_lag_bytes')})`, '{{slot}}: not confirmed'],
    ],
  },
  {
    title: 'Duration of the last run',
    shape: 'lines',
    unit: 's',
    meaning:
      'How long the last run took, by command and outcome. Near the time between two slots of ' +
      'SYNC_CRON: allow more requests (TRACKING_RATE_LIMIT_PER_MINUTE) or sync less often.',
    queries: [
      [`max by (command, outcome) (${of('last_run_duration_seconds')})`, '{{command}} {{outcome}}'],
    ],
  },
  {
    title: 'Request budget',
    shape: 'lines',
    unit: 'short',
    meaning:
      'Requests of all processes in the last minute, and how many are allowed. At the limit all ' +
      'day: runs wait; `tracking-sync plan` tells what a run costs. A pause is one that the ' +
      'service asked for, in seconds.',
    queries: [
      [`max(${of('request_budget_used')})`, 'used'],
      [`max(${of('request_budget_limit')})`, 'allowed'],
      [`max(${of('request_pause_seconds')})`, 'pause'],
    ],
  },
  {
    title: 'Requests to the service',
    shape: 'lines',
    unit: 'short',
    meaning:
      'Requests a minute, those tried again, and those answered 429. Many retries: the service ' +
      'is in trouble, and runs take longer. Answers of 429 that stay: lower ' +
      'TRACKING_RATE_LIMIT_PER_MINUTE.',
    queries: [
      [perMinute('api_requests_total'), 'requests'],
      [perMinute('api_retries_total'), 'tried again'],
      [perMinute('api_rate_limited_total'), 'answered 429'],
    ],
  },
  {
    title: 'Deliveries',
    shape: 'lines',
    unit: 'short',
    meaning:
      'Webhook deliveries a minute, by result. refused_signature: somebody else sends, or ' +
      'TRACKING_WEBHOOK_SECRET is wrong; run `tracking-sync check`. unavailable: the database ' +
      'did not take them in time; the service sends them again.',
    queries: [[perMinuteBy('result', 'webhook_deliveries_total'), '{{result}}']],
  },
  {
    title: 'Time to answer a delivery',
    shape: 'lines',
    unit: 's',
    meaning:
      'How long 50 and 99 of 100 accepted deliveries wait for their answer, which comes after ' +
      'the commit. Senders give up after seconds: above one, look at the disk of the database.',
    queries: [0.5, 0.99].map((share) => [
      `histogram_quantile(${share}, sum by (le) (rate(${of(
        'webhook_ack_seconds_bucket',
      )}[$__rate_interval])))`,
      `${share * 100} of 100`,
    ]),
  },
  {
    title: 'From delivery to row',
    shape: 'lines',
    unit: 's',
    meaning:
      'Mean time from the receipt of a notification to its outcome, and the age of the oldest ' +
      'one and of the oldest refetch that is due. Minutes: no process applies them, requests are ' +
      'short, or one is tried again. Start `tracking-sync serve`, or read error in ' +
      'tracking_sync.webhook_notifications.',
    queries: [
      [
        `${perMinute('notification_lag_seconds_total')} / ${perMinute(
          'notifications_handled_total',
          ', result!="failed"',
        )}`,
        'mean',
      ],
      [`max(${of('oldest_unprocessed_notification_age_seconds')})`, 'oldest that waits'],
      [`max(${of('oldest_refetch_age_seconds')})`, 'oldest refetch'],
    ],
  },
  {
    title: 'Notifications handled',
    shape: 'lines',
    unit: 'short',
    meaning:
      'Notifications a minute, by what became of them, and records refetched for them. failed ' +
      'counts attempts: the log says why. foreign ones are of webhooks that are not ours.',
    queries: [
      [perMinuteBy('result', 'notifications_handled_total'), '{{result}}'],
      [perMinute('refetches_total'), 'refetched'],
    ],
  },
  {
    title: 'What waits',
    shape: 'lines',
    unit: 'short',
    meaning:
      'Notifications that are not finished, records to be refetched, and records in quarantine. ' +
      'A queue that only grows: requests are short (see the request budget) or no process works ' +
      'on it. `tracking-sync quarantine list` shows what is set aside.',
    queries: [
      [`max by (state) (${of('notifications')})`, 'notifications: {{state}}'],
      [`max(${of('refetch_queue')})`, 'to be refetched'],
      [`max(${of('quarantined_records')})`, 'in quarantine'],
    ],
  },
  {
    title: 'Jobs that failed',
    shape: 'lines',
    unit: 'short',
    meaning:
      'Scheduled jobs that failed in the last hour, by job. sync is told by the alerts; of the ' +
      'others the log of the process says why.',
    queries: [[`sum by (name) (increase(${of('job_failures_total')}[1h]))`, '{{name}}']],
  },
  {
    title: 'Memory of the process',
    shape: 'lines',
    unit: 'bytes',
    meaning:
      'Resident memory of each process. It rises during a run and levels off. Where it goes on ' +
      'rising for days, report it as a fault of the program.',
    queries: [['process_resident_memory_bytes{job=~"$job"}', '{{instance}}']],
  },
]
