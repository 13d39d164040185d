import {
  ApiNotFoundError,
  ApiUnavailableError,
  IncompleteRunError,
  isAboutOneRecord,
  toError,
} from '../base/errors.js'
import { SimulatedCrash } from '../base/failpoint.js'
import { containers, customFields, resources } from '../source/records/index.js'
import type { Resource } from '../source/records/resource.js'
import {
  countAbsences,
  findContainersOfNamedEvents,
  findContainersWithoutRow,
  findUnseenRows,
  forgetAbsences,
  hasAbsences,
  postponeAbsences,
  type OpenAbsence,
} from '../warehouse/bookkeeping/absences.js'
import { tombstoneRows, type GoneRecord } from '../warehouse/rows/tombstones.js'
import { setAsideOf, shownKeys, type Intake } from '../ingest/intake.js'
import { CONTAINERS_WITH_EVENTS, mostMoving, type ListPass } from './list-pass.js'
import type { Run } from '../ingest/run.js'
import { findCustomField, loadEntity, loadFieldDefinitions } from './read-custom-fields.js'
import { readById } from '../ingest/read-by-id.js'
import { ingestAnswer } from '../ingest/ingest-pages.js'
import type { Sink } from '../ingest/sink.js'

/**
 * Confirms that rows which a complete pass did not show are gone. Pages drift during a read, so
 * absence proves nothing: a row unseen in two complete passes is requested by id, and only a 404
 * makes it a tombstone. If more than `mostMoving` rows are missing, the source is suspect: nothing
 * is marked, and IncompleteRunError says so.
 */
export async function confirmAbsences(run: Run, pass: ListPass): Promise<void> {
  const streams = [pass.stream]
  if (pass.findings.areContainersIncluded === true) streams.push(containers.stream)
  for (const stream of streams) {
    const resource = resources.find((candidate) => candidate.stream === stream)
    if (resource !== undefined) await confirmOfStream(run, pass, resource)
  }
}

/** Most requests of a run for missing rows; the next run continues. */
const ASKED_PER_RUN = 100

async function confirmOfStream(run: Run, pass: ListPass, resource: Resource): Promise<void> {
  const { startedAt } = pass
  if (startedAt === undefined) return
  const { sink } = run
  const { stream } = resource
  const seen = pass.seen.get(stream)
  const isSeen = (key: string): boolean => seen?.has(key) ?? false
  const { keys, live } = await sink.retry((warehouse) =>
    findUnseenRows(warehouse, resource, startedAt, isSeen),
  )
  const isAccepted = run.source.settings.acceptShrink === true
  if (!isAccepted && keys.length > mostMoving(live)) {
    const share = Math.round((keys.length * 100) / live)
    throw new IncompleteRunError(
      `the source shrank: ${keys.length} of ${live} ${stream} (${share} %) were in no page; ` +
        'no row was marked as gone. If they really are, run with --accept-shrink',
    )
  }
  const rowless = resource === containers ? await findRowless(sink, pass, startedAt) : []
  const missing = [...keys, ...rowless.filter((key) => !isSeen(key))]
  // Nothing to write, the usual case.
  const isQuiet =
    missing.length === 0 && !(await sink.retry((warehouse) => hasAbsences(warehouse, stream)))
  if (isQuiet) return
  const candidates = await sink.transact('count absences', (session) =>
    countAbsences(session, stream, missing, sink.syncRunId),
  )
  const asked = isAccepted ? candidates : candidates.slice(0, ASKED_PER_RUN)
  if (asked.length > 0) await askFor(run, resource, asked)
}

/**
 * Containers without a row whose transport events are stored although no page and no row of another
 * container names one of them.
 */
async function findRowless(sink: Sink, pass: ListPass, startedAt: Date): Promise<string[]> {
  const reported = pass.seen.get(CONTAINERS_WITH_EVENTS)
  const keys = await sink.retry((warehouse) => findContainersWithoutRow(warehouse, startedAt))
  const unseen = keys.filter((key) => reported?.has(key) !== true)
  if (unseen.length === 0) return unseen
  const named = await sink.retry((warehouse) => findContainersOfNamedEvents(warehouse, unseen))
  return unseen.filter((key) => !named.has(key))
}

/** The service is in trouble: the next run continues. */
const MOST_FAILURES_IN_A_ROW = 3

/**
 * Requests rows one by one. A 404 marks the row, a record is stored; after any other answer the row
 * stays, with the reason, and is requested again in a day.
 */
async function askFor(run: Run, resource: Resource, keys: readonly string[]): Promise<void> {
  const answers: Answers = { gone: [], present: [], open: [] }
  let failuresInARow = 0
  let fatal: Error | undefined
  for (const key of keys) {
    if (run.source.signal.aborted || failuresInARow >= MOST_FAILURES_IN_A_ROW) break
    try {
      const answer = await findRecord(run, resource, key)
      const why = `GET /${resource.stream}/${key}: the answer does not hold the record`
      if (answer instanceof Date) answers.gone.push({ key, observedAt: answer })
      else if (answer) answers.present.push(key)
      else answers.open.push({ key, why })
      failuresInARow = 0
    } catch (thrown) {
      if (thrown instanceof SimulatedCrash) throw thrown
      if (!isAboutOneRecord(thrown)) {
        fatal = toError(thrown)
        break
      }
      const { observedAt } = thrown instanceof ApiNotFoundError ? thrown : {}
      if (observedAt === undefined) answers.open.push({ key, why: toError(thrown).message })
      else answers.gone.push({ key, observedAt })
      failuresInARow = thrown instanceof ApiUnavailableError ? failuresInARow + 1 : 0
    }
  }
  await recordAnswers(run, resource, answers)
  run.source.signal.throwIfAborted()
  if (fatal !== undefined) throw fatal
}

/**
 * True if the answer holds the record, else false. A date if an answer other than 404 shows that it
 * is gone: when it was read. Throws ApiNotFoundError for a 404.
 */
async function findRecord(run: Run, resource: Resource, key: string): Promise<boolean | Date> {
  const intake =
    resource === customFields
      ? await findField(run, key)
      : (await readById(run, { type: resource.type, id: key })).intake
  if (intake instanceof Date) return intake
  if (intake === undefined) return false
  const isShown = shownKeys(intake, resource.stream).includes(key)
  // The values of an entity are a list, complete in themselves.
  await ingestAnswer(run, isShown || resource === customFields ? intake : setAsideOf(intake))
  return isShown
}

async function findField(run: Run, key: string): Promise<Intake | Date | undefined> {
  const entity = await run.sink.retry((warehouse) => loadEntity(warehouse, key))
  if (entity === undefined) return undefined
  const definitions = await run.sink.retry((warehouse) =>
    loadFieldDefinitions(warehouse, run.source.settings),
  )
  return findCustomField(run, key, entity, definitions)
}

interface Answers {
  readonly gone: GoneRecord[]
  readonly present: string[]
  readonly open: OpenAbsence[]
}

async function recordAnswers(
  { sink, notes: { ledger, logger } }: Run,
  resource: Resource,
  { gone, present, open }: Answers,
): Promise<void> {
  const { stream } = resource
  const { marked, told } = await sink.transact('mark rows as gone', async (session) => {
    const keys = await tombstoneRows(session, resource, gone, sink)
    sink.reachFailpoint('mid_tombstones')
    await forgetAbsences(session, stream, [...present, ...gone.map(({ key }) => key)])
    return { marked: keys, told: await postponeAbsences(session, stream, open) }
  })
  ledger.count(stream, { tombstoned: marked.length })
  if (open.length > 0) {
    const message = 'rows are in no page, and the service does not say whether they are gone'
    logger.warn(message, { stream, rows: open.length, first: open[0] })
  }
  const [first] = told
  if (first === undefined) return
  ledger.distrust(
    stream,
    `${told.length} of ${stream} are in no page, and the service does not say whether they are ` +
      `gone. The first is ${first.key}: ${first.why} Ask the service. They stay as they are and are ` +
      `asked for again each day; no further run ends so for them (${sink.warehouse.names.sync}.absences)`,
  )
}
