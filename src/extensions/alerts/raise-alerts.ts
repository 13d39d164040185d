import { sql } from 'kysely'
import type { OperationAlert } from '../../status/operation-alerts.js'
import { toError } from '../../base/errors.js'
import { countOf } from '../../base/phrases.js'
import { findAlerts, type Alert, type AlertFacts } from '../../status/describe-status.js'
import { readVitals, type Vitals } from '../../status/read-vitals.js'
import { tableRef } from '../../warehouse/connection/typed-database.js'
import type { Session } from '../../warehouse/connection/warehouse.js'
import { areViewsStored } from '../answers/store-views.js'
import { channelsOf, type AlertSettings, type ChannelName } from './alert-channels.js'
import { deliverMessages, type DeliveryDependencies } from './deliver-messages.js'
import {
  describeDigest,
  describeOperation,
  type MessageContent,
  type OperationRow,
} from './message.js'
import { findDueDigest, makeDigest, recordExceptions } from './record-exceptions.js'
import { recordOperations } from './record-operations.js'

export interface AlertDependencies extends Omit<DeliveryDependencies, 'channels' | 'at'> {
  readonly settings: AlertSettings
  /** Facts for alerts that are not in the warehouse. */
  readonly facts: () => Promise<AlertFacts>
  /** Allowed requests to the service per minute. */
  readonly requestLimit: number
  /** Tests only: the instant of the look; the database's now by default. */
  readonly at?: string
  /** A run has ended: compare the exceptions too, even without a due digest. */
  readonly isAfterRun: boolean
}

/**
 * Looks for problems, stores the begun and the ended ones, and sends messages: about operations at
 * once, about exceptions in the daily digest. Does nothing without a channel. Never throws: a
 * failure is logged, and the next look makes up for it.
 */
export async function raiseAlerts(dependencies: AlertDependencies): Promise<void> {
  const { settings, logger, at = null } = dependencies
  if (channelsOf(settings).length === 0) return
  const steps: readonly (readonly [string, () => Promise<void>])[] = [
    ['the alerts could not be looked for', () => lookAtOperations(dependencies, at)],
    ['the exceptions could not be looked for', () => lookAtExceptions(dependencies, at)],
    [
      'the messages about alerts could not be sent',
      () => deliverMessages({ ...dependencies, channels: settings, at }),
    ],
  ]
  for (const [failure, step] of steps) {
    await step().catch((thrown: unknown) => {
      logger.warn(failure, { error: toError(thrown) })
    })
  }
}

async function lookAtOperations(
  { warehouse, settings, facts, requestLimit }: AlertDependencies,
  at: string | null,
): Promise<void> {
  const vitals = await readVitals(warehouse)
  const found = [
    ...findAlerts(vitals, await facts()),
    ...findExhaustedBudget(vitals, requestLimit),
  ].filter(({ name }) => settings.names.has(name))
  await warehouse.transaction('compare the alerts', async (session) => {
    const { opened, closed } = await recordOperations(session, found, at)
    const about = (event: 'opened' | 'closed', row: OperationRow, calm?: string): Queued => {
      return { event, alertId: row.alertId, digestOn: null, content: describeOperation(row, calm) }
    }
    const messages = [
      ...opened.map((row) => about('opened', row)),
      ...closed.map((row) => about('closed', row, describeCalm(row.name, vitals))),
    ]
    await queueMessages(session, channelsOf(settings), messages, at)
  })
}

async function lookAtExceptions(
  { warehouse, settings, logger, isAfterRun }: AlertDependencies,
  at: string | null,
): Promise<void> {
  const day = await findDueDigest(warehouse, settings, at)
  if (day === undefined && !isAfterRun) return
  await warehouse.transaction('compare the exceptions', async (session) => {
    // Skip if another process compares them: it takes seconds on a large account.
    if (!(await isFirstAt(session))) return
    const schema = (await areViewsStored(session, ['exceptions'])) ? 'stored' : 'analytics'
    await recordExceptions(session, settings, schema, at)
    const digest = day === undefined ? undefined : await makeDigest(session, day, at)
    if (digest === undefined) return
    const { opened, closed, open } = digest
    logger.info('made the digest of the exceptions', { day: digest.day, opened, closed, open })
    if (opened + closed === 0) return
    const content = describeDigest(digest, settings.pageOf)
    const message = { event: 'digest' as const, alertId: null, digestOn: digest.day, content }
    await queueMessages(session, channelsOf(settings), [message], at)
  })
}

interface Queued {
  readonly event: 'opened' | 'closed' | 'digest'
  /** For an alert, else null. */
  readonly alertId: number | null
  /** For a digest, else null. */
  readonly digestOn: string | null
  readonly content: MessageContent
}

/**
 * Queues one message for each channel. The same event of an alert, or the digest of a day, is
 * queued once for a channel, even if two processes ask.
 */
async function queueMessages(
  session: Session,
  channels: readonly ChannelName[],
  messages: readonly Queued[],
  at: string | null,
): Promise<void> {
  if (messages.length === 0) return
  await session.query(
    'queue messages about alerts',
    sql`insert into ${tableRef('sync.alert_messages')}
    (channel, event, alert_id, digest_on, content, created_at, next_attempt_at)
select channel.name, message.event, message.alert_id, message.digest_on, message.content::jsonb,
    moment.at, moment.at
from unnest(${channels}::text[]) as channel (name)
cross join unnest(${messages.map(({ event }) => event)}::text[],
    ${messages.map(({ alertId }) => alertId)}::bigint[],
    ${messages.map(({ digestOn }) => digestOn)}::date[],
    ${messages.map(({ content }) => JSON.stringify(content))}::text[])
    as message (event, alert_id, digest_on, content)
cross join (select coalesce(${at}::timestamptz, now()) as at) as moment
on conflict do nothing`,
  )
}

async function isFirstAt(session: Session): Promise<boolean> {
  const [row] = await session.query(
    'look whether another process compares the exceptions',
    sql<{
      isFirst: boolean
    }>`select pg_try_advisory_xact_lock(${LOCK_CLASS}, hashtext(${session.names.in('stored', 'attention')})) as "isFirst"`,
  )
  return row?.isFirst === true
}

/** Our own constant: the first key of our advisory locks. */
const LOCK_CLASS = 820_315

const NEARLY_ALL = 0.9

/** A used-up budget is normal during a large read; only a lasting one is reported. */
function findExhaustedBudget({ budgets }: Vitals, requestLimit: number): Alert[] {
  const used = Math.max(0, ...budgets.map(({ requestsLastMinute }) => requestsLastMinute))
  const isPaused = budgets.some(({ pausedUntil }) => pausedUntil !== null)
  if (used < NEARLY_ALL * requestLimit && !isPaused) return []
  const sentence = isPaused
    ? 'the service has asked for pauses for 15 minutes: another program may use up the requests ' +
      'of the account'
    : `the budget of ${countOf(requestLimit, 'request')} a minute has been used up for 15 minutes: ` +
      'runs wait for it (TRACKING_RATE_LIMIT_PER_MINUTE)'
  return [{ name: 'TrackingSyncBudgetExhausted', key: 'TrackingSyncBudgetExhausted', sentence }]
}

/** The sentence that replaces an alert once it is over. */
function describeCalm(name: string, { freshness, lastRun }: Vitals): string {
  const calm: Readonly<Record<string, string>> = {
    TrackingSyncWebhook: 'the webhook sends us what we need, or is no longer ours',
    TrackingSyncOverdue:
      freshness.beganAt === null
        ? 'a run is under way, or none is scheduled'
        : `the last complete sync began ${freshness.beganAt}`,
    TrackingSyncNotificationsDead: 'no notification is left that could not be applied',
    TrackingSyncProcessorFailing: 'the processor works',
    TrackingSyncLastRunFailed:
      lastRun === null
        ? 'no run has ended'
        : `the last run (${lastRun.command} ${lastRun.syncRunId}) ended ${lastRun.outcome}`,
    TrackingSyncQuarantine: 'no record is set aside',
    TrackingSyncSilence: 'it comes again, or this is usual now',
    TrackingSyncDiskFull: 'the disk has room again',
    TrackingSyncSlotBehind: 'the replication slot has caught up, or is gone',
    TrackingSyncSlotUnread: 'the replication slot is read, or is gone',
    TrackingSyncBudgetExhausted: 'requests are left',
  } satisfies Record<OperationAlert, string>
  return calm[name] ?? 'nothing is the matter'
}
