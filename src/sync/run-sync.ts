import type { TrackingService } from '../api/endpoints.js'
import { ApiAuthError, ApiUnavailableError, ConnectorError, toError } from '../base/errors.js'
import { EXIT_CODES, exitCodeOf } from '../base/exit-code.js'
import { noFailpoints, SimulatedCrash, type ReachFailpoint } from '../base/failpoint.js'
import type { Logger } from '../base/logger.js'
import { createSleep, type Sleep } from '../base/retry.js'
import {
  closeKilledRuns,
  finishRun,
  saveStreamStates,
  startRun,
  type StreamState,
} from '../warehouse/bookkeeping/sync-runs.js'
import { analyzeWritten } from '../warehouse/schema/analyze-tables.js'
import { deriveAnew } from '../warehouse/rows/derive-anew.js'
import { storeViews } from '../warehouse/schema/store-views.js'
import type { RunOutcome, StreamOutcome } from '../warehouse/connection/tables.js'
import type { Warehouse } from '../warehouse/connection/warehouse.js'
import { checkTransportEvents, checkUnlistedEvents } from './check-transport-events.js'
import { DriftWatch } from '../ingest/drift-watch.js'
import { FingerprintMemory } from '../ingest/fingerprint-memory.js'
import { holdLease, type HeldDependencies, type LeaseTimes } from './hold-lease.js'
import { findUntrusted, judgeRun, type Failure } from './judge-run.js'
import { noteDrift } from './note-drift.js'
import { readMissingReferences, readVesselPositions } from './read-references.js'
import { RunLedger } from '../ingest/run-ledger.js'
import type { Progress, Run, RunSettings } from '../ingest/run.js'
import { retryWarehouse } from '../ingest/retry-warehouse.js'
import { readEventCatalogue } from './read-event-catalogue.js'
import { overrideFutureStamps } from '../ingest/thorough.js'
import { walkContainers, walkShipments, walkTrackingRequests } from './walk-lists.js'

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
  readonly leaseTimes?: LeaseTimes
}

export type { Failure } from './judge-run.js'

/** The commands that read the service into the warehouse, as `sync_runs` names them. */
export type RunCommand = 'backfill' | 'sync' | 'quarantine retry'

export interface RunReport {
  readonly syncRunId: number
  readonly command: RunCommand
  readonly outcome: RunOutcome
  readonly exitCode: number
  readonly streams: readonly StreamState[]
  readonly requests: number
  /**
   * One sentence on each thing that went wrong, the gravest first; empty when the run is complete.
   */
  readonly problems: readonly string[]
  /**
   * One sentence on each attribute, value or type that this version does not know, or that
   * vanished; only what is new.
   */
  readonly drift: readonly string[]
}

/**
 * One run: walks the lists of the service, or what of them can still change (`openPass`), and
 * writes what differs. A stream that fails leaves the others their chance; a refused key, a lost
 * database or a signal ends the run. Exit 0 means that every stream is complete. Idempotent: a
 * second run over a quiet source writes nothing but its run row.
 */
export async function runSync(
  command: 'backfill' | 'sync',
  dependencies: SyncDependencies,
): Promise<RunReport> {
  const report = await executeRun({ command }, dependencies, (run, failures) =>
    walkAll(run, command, failures),
  )
  await storeViewsAfter(report, dependencies)
  return report
}

/**
 * After the run, when others may write again. The data are in the warehouse: that a copy of them is
 * late is no failure of the run.
 */
async function storeViewsAfter(report: RunReport, dependencies: SyncDependencies): Promise<void> {
  const { warehouse, logger, signal, settings } = dependencies
  const { storedViews: when = 'never' } = settings
  if (signal.aborted || report.outcome === 'failed' || report.outcome === 'aborted') return
  try {
    await storeViews(warehouse, { when, logger, signal })
  } catch (thrown) {
    if (!(thrown instanceof ConnectorError)) throw thrown
    logger.warn('the large views were not stored; what was stored before stays', { error: thrown })
  }
}

export interface RunStart {
  readonly command: RunCommand
  /** What narrows the run, for its row. */
  readonly narrowing?: Readonly<Record<string, unknown>>
}

/**
 * Does `work` as a run: as the only writer, with a ledger, and a run row that says what happened,
 * unless the database is what failed. What `work` adds to the failures makes the run incomplete or
 * failed; what it throws ends it.
 */
export async function executeRun(
  start: RunStart,
  dependencies: SyncDependencies,
  work: (run: Run, failures: Failure[]) => Promise<void>,
): Promise<RunReport> {
  const report = await holdLease(start.command, dependencies, (held) =>
    executeAlone(start, dependencies, held, work),
  )
  await analyzeAfter(report, dependencies)
  return report
}

/** Rows are in the warehouse: that nobody has counted them yet is no failure of the run. */
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
  held: HeldDependencies,
  work: (run: Run, failures: Failure[]) => Promise<void>,
): Promise<RunReport> {
  const { warehouse, programVersion, settings } = dependencies
  const { logger } = dependencies
  const sleep = dependencies.sleep ?? createSleep()
  // Named one by one: the row can be read by many, and whoever calls may hand over more than we
  // know.
  const { pageSize, eventConcurrency, vesselPositions, quarantineLimitPercent } = settings
  const options = {
    pageSize,
    eventConcurrency,
    vesselPositions,
    quarantineLimitPercent,
    ...narrowing,
  }
  const syncRunId = await retryWarehouse({ signal: held.signal, sleep, logger }, async () => {
    // Also one of this very run, whose commit was not heard of.
    await closeKilledRuns(warehouse)
    return startRun(warehouse, { command, options, programVersion })
  })
  const run: Run = {
    syncRunId,
    service: dependencies.service,
    warehouse: held.warehouse,
    logger: logger.child({ syncRunId }),
    ledger: new RunLedger(),
    memory: new FingerprintMemory(),
    drift: new DriftWatch(),
    settings,
    signal: held.signal,
    onProgress: dependencies.onProgress ?? (() => undefined),
    isThorough: command === 'backfill',
    reachFailpoint: dependencies.reachFailpoint ?? noFailpoints,
    sleep,
  }
  const failures: Failure[] = []
  let fatal: unknown
  try {
    await deriveChildrenAnew(run)
    run.reachFailpoint('before_first_request')
    await work(run, failures)
    failures.push(...findUntrusted(run))
  } catch (thrown) {
    if (thrown instanceof SimulatedCrash) throw thrown
    fatal = thrown
    if (!(thrown instanceof ConnectorError) && !run.signal.aborted) {
      run.logger.error('the run failed by a fault of the program', { error: thrown })
    }
  }
  return conclude(run, warehouse, command, failures, fatal)
}

/**
 * Before anything is read: what was derived by another version, or with other zone data, is right
 * without a request.
 */
async function deriveChildrenAnew(run: Run): Promise<void> {
  const containers = await retryWarehouse(run, () => deriveAnew(run.warehouse, run))
  if (containers > 0) {
    run.logger.info('deadlines, holds and fees were derived anew', { containers })
  }
}

async function walkAll(run: Run, command: 'backfill' | 'sync', failures: Failure[]): Promise<void> {
  await overrideFutureStamps(run)
  const walked = await attempt(run, 'shipments', failures, () => walkShipments(run))
  const areContainersIncluded = walked?.areContainersIncluded === true
  if (areContainersIncluded) run.ledger.concludeAs('containers', 'shipments')
  const shown = areContainersIncluded
    ? walked
    : await attempt(run, 'containers', failures, () => walkContainers(run))
  await attempt(run, 'tracking_requests', failures, () => walkTrackingRequests(run))
  if (command === 'backfill') {
    await attempt(run, 'webhook_event_categories', failures, () => readEventCatalogue(run))
  }
  // A backfill reads them all, and what came included was compared already.
  if (command === 'sync' && shown?.areTransportEventsIncluded === false) {
    await attempt(run, 'transport event checks', failures, () => checkTransportEvents(run))
  }
  await attempt(run, UNLISTED, failures, () => checkUnlistedEvents(run))
  await attempt(run, 'references', failures, () => readMissingReferences(run))
  if (run.settings.vesselPositions) {
    await attempt(run, 'vessels', failures, () => readVesselPositions(run))
  }
}

const UNLISTED = 'transport events in no list'

/** Parts of a run that are no stream: they read records of several, or some of one. */
const STEPS: ReadonlySet<string> = new Set(['references', 'transport event checks', UNLISTED])

/**
 * Runs one walk. What concerns this stream alone is noted (and undefined returned); everything else
 * is thrown.
 */
export async function attempt<Result>(
  run: Run,
  stream: string,
  failures: Failure[],
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  const isStream = !STEPS.has(stream)
  try {
    const result = await work()
    if (isStream) run.ledger.conclude(stream, 'complete')
    return result
  } catch (thrown) {
    if (run.signal.aborted || !concernsOneStream(thrown) || wasNeverReached(thrown)) {
      if (isStream) run.ledger.conclude(stream, 'failed', toError(thrown).message)
      throw thrown
    }
    const outcome = streamOutcomeOf(thrown)
    if (isStream) run.ledger.conclude(stream, outcome, toError(thrown).message)
    const isDispensable = outcome === 'not_entitled' && OPTIONAL_STREAMS.has(stream)
    run.logger[isDispensable ? 'warn' : 'error'](`${stream}: ${outcome}`, { error: thrown })
    if (!isDispensable) failures.push({ stream, error: toError(thrown) })
    return undefined
  }
}

/** An account may lack the right to these; the warehouse is whole without them. */
const OPTIONAL_STREAMS: ReadonlySet<string> = new Set(['webhook_event_categories', 'vessels'])

function concernsOneStream(thrown: unknown): boolean {
  if (thrown instanceof ApiAuthError) return thrown.context.status === 403
  if (!(thrown instanceof ConnectorError)) return false
  return thrown.code.startsWith('api_') || STREAM_ERRORS.has(thrown.code)
}

/** Nothing listens there: every other stream would wait as long for nothing. */
function wasNeverReached(thrown: unknown): boolean {
  return thrown instanceof ApiUnavailableError && thrown.context.wasSent === false
}

const STREAM_ERRORS: ReadonlySet<string> = new Set(['pagination_loop', 'incomplete_run'])

function streamOutcomeOf(thrown: unknown): StreamOutcome {
  if (thrown instanceof ApiAuthError) return 'not_entitled'
  return exitCodeOf(thrown) === EXIT_CODES.incomplete ? 'incomplete' : 'failed'
}

async function conclude(
  run: Run,
  warehouse: Warehouse,
  command: RunCommand,
  failures: readonly Failure[],
  fatal: unknown,
): Promise<RunReport> {
  const end = judgeRun(run, failures, fatal)
  run.ledger.concludeRest(end.outcome)
  const streams = run.ledger.states()
  const report = {
    syncRunId: run.syncRunId,
    command,
    outcome: end.outcome,
    exitCode: end.exitCode,
    streams,
    requests: run.ledger.requests(),
    problems: end.problems,
    drift: await noteDrift(run),
  }
  run.reachFailpoint('before_run_complete')
  try {
    const save = (): Promise<void> => saveReport(run, warehouse, report, end.errorCode)
    // A database that has just been given up on is not waited for again, and a signal asks for
    // haste.
    await (fatal === undefined && !run.signal.aborted ? retryWarehouse(run, save) : save())
  } catch (thrown) {
    // The database failed: a first failure is the better story, and nothing more can be written
    // anyway.
    if (fatal === undefined) return { ...report, ...failedAtTheEnd(thrown) }
    run.logger.warn('the end of the run could not be written', { error: thrown })
  }
  return report
}

function failedAtTheEnd(thrown: unknown): Pick<RunReport, 'outcome' | 'exitCode' | 'problems'> {
  return { outcome: 'failed', exitCode: exitCodeOf(thrown), problems: [toError(thrown).message] }
}

/**
 * Not fenced, unlike all else: also a run that lost its lease says how it ended, in rows that are
 * its own.
 */
async function saveReport(
  run: Run,
  warehouse: Warehouse,
  report: RunReport,
  errorCode: string | null,
): Promise<void> {
  await warehouse.transaction('finish the run', async (session) => {
    await saveStreamStates(session, run.syncRunId, report.streams)
    await finishRun(session, run.syncRunId, {
      outcome: report.outcome,
      exitCode: report.exitCode,
      errorCode,
      errorMessage: report.problems.length === 0 ? null : report.problems.join('\n'),
      requests: report.requests,
    })
  })
}
