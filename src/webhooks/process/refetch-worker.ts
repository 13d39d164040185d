import type { TrackingService } from '../../source/client/endpoints.js'
import {
  ApiNotFoundError,
  ApiRequestError,
  ApiUnavailableError,
  ConnectorError,
  isAboutOneRecord,
  toError,
} from '../../base/errors.js'
import { SimulatedCrash, type ReachFailpoint } from '../../base/failpoint.js'
import type { Logger } from '../../base/logger.js'
import { backoffMs, type Sleep } from '../../base/retry.js'
import { readRefetch } from '../../ingest/read-refetch.js'
import type { RunLedger } from '../../ingest/run-ledger.js'
import { openNotes, type Ingest, type RunSettings } from '../../ingest/run.js'
import { retryWarehouse, Sink } from '../../ingest/sink.js'
import {
  claimRefetches,
  NOTIFICATION_ENTRY,
  postponeRefetch,
  releaseRefetches,
  removeRefetches,
  type ClaimedRefetch,
} from '../../warehouse/bookkeeping/refetch-queue.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import type { Document } from '../../source/jsonapi/document.js'
import { readEnvelope, REFERENCE_INCLUDE } from '../receive/delivery.js'
import { applyNotifications } from './apply-notifications.js'
import { lockUnresolved, recordOutcomes } from './claim-notifications.js'
import { parseNotification, type ParsedNotification } from './prepare-notifications.js'

export interface RefetchWorkerDependencies {
  readonly service: TrackingService
  readonly warehouse: Warehouse
  readonly logger: Logger
  readonly settings: RunSettings
  /** Time that new refetches wait for more notifications. */
  readonly refetchDelayMs: number
  readonly sleep: Sleep
  readonly signal: AbortSignal
  readonly reachFailpoint: ReachFailpoint
}

/** Few enough to read before the claim expires. */
const ENTRIES_PER_CLAIM = 10

const FIRST_WAIT_MS = 60_000
const LONGEST_WAIT_MS = 6 * 3_600_000
/** After a failure of the service, others may read the claimed entries after this time. */
const OUTAGE_WAIT_MS = 10_000

/**
 * Reads the entries of the refetch queue, from the share of the request budget that is reserved for
 * refetches. Any number of workers and a run may share the queue.
 */
export class RefetchWorker {
  readonly #dependencies: RefetchWorkerDependencies

  constructor(dependencies: RefetchWorkerDependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Reads until no entry is due. Returns how many entries were read. Throws if the service or the
   * warehouse fails as a whole; the entries stay.
   */
  async readDue(): Promise<number> {
    let read = 0
    for (;;) {
      const { warehouse, signal } = this.#dependencies
      signal.throwIfAborted()
      const claim = await claimRefetches(warehouse, 'refetch', ENTRIES_PER_CLAIM)
      if (claim.length === 0) return read
      await this.#readClaim(claim)
      read += claim.length
    }
  }

  async #readClaim(claim: readonly ClaimedRefetch[]): Promise<void> {
    const { warehouse, signal } = this.#dependencies
    const ingest = this.#openIngest()
    for (const [at, entry] of claim.entries()) {
      try {
        signal.throwIfAborted()
        await this.#readEntry(ingest, entry)
        if (ingest.notes.ledger.isServiceFailing) {
          throw new ApiUnavailableError('several records in a row could not be read')
        }
      } catch (thrown) {
        // As after a kill, the claims expire by themselves.
        if (thrown instanceof SimulatedCrash) throw thrown
        const waitMs = signal.aborted ? 0 : OUTAGE_WAIT_MS
        await releaseRefetches(warehouse, claim.slice(at), waitMs).catch(() => undefined)
        throw thrown
      }
    }
  }

  async #readEntry(ingest: Ingest, entry: ClaimedRefetch): Promise<void> {
    const { warehouse, logger, signal } = this.#dependencies
    try {
      if (entry.type === NOTIFICATION_ENTRY) {
        await refetchNotification(this.#dependencies, entry)
        ingest.notes.ledger.noteRead()
      } else await readRefetch(ingest, entry)
    } catch (thrown) {
      if (signal.aborted || concernsAll(ingest.notes.ledger, thrown)) throw thrown
      const waitMs = backoffMs(entry.attempts + 1, FIRST_WAIT_MS, LONGEST_WAIT_MS)
      logger.error('a record could not be refetched', { ...entry, waitMs, error: thrown })
      await postponeRefetch(warehouse, entry, toError(thrown).message, waitMs)
    }
  }

  /** A new one for each claim: other processes may change rows that the memory of a sink holds. */
  #openIngest(): Ingest {
    const { service, settings, signal, logger } = this.#dependencies
    return {
      source: { service, settings, signal, purpose: 'refetch' },
      sink: new Sink({ ...this.#dependencies, syncRunId: null, mode: 'refetch' }),
      notes: openNotes(logger),
    }
  }
}

/** The failure concerns the service or the warehouse as a whole, not one record. */
function concernsAll(ledger: RunLedger, thrown: unknown): boolean {
  if (thrown instanceof SimulatedCrash) return true
  if (isAboutOneRecord(thrown)) {
    ledger.noteRead(thrown)
    return ledger.isServiceFailing
  }
  if (!(thrown instanceof ConnectorError)) return false
  return OF_ALL.has(thrown.code)
}

const OF_ALL: ReadonlySet<string> = new Set([
  'api_unavailable',
  'api_rate_limited',
  'api_connection',
  'api_auth',
  'warehouse_unavailable',
  'warehouse_conflict',
  'warehouse_schema',
])

/**
 * Reads a notification whose delivery lacked its subject, and applies it with the stamp of the
 * delivery. If the answer lacks it too, or the interface cannot read notifications, it stays
 * unresolved until a complete sync. One request, or two if the include is refused.
 */
async function refetchNotification(
  dependencies: RefetchWorkerDependencies,
  entry: ClaimedRefetch,
): Promise<void> {
  const answer = await readNotification(dependencies, entry.id)
  const { warehouse, refetchDelayMs, reachFailpoint } = dependencies
  await retryWarehouse(dependencies, () =>
    warehouse.transaction('apply a refetched notification', async (session) => {
      const claimed = await lockUnresolved(session, entry.id)
      const stored = claimed === undefined ? undefined : parseNotification(claimed)
      if (stored !== undefined && (answer !== undefined || stored.document.included.length > 0)) {
        const fuller = answer === undefined ? stored : withDocument(stored, answer)
        const outcomes = await applyNotifications(
          session,
          [{ ...fuller, isNotification: true, isRefetched: true }],
          { refetchDelayMs, reachFailpoint },
        )
        await recordOutcomes(session, outcomes)
      }
      await removeRefetches(session, [entry])
    }),
  )
}

/** The service may include less than the delivery did. */
function withDocument(stored: ParsedNotification, document: Document): ParsedNotification {
  if (document.included.length === 0 && stored.document.included.length > 0) return stored
  const reference = readEnvelope(document.data[0])?.reference ?? stored.reference
  return { ...stored, document, reference }
}

/** Undefined if the service lacks it or answers with another one. */
async function readNotification(
  { service, signal }: RefetchWorkerDependencies,
  id: string,
): Promise<Document | undefined> {
  const options = { signal, purpose: 'refetch' as const }
  try {
    const { document } = await service
      .getRecord('webhook_notifications', id, { ...options, includes: [REFERENCE_INCLUDE] })
      .catch((thrown: unknown) => {
        if (!(thrown instanceof ApiRequestError)) throw thrown
        return service.getRecord('webhook_notifications', id, options)
      })
    return readEnvelope(document.data[0])?.notificationId === id ? document : undefined
  } catch (thrown) {
    if (thrown instanceof ApiNotFoundError || thrown instanceof ApiRequestError) return undefined
    throw thrown
  }
}
