import { createRequire } from 'node:module'
import type * as NodeCron from 'node-cron'
import { setting, text, wholeNumber } from './setting-kinds.js'

const cron = text.refine(
  (value) => value === 'off' || isCronExpression(value),
  'must be a cron expression like */15 * * * *, or off',
)

/**
 * Every command reads the settings, and few have a cron expression that is not the default: the
 * package is loaded when there is one.
 */
function isCronExpression(value: string): boolean {
  const { validate } = createRequire(import.meta.url)('node-cron') as typeof NodeCron
  return validate(value)
}

/** The settings of `serve`; a part of the object in `config.ts`. */
export const serveSettings = {
  hosts: setting(
    text
      .regex(
        /^[\w.-]+(?:\s*,\s*[\w.-]+)*$/,
        'must be names of hosts without ports, separated by commas',
      )
      .optional(),
    { variable: 'TRACKING_HOSTS', flag: '--hosts' },
    'Names under which the status page and /metrics are asked for, separated by commas; localhost and addresses always are. Others are answered 421.',
  ),
  syncCron: setting(
    cron.default('*/15 * * * *'),
    { variable: 'SYNC_CRON', flag: '--sync-cron' },
    'When serve runs a sync: a cron expression, or off.',
  ),
  reconcileCron: setting(
    cron.default('7 * * * *'),
    { variable: 'TRACKING_RECONCILE_CRON', flag: '--reconcile-cron' },
    'When serve asks for notifications that were not delivered and checks our webhook: a cron expression, or off.',
  ),
  cronTimeZone: setting(
    text.refine(isTimeZone, 'must be an IANA time zone like Europe/Berlin').default('UTC'),
    { variable: 'TRACKING_CRON_TIME_ZONE', flag: '--cron-time-zone' },
    'Time zone that the cron expressions are read in.',
  ),
  processorWorkers: setting(
    wholeNumber(1, 16).default(1),
    { variable: 'TRACKING_PROCESSOR_WORKERS', flag: '--processor-workers' },
    'Workers of one process that apply notifications side by side. More help where the database is far away; else they mostly wait for each other, because many notifications come with the same ports.',
  ),
  refetchDelayMs: setting(
    wholeNumber(0, 60_000).default(1000),
    { variable: 'TRACKING_REFETCH_DELAY_MS', flag: '--refetch-delay' },
    'Milliseconds a record waits before it is refetched by id, so that notifications that arrive together cost one request.',
  ),
  shutdownSeconds: setting(
    wholeNumber(1, 600).default(25),
    { variable: 'TRACKING_SHUTDOWN_SECONDS', flag: '--shutdown-seconds' },
    'Seconds serve takes at most to finish what is under way when it is told to stop.',
  ),
}

function isTimeZone(value: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: value })
    return true
  } catch {
    return false
  }
}
