import { sql } from 'kysely'
import { setImmediate as letOthersRun } from 'node:timers/promises'
import { ApiContractError, ConnectorError, toError } from '../../base/errors.js'
import { SimulatedCrash, type ReachFailpoint } from '../../base/failpoint.js'
import { toStorableText } from '../../source/records/column.js'
import { retryWarehouse } from '../../ingest/sink.js'
import type { Session } from '../../warehouse/connection/warehouse.js'
import type { OwnWebhookSettings } from '../manage/own-webhooks.js'
import type { Outcome } from '../receive/notification-states.js'
import { applyNotifications } from './apply-notifications.js'
import {
  claimNotifications,
  deferNotifications,
  recordFailure,
  recordOutcomes,
  type ClaimedNotification,
} from './claim-notifications.js'
import { parseNotification, type ParsedNotification } from './prepare-notifications.js'
import { ASK_EVERY_MS, WebhookOwnership, type OwnershipDependencies } from './webhook-ownership.js'

export interface ProcessDependencies extends OwnershipDependencies {
  readonly settings: {
    readonly own: OwnWebhookSettings
    /** Time that a refetch waits for more notifications about the same record. */
    readonly refetchDelayMs: number
  }
  readonly reachFailpoint: ReachFailpoint
}

/** Outcomes of one batch. `taken` is the sum of the other counts. */
export type BatchReport = Readonly<
  Record<'taken' | Outcome | 'failed' | 'deferred' | 'lagSeconds', number>
>

export const NOTHING: BatchReport = {
  taken: 0,
  processed: 0,
  ignored: 0,
  foreign: 0,
  unresolved: 0,
  failed: 0,
  /** Deferred without an attempt: it is unknown yet whether the webhook is ours. */
  deferred: 0,
  /** Seconds from receipt to outcome, summed. */
  lagSeconds: 0,
}

const BATCH = 100
/** About a millisecond's work; then the receiver, in the same thread, gets its turn. */
const PARSED_AT_ONCE = 10

/**
 * Applies notifications of the inbox, a hundred at a time, each batch in one transaction.
 * Processors on any number of hosts may share an inbox: one of them takes each notification and
 * applies it once. Keep one instance per process.
 */
export class NotificationProcessor {
  readonly #dependencies: ProcessDependencies
  readonly #ownership: WebhookOwnership

  constructor(dependencies: ProcessDependencies) {
    this.#dependencies = dependencies
    this.#ownership = new WebhookOwnership(dependencies)
  }

  /**
   * Applies one batch. A failed batch is applied notification by notification: the bad one is tried
   * again later, ten times, then it is dead; the others go through. If none can be applied and the
   * fault is not in the data, the warehouse is to blame: then it throws, nothing is lost and
   * nothing counts as an attempt.
   */
  async processBatch(): Promise<BatchReport> {
    const { warehouse, signal, reachFailpoint } = this.#dependencies
    let claimed: readonly ClaimedNotification[] = []
    signal.throwIfAborted()
    let report: BatchReport
    try {
      report = await retryWarehouse(this.#dependencies, () =>
        warehouse.transaction('process notifications', async (session) => {
          claimed = await claimNotifications(session, BATCH)
          return this.#apply(session, claimed)
        }),
      )
    } catch (thrown) {
      if (signal.aborted || isOfTheServer(thrown)) throw thrown
      report = await this.#processOneByOne(claimed, thrown)
    }
    if (report.taken > 0) reachFailpoint('after_notifications')
    if (report.deferred > 0 || this.#ownership.isDue) await this.#ownership.ask()
    return report
  }

  /** Applies batches until nothing waits. */
  async processAll(): Promise<BatchReport> {
    let sum = NOTHING
    for (;;) {
      const report = await this.processBatch()
      sum = addReports(sum, report)
      if (report.taken === 0) return sum
    }
  }

  async #processOneByOne(
    claimed: readonly ClaimedNotification[],
    whyNotTogether: unknown,
  ): Promise<BatchReport> {
    const { signal } = this.#dependencies
    let sum = NOTHING
    const undecided: { readonly notificationId: string; readonly thrown: unknown }[] = []
    for (const { notificationId } of claimed) {
      signal.throwIfAborted()
      try {
        sum = addReports(sum, await this.#processOne(notificationId))
      } catch (thrown) {
        if (signal.aborted || isOfTheServer(thrown)) throw thrown
        if (isOfTheData(thrown)) sum = addReports(sum, await this.#fail(notificationId, thrown))
        else undecided.push({ notificationId, thrown })
      }
    }
    // If some were applied, the warehouse is well, and the rest failed by themselves.
    const isWarehouseWell = sum.taken > sum.failed
    if (!isWarehouseWell && undecided.length === claimed.length) throw whyNotTogether
    for (const { notificationId, thrown } of undecided) {
      if (!isWarehouseWell) throw thrown
      sum = addReports(sum, await this.#fail(notificationId, thrown))
    }
    return sum
  }

  /** Tries twice: a lost connection may cause the first failure. */
  async #processOne(notificationId: string): Promise<BatchReport> {
    const { warehouse } = this.#dependencies
    const process = (): Promise<BatchReport> =>
      warehouse.transaction('process notifications', async (session) =>
        this.#apply(session, await claimNotifications(session, 1, notificationId)),
      )
    try {
      return await process()
    } catch (thrown) {
      if (!(thrown instanceof ConnectorError) || thrown.fate !== 'retry') throw thrown
      // In an outage this query fails and ends the batch at its first notification.
      await warehouse.query('look whether the database answers', sql`select 1`)
      return process()
    }
  }

  async #fail(notificationId: string, thrown: unknown): Promise<BatchReport> {
    const { warehouse } = this.#dependencies
    await retryWarehouse(this.#dependencies, () =>
      this.#recordFailure(warehouse, notificationId, thrown),
    )
    return { ...NOTHING, taken: 1, failed: 1 }
  }

  async #apply(session: Session, claimed: readonly ClaimedNotification[]): Promise<BatchReport> {
    const { settings, reachFailpoint } = this.#dependencies
    if (claimed.length === 0) return NOTHING
    const parsed: ParsedNotification[] = []
    for (const [at, one] of claimed.entries()) {
      if (at % PARSED_AT_ONCE === 0) await letOthersRun()
      try {
        parsed.push(parseNotification(one))
      } catch (thrown) {
        if (!(thrown instanceof ApiContractError)) throw thrown
        await this.#recordFailure(session, one.notificationId, thrown)
      }
    }
    const { own, foreign, unknown } = await this.#ownership.part(session, parsed)
    const { refetchDelayMs } = settings
    const { logger } = this.#dependencies
    const onLeft = (records: number): void => {
      logger.warn('too many records without a row were told of; the next sync reads the rest', {
        records,
      })
    }
    const options = { refetchDelayMs, reachFailpoint, onLeft }
    const outcomes = await applyNotifications(session, own, options)
    reachFailpoint('mid_notifications')
    for (const { notificationId } of foreign) outcomes.set(notificationId, 'foreign')
    const lagSeconds = await recordOutcomes(session, outcomes)
    const deferred = unknown.map(({ notificationId }) => notificationId)
    await deferNotifications(session, deferred, ASK_EVERY_MS)
    const report = {
      ...NOTHING,
      taken: claimed.length,
      failed: claimed.length - parsed.length,
      deferred: deferred.length,
      lagSeconds,
    }
    for (const outcome of outcomes.values()) report[outcome] += 1
    return report
  }

  async #recordFailure(session: Session, notificationId: string, thrown: unknown): Promise<void> {
    const { logger } = this.#dependencies
    const error = toError(thrown)
    const text = describeFailure(error)
    const attempts = await recordFailure(session, notificationId, text)
    logger.error('a notification could not be applied', { notificationId, attempts, error })
  }
}

/** Faults of the server: full disk (53100), no free connection (53300), standby (25006). */
const OF_THE_SERVER: ReadonlySet<unknown> = new Set(['53100', '53300', '25006'])

function isOfTheServer(thrown: unknown): boolean {
  if (thrown instanceof SimulatedCrash) return true
  return thrown instanceof ConnectorError && OF_THE_SERVER.has(thrown.context.code)
}

/** A fault of one notification: a value that PostgreSQL refuses, or a bug of ours. */
function isOfTheData(thrown: unknown): boolean {
  if (thrown instanceof ConnectorError) return thrown.fate === 'quarantine'
  return thrown instanceof Error
}

const LONGEST_ERROR = 4_000

/** With its stack, which names the place; messages of our errors hold no secret and no payload. */
function describeFailure(error: Error): string {
  const text = error.stack ?? `${error.name}: ${error.message}`
  return toStorableText(text.slice(0, LONGEST_ERROR)).text
}

export function addReports(one: BatchReport, two: BatchReport): BatchReport {
  const sum = { ...one }
  for (const name of Object.keys(sum) as (keyof BatchReport)[]) sum[name] += two[name]
  return sum
}
