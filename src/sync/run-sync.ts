import type { TrackingService } from '../source/client/endpoints.js'
import { ApiAuthError, ApiUnavailableError, ConnectorError, toError } from '../base/errors.js'
import { EXIT_CODES, exitCodeOf } from '../base/exit-code.js'
import { noFailpoints, SimulatedCrash, type ReachFailpoint } from '../base/failpoint.js'
import type { Logger } from '../base/logger.js'
import { createSleep, type Sleep } from '../base/retry.js'
import {
  closeKilledRuns,
  finishRun,
  loadOutcomeBefore,
  saveStreamStates,
  startRun,
  type StreamState,
} from '../warehouse/bookkeeping/sync-runs.js'
import { analyzeWritten } from '../warehouse/schema/analyze-tables.js'
import { deriveAgain } from '../warehouse/rows/derive-again.js'
import type { RunOutcome, StreamOutcome } from '../warehouse/connection/tables.js'
import type { Warehouse } from '../warehouse/connection/warehouse.js'
import { checkTransportEvents, checkUnlistedEvents } from './check-transport-events.js'
import { holdLease, type HeldDependencies } from './hold-lease.js'
import { recordDrift, recordShares } from './record-drift.js'
import { decideOutcome, recordUntrusted } from './run-outcome.js'
import { openNotes, type Progress, type Run, type RunSettings } from '../ingest/run.js'
import { recognizeByBytes } from '../ingest/recognize-records.js'
import { retryWarehouse, Sink } from '../ingest/sink.js'
import { planFirstChecks, readReferencesAgain } from './read-again.js'
import { readEventCatalogue, readQueued, readVesselPositions } from './read-unlisted.js'
import { putBackFutureStamps } from '../warehouse/rows/future-stamps.js'
import { areCustomFieldsFew, OPTIONAL_LISTS, readOptions } from './read-custom-fields.js'
import { isNotOurs } from './read-own-list.js'
import { readRawEvents } from './read-raw-events.js'
import { settleQuarantine } from './settle-quarantine.js'
import { walkList } from './walk-lists.js'

export interface SyncDependencies {
  readonly service: TrackingService
  readonly warehouse: Warehouse
  readonly logger: Logger
  readonly settings: RunSettings
  readonly programVersion: string
  readonly signal: AbortSignal
  readonly onProgress?: (progress: Progress) => void
  readonly reachFailpoint?: ReachFailpoint
  /** For waits between tries on the warehouse. */
  readonly sleep?: Sleep
  /** Chooses records that need no parsing; by default by their bytes. */
  readonly recognizeBy?: typeof recognizeByBytes
}

/** The commands that read the service into the warehouse, as `sync_runs` names them. */
export type RunCommand = 'backfill' | 'sync' | 'quarantine retry'

export interface RunReport {
  readonly syncRunId: number
  readonly command: RunCommand
  readonly outcome: RunOutcome
  readonly exitCode: number
  readonly streams: readonly StreamState[]
  readonly requests: number
  /** One sentence on each problem, the gravest first. */
  readonly problems: readonly string[]
  /** One sentence on each attribute, value or type that is new or has vanished. */
  readonly drift: readonly string[]
}

/**
 * Walks the lists of the service, or their records that can still change (`openPass`), and writes
 * differences. A failing stream does not stop the others; a refused key, a lost database or a
 * signal ends the run. Idempotent: a second run over a quiet source writes only its run row.
 */
export async function runSync(
  command: 'backfill' | 'sync',
  dependencies: SyncDependencies,
): Promise<RunReport> {
  return executeRun({ command }, dependencies, (run) => walkAll(run, command))
}

export interface RunStart {
  readonly command: RunCommand
  readonly narrowing?: Readonly<Record<string, unknown>>
}

/**
 * Does `work` as a run: as the only writer, with a ledger and a run row with the outcome, unless
 * the database failed. Failures that `work` adds to the ledger make the run incomplete or failed; a
 * thrown error ends it.
 */
export async function executeRun(
  start: RunStart,
  dependencies: SyncDependencies,
  work: (run: Run) => Promise<void>,
): Promise<RunReport> {
  const report = await holdLease(start.command, dependencies, (held) =>
    executeAlone(start, dependencies, held, work),
  )
  await analyzeAfter(report, dependencies)
  return report
}

/** The rows are in the warehouse: missing statistics fail no run. */
async function analyzeAfter(report: RunReport, dependencies: SyncDependencies): Promise<void> {
  const { warehouse, logger, signal } = dependencies
  if (signal.aborted || report.outcome === 'failed') return
  try {
    await analyzeWritten(warehouse, report.streams)
  } catch (thrown) {
    if (!(thrown instanceof ConnectorError)) throw thrown
    logger.warn('the tables were not analyzed; autovacuum does it later', { error: thrown })
  }
}

async function executeAlone(
  { command, narrowing }: RunStart,
  dependencies: SyncDependencies,
  { warehouse, signal }: HeldDependencies,
  work: (run: Run) => Promise<void>,
): Promise<RunReport> {
  const { service, programVersion, settings, logger, sleep = createSleep() } = dependencies
  // Named one by one: the row can be read by many, and a caller may pass more than these.
  const { pageSize, vesselPositions } = settings
  const options = { pageSize, vesselPositions, ...narrowing }
  const syncRunId = await retryWarehouse({ signal, sleep, logger }, async () => {
    // This also closes our own row if its commit was lost.
    await closeKilledRuns(dependencies.warehouse)
    return startRun(dependencies.warehouse, { command, options, programVersion })
  })
  const notes = openNotes(logger.child({ syncRunId }), dependencies.onProgress)
  const sink = new Sink({
    warehouse,
    syncRunId,
    mode: command === 'backfill' ? 'backfill' : 'sync',
    reachFailpoint: dependencies.reachFailpoint ?? noFailpoints,
    signal,
    sleep,
    logger: notes.logger,
  })
  const recognize = (dependencies.recognizeBy ?? recognizeByBytes)(sink, notes)
  const run: Run = { source: { service, settings, signal, recognize }, sink, notes }
  let fatal: unknown
  try {
    await deriveChildrenAgain(run)
    run.sink.reachFailpoint('before_first_request')
    await work(run)
    recordUntrusted(run)
  } catch (thrown) {
    if (thrown instanceof SimulatedCrash) throw thrown
    fatal = thrown
    if (!(thrown instanceof ConnectorError) && !signal.aborted) {
      run.notes.logger.error('the run failed by a fault of the program', { error: thrown })
    }
  }
  return conclude(run, dependencies.warehouse, command, fatal)
}

/** Corrects rows that another version or other zone data derived, without a request. */
async function deriveChildrenAgain(run: Run): Promise<void> {
  const { syncRunId } = run.sink
  const { signal } = run.source
  const containers = await run.sink.retry((warehouse) =>
    deriveAgain(warehouse, { syncRunId, signal }),
  )
  if (containers > 0) {
    run.notes.logger.info('deadlines, holds and fees were derived again', { containers })
  }
}

/** Stamps in the future would keep new observations out of their rows. */
async function overrideFutureStamps(run: Run): Promise<void> {
  const work = 'put back stamps that lie in the future'
  const rows = await run.sink.transact(work, putBackFutureStamps)
  if (rows === 0) return
  run.notes.logger.warn('rows were stamped in the future; they count as seen now', { rows })
}

async function walkAll(run: Run, command: 'backfill' | 'sync'): Promise<void> {
  if (command === 'backfill') await overrideFutureStamps(run)
  const walked = await attempt(run, 'shipments', () => walkList(run, 'shipments'))
  const areContainersIncluded = walked?.areContainersIncluded === true
  if (areContainersIncluded) run.notes.ledger.concludeAs('containers', 'shipments')
  const shown = areContainersIncluded
    ? walked
    : await attempt(run, 'containers', () => walkList(run, 'containers'))
  await attempt(run, 'tracking_requests', () => walkList(run, 'tracking_requests'))
  const isWhole = command === 'backfill' || run.notes.ledger.isShownWhole('shipments')
  const { pageSize } = run.source.settings
  const areFew = (warehouse: Warehouse) => areCustomFieldsFew(warehouse, pageSize)
  if (isWhole || (await run.sink.retry(areFew))) {
    const definitions = await attempt(run, 'custom_field_definitions', () =>
      walkList(run, 'custom_field_definitions'),
    )
    // A definition that changed may have other options.
    const { inserted, updated } = run.notes.ledger.counter('custom_field_definitions')
    if (definitions !== undefined && (isWhole || inserted + updated > 0)) {
      await attempt(run, 'custom_field_options', () => readOptions(run))
    }
    await attempt(run, 'custom_fields', () => walkList(run, 'custom_fields'))
  }
  if (isWhole) {
    await attempt(run, 'webhook_event_categories', () => readEventCatalogue(run))
  }
  // A backfill reads them all, and included events have been compared already.
  const isComplete = shown === undefined || shown.areTransportEventsIncluded === true
  if (command === 'sync' && !isComplete) {
    await attempt(run, 'transport event checks', () => checkTransportEvents(run))
  }
  await attempt(run, UNLISTED, () => checkUnlistedEvents(run))
  if (run.source.settings.rawEvents === true) {
    await attempt(run, 'raw_events', () => readRawEvents(run))
  }
  // First: vessels that are read with their positions need no other read.
  const arePositionsAllowed =
    run.source.settings.vesselPositions &&
    (await attempt(run, 'vessels', async () => {
      await readVesselPositions(run)
      return true
    })) === true
  await attempt(run, 'references', async () => {
    // After a failure of the list nothing was included, and the service is in trouble.
    if (walked !== undefined) await readReferencesAgain(run)
    await planFirstChecks(run, () => readQueued(run))
  })
  // A first load finds its vessels only here.
  const { positionsRefusal } = run.notes.ledger
  if (arePositionsAllowed && positionsRefusal !== undefined) {
    await attempt(run, 'vessels', () => Promise.reject(positionsRefusal))
  }
  await settleQuarantine(run)
  await recordShares(run)
}

const UNLISTED = 'transport events in no list'

/** Parts of a run that are not a stream: they read records of several, or some of one. */
const STEPS: ReadonlySet<string> = new Set(['references', 'transport event checks', UNLISTED])

/** An account may lack the right to these; the warehouse is whole without them. */
const OPTIONAL_STREAMS: ReadonlySet<string> = new Set([
  'webhook_event_categories',
  'vessels',
  'raw_events',
  ...OPTIONAL_LISTS,
])

/** Runs one walk. Records errors of this stream and returns undefined; throws others. */
export async function attempt<Result>(
  run: Run,
  stream: string,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  const conclude = (outcome: StreamOutcome, detail?: string): void => {
    if (!STEPS.has(stream)) run.notes.ledger.conclude(stream, outcome, detail)
  }
  try {
    const result = await work()
    conclude('complete')
    return result
  } catch (thrown) {
    const error = toError(thrown)
    if (run.source.signal.aborted || !concernsOneStream(thrown)) {
      conclude('failed', error.message)
      throw thrown
    }
    const outcome =
      OPTIONAL_STREAMS.has(stream) && isNotOurs(thrown) ? 'not_entitled' : streamOutcomeOf(thrown)
    conclude(outcome, error.message)
    const isDispensable = outcome === 'not_entitled' && OPTIONAL_STREAMS.has(stream)
    const level = isDispensable ? ((await isTold(run, stream)) ? 'debug' : 'warn') : 'error'
    run.notes.logger[level](`${stream}: ${outcome}`, { error })
    if (!isDispensable) run.notes.ledger.failures.push({ stream, error })
    return undefined
  }
}

const STREAM_ERRORS: ReadonlySet<string> = new Set(['pagination_loop', 'incomplete_run'])

function concernsOneStream(thrown: unknown): boolean {
  if (thrown instanceof ApiAuthError) return thrown.context.status === 403
  // Nothing listens there: the other streams would wait in vain too.
  if (thrown instanceof ApiUnavailableError && thrown.context.wasSent === false) return false
  if (!(thrown instanceof ConnectorError)) return false
  return thrown.code.startsWith('api_') || STREAM_ERRORS.has(thrown.code)
}

/** The first refused run reported it; custom fields are reported with their definitions. */
async function isTold(run: Run, stream: string): Promise<boolean> {
  const { ledger } = run.notes
  const isRefused = ledger
    .states()
    .some((one) => one.stream === 'custom_field_definitions' && one.outcome === 'not_entitled')
  if (stream === 'custom_fields' && isRefused) return true
  const before = await run.sink.retry((warehouse) =>
    loadOutcomeBefore(warehouse, stream, run.sink.syncRunId),
  )
  return before === 'not_entitled'
}

function streamOutcomeOf(thrown: unknown): StreamOutcome {
  if (thrown instanceof ApiAuthError) return 'not_entitled'
  return exitCodeOf(thrown) === EXIT_CODES.incomplete ? 'incomplete' : 'failed'
}

async function conclude(
  run: Run,
  warehouse: Warehouse,
  command: RunCommand,
  fatal: unknown,
): Promise<RunReport> {
  const { errorCode, ...end } = decideOutcome(run, fatal)
  run.notes.ledger.concludeRest(end.outcome)
  const report = {
    syncRunId: run.sink.syncRunId,
    command,
    ...end,
    streams: run.notes.ledger.states(),
    requests: run.notes.ledger.requests(),
    drift: await recordDrift(run),
  }
  run.sink.reachFailpoint('before_run_complete')
  const errorMessage = end.problems.length === 0 ? null : end.problems.join('\n')
  // Not fenced: even a run that lost its lease records its outcome, in rows of its own.
  const save = (): Promise<void> =>
    warehouse.transaction('finish the run', async (session) => {
      const { syncRunId, outcome, exitCode, requests } = report
      await saveStreamStates(session, syncRunId, report.streams)
      await finishRun(session, syncRunId, { outcome, exitCode, errorCode, errorMessage, requests })
    })
  try {
    // Skip the retries for a database that just failed, and after a signal.
    await (fatal === undefined && !run.source.signal.aborted ? run.sink.retry(save) : save())
  } catch (thrown) {
    if (fatal === undefined) {
      const problems = [toError(thrown).message]
      return { ...report, outcome: 'failed', exitCode: exitCodeOf(thrown), problems }
    }
    // Report the first failure.
    run.notes.logger.warn('the end of the run could not be written', { error: thrown })
  }
  return report
}
