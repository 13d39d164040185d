/** Alerts of this program. Each has a rule of the same name in config/prometheus-rules.yml. */
export const OPERATION_ALERTS = [
  'TrackingSyncWebhook',
  'TrackingSyncOverdue',
  'TrackingSyncNotificationsDead',
  'TrackingSyncProcessorFailing',
  'TrackingSyncLastRunFailed',
  'TrackingSyncQuarantine',
  'TrackingSyncSilence',
  'TrackingSyncDiskFull',
  'TrackingSyncSlotBehind',
  'TrackingSyncSlotUnread',
  'TrackingSyncBudgetExhausted',
] as const

export type OperationAlert = (typeof OPERATION_ALERTS)[number]
