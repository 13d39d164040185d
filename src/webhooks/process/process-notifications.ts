import { ApiContractError, ConnectorError, toError } from '../../base/errors.js'
import type { TrackingService } from '../../api/endpoints.js'
import { SimulatedCrash, type ReachFailpoint } from '../../base/failpoint.js'
import type { Logger } from '../../base/logger.js'
import type { Sleep } from '../../base/retry.js'
import { toStorableText } from '../../resources/storable-text.js'
import { retryWarehouse } from '../../ingest/retry-warehouse.js'
import type { Session, Warehouse } from '../../warehouse/connection/warehouse.js'
import { applyNotifications } from './apply-notifications.js'
import {
  claimNotification,
  claimNotifications,
  deferNotifications,
  noteFailedAttempt,
  settleNotifications,
  type ClaimedNotification,
  type Settlement,
} from './claim-notifications.js'
import type { OwnWebhookSettings } from '../manage/own-webhooks.js'
import { letOthersRun } from './let-others-run.js'
import { parseNotification, type ParsedNotification } from './parse-notification.js'
import { WebhookOwnership } from './webhook-ownership.js'

export interface ProcessSettings {
  readonly own: OwnWebhookSettings
  /** How long a refetch waits for more news about the same record. */
  readonly refetchDelayMs: number
}

export interface ProcessDependencies {
  readonly service: Pick<TrackingService, 'listWebhooks'>
  readonly warehouse: Warehouse
  readonly logger: Logger
  readonly settings: ProcessSettings
  readonly sleep: Sleep
  readonly signal: AbortSignal
  readonly reachFailpoint: ReachFailpoint
}

/** What one batch came to. */
export interface BatchReport {
  /** Notifications that were taken up: settled, failed or put off. */
  readonly taken: number
  readonly settled: Readonly<Record<Settlement, number>>
  readonly failed: number
  /** Put off without an attempt: nobody could say yet whether their webhook is ours. */
  readonly deferred: number
}

const BATCH = 100
/** About a millisecond's work. */
const READ_AT_ONCE = 10

/**
 * Applies notifications of the inbox, a hundred at a time, each batch in one transaction. Any
 * number of processors may share an inbox, on any number of hosts: each notification is taken by
 * one and applied once. Keep one instance per process.
 */
export class NotificationProcessor {
  readonly #dependencies: ProcessDependencies
  readonly #ownership: WebhookOwnership

  constructor(dependencies: ProcessDependencies) {
    this.#dependencies = dependencies
    this.#ownership = new WebhookOwnership(dependencies)
  }

  /**
   * Applies one batch. A batch that fails, whatever the error, is taken notification by
   * notification: the bad one is tried again later, ten times, then it is dead; the others flow on.
   * Where none of them can be applied, for a reason that is not theirs, the warehouse is to blame:
   * then it throws, nothing is lost and nothing counts as an attempt.
   */
  async processBatch(): Promise<BatchReport> {
    const { warehouse, signal, reachFailpoint } = this.#dependencies
    const seen: ClaimedNotification[] = []
    signal.throwIfAborted()
    let report: BatchReport
    try {
      report = await this.#inTransaction(async (session) => {
        seen.splice(0, seen.length, ...(await claimNotifications(session, warehouse.names, BATCH)))
        return this.#apply(session, seen)
      })
    } catch (thrown) {
      if (signal.aborted || isOfTheServer(thrown)) throw thrown
      report = await this.#processOneByOne(seen, thrown)
    }
    if (report.taken > 0) reachFailpoint('after_notifications')
    await this.#ownership.refreshWhereNeeded()
    return report
  }

  /** Applies batches until nothing waits any more. */
  async processAll(): Promise<BatchReport> {
    let sum = emptyReport()
    for (;;) {
      const report = await this.processBatch()
      sum = addReports(sum, report)
      if (report.taken === 0) return sum
    }
  }

  #inTransaction(work: (session: Session) => Promise<BatchReport>): Promise<BatchReport> {
    const { warehouse } = this.#dependencies
    return retryWarehouse(this.#dependencies, () =>
      warehouse.transaction('process notifications', work),
    )
  }

  async #processOneByOne(
    claimed: readonly ClaimedNotification[],
    whyNotTogether: unknown,
  ): Promise<BatchReport> {
    const { signal } = this.#dependencies
    let sum = emptyReport()
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
    // Where others could be applied, the warehouse is well, and what could not be is to blame
    // itself.
    const isWarehouseWell = sum.taken > sum.failed
    if (!isWarehouseWell && undecided.length === claimed.length) throw whyNotTogether
    for (const { notificationId, thrown } of undecided) {
      if (!isWarehouseWell) throw thrown
      sum = addReports(sum, await this.#fail(notificationId, thrown))
    }
    return sum
  }

  /** Tries twice: the first failure may be that of a connection which was lost meanwhile. */
  async #processOne(notificationId: string): Promise<BatchReport> {
    const { warehouse } = this.#dependencies
    const process = (): Promise<BatchReport> =>
      warehouse.transaction('process notifications', async (session) => {
        const one = await claimNotification(session, warehouse.names, notificationId)
        return this.#apply(session, one === undefined ? [] : [one])
      })
    try {
      return await process()
    } catch (thrown) {
      if (!(thrown instanceof ConnectorError) || thrown.fate !== 'retry') throw thrown
      // An outage ends here, and not after a hundred tries.
      await warehouse.query('look whether the database answers', 'select 1')
      return process()
    }
  }

  async #fail(notificationId: string, thrown: unknown): Promise<BatchReport> {
    const { warehouse } = this.#dependencies
    await retryWarehouse(this.#dependencies, () =>
      this.#noteFailure(warehouse, notificationId, thrown),
    )
    return { ...emptyReport(), taken: 1, failed: 1 }
  }

  async #apply(session: Session, claimed: readonly ClaimedNotification[]): Promise<BatchReport> {
    const { warehouse, settings, reachFailpoint } = this.#dependencies
    const { names } = warehouse
    if (claimed.length === 0) return emptyReport()
    const readable: (ParsedNotification & ClaimedNotification)[] = []
    let failed = 0
    for (const [at, one] of claimed.entries()) {
      if (at % READ_AT_ONCE === 0) await letOthersRun()
      try {
        readable.push({ ...one, ...parseNotification(one) })
      } catch (thrown) {
        if (!(thrown instanceof ApiContractError)) throw thrown
        await this.#noteFailure(session, one.notificationId, thrown)
        failed += 1
      }
    }
    const { own, foreign, unknown } = await this.#ownership.part(session, readable)
    const settlements = await applyNotifications(
      session,
      own.map(({ news }) => news),
      { names, refetchDelayMs: settings.refetchDelayMs, reachFailpoint },
    )
    reachFailpoint('mid_notifications')
    for (const { notificationId } of foreign) settlements.set(notificationId, 'foreign')
    await settleNotifications(session, names, settlements)
    const deferred = unknown.map(({ notificationId }) => notificationId)
    await deferNotifications(session, names, deferred, this.#ownership.waitMs, null)
    return {
      taken: claimed.length,
      settled: countSettlements(settlements),
      failed,
      deferred: deferred.length,
    }
  }

  async #noteFailure(session: Session, notificationId: string, thrown: unknown): Promise<void> {
    const { warehouse, logger } = this.#dependencies
    const error = toError(thrown)
    const text = describeFailure(error)
    const attempts = await noteFailedAttempt(session, warehouse.names, notificationId, text)
    logger.error('a notification could not be applied', { notificationId, attempts, error })
  }
}

/** A full disk (53100), no free connection (53300), a standby (25006): whatever is applied. */
const OF_THE_SERVER: ReadonlySet<unknown> = new Set(['53100', '53300', '25006'])

function isOfTheServer(thrown: unknown): boolean {
  if (thrown instanceof SimulatedCrash) return true
  return thrown instanceof ConnectorError && OF_THE_SERVER.has(thrown.context.code)
}

/**
 * Faults of one notification: a value that PostgreSQL refuses, or one that our own code did not
 * expect.
 */
function isOfTheData(thrown: unknown): boolean {
  if (thrown instanceof ConnectorError) return thrown.fate === 'quarantine'
  return thrown instanceof Error
}

const LONGEST_ERROR = 4_000

/** With its stack, which says where; messages of our errors hold no secret and no payload. */
function describeFailure(error: Error): string {
  const text = error.stack ?? `${error.name}: ${error.message}`
  return toStorableText(text.slice(0, LONGEST_ERROR)).text
}

function emptyReport(): BatchReport {
  return { taken: 0, settled: countSettlements(new Map()), failed: 0, deferred: 0 }
}

function countSettlements(
  settlements: ReadonlyMap<string, Settlement>,
): Record<Settlement, number> {
  const counts = { processed: 0, ignored: 0, foreign: 0, unresolved: 0 }
  for (const settlement of settlements.values()) counts[settlement] += 1
  return counts
}

function addReports(one: BatchReport, two: BatchReport): BatchReport {
  const settled = { ...one.settled }
  for (const name of Object.keys(settled) as Settlement[]) settled[name] += two.settled[name]
  return {
    taken: one.taken + two.taken,
    settled,
    failed: one.failed + two.failed,
    deferred: one.deferred + two.deferred,
  }
}
