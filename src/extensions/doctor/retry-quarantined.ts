import {
  ApiContractError,
  ApiNotFoundError,
  IncompleteRunError,
  isAboutOneRecord,
  toError,
} from '../../base/errors.js'
import { parseExactJson } from '../../source/jsonapi/exact-json.js'
import {
  dropQuarantine,
  type QuarantineEntry,
} from '../../warehouse/bookkeeping/quarantined-records.js'
import { loadQuarantine, type QuarantineSelection } from './load-quarantine.js'
import { loadFieldDefinitions } from '../../sync/read-custom-fields.js'
import { customFields } from '../../source/records/index.js'
import { valueIn, type Sighting } from '../../source/records/resource.js'
import { loadStoredRows } from '../../warehouse/rows/stored-rows.js'
import { readRecords, type Intake } from '../../ingest/intake.js'
import { readById } from '../../ingest/read-by-id.js'
import { executeRun, type RunReport, type SyncDependencies } from '../../sync/run-sync.js'
import type { Run } from '../../ingest/run.js'
import { ingestAnswer } from '../../ingest/ingest-pages.js'

export interface RetryReport extends RunReport {
  /** Entries whose record is a row now; they have left the quarantine. */
  readonly landed: readonly number[]
  readonly remaining: readonly { readonly quarantineId: number; readonly why: string }[]
}

/**
 * Tries records in quarantine again: each is read by its id or, if that is impossible, from its
 * stored payload. An entry leaves the quarantine when its row is stored. A run like any other,
 * incomplete while entries remain.
 */
export async function retryQuarantined(
  selection: QuarantineSelection,
  dependencies: SyncDependencies,
): Promise<RetryReport> {
  const landed: number[] = []
  const remaining: { quarantineId: number; why: string }[] = []
  const report = await executeRun(
    { command: 'quarantine retry', narrowing: { quarantine: selection } },
    dependencies,
    async (run) => {
      for (const entry of await loadQuarantine(run.sink.warehouse, selection)) {
        run.source.signal.throwIfAborted()
        const { quarantineId } = entry
        const why = run.notes.ledger.isServiceFailing
          ? 'the service failed to show others'
          : await retryEntry(run, entry)
        if (why !== undefined) remaining.push({ quarantineId, why })
        else landed.push(...(await dropQuarantine(run.sink.warehouse, [quarantineId])))
      }
      if (remaining.length === 0) return
      const tried = remaining.length + landed.length
      const message =
        `${remaining.length} of ${tried} records remain set aside; ` +
        '`quarantine show <id>` says why, `quarantine drop <id>` gives one up'
      run.notes.ledger.failures.push({
        stream: 'quarantine',
        error: new IncompleteRunError(message),
      })
    },
  )
  return { ...report, landed, remaining }
}

/** Undefined if the record is a row now, else the reason. */
async function retryEntry(run: Run, entry: QuarantineEntry): Promise<string | undefined> {
  try {
    const intake = (await readAgain(run, entry)) ?? (await flattenPayload(run, entry))
    run.notes.ledger.noteRead()
    const [refused] = intake.quarantined
    // Storing it would count the entry twice.
    if (refused !== undefined) return refused.reason
    if (!holdsRecord(intake, entry)) return 'the answer does not hold the record'
    await ingestAnswer(run, intake)
    return (await hasLanded(run, intake)) ? undefined : 'the database did not take it'
  } catch (thrown) {
    if (thrown instanceof ApiNotFoundError) return 'the service does not have it any more'
    if (thrown instanceof SyntaxError) return 'its payload is not JSON'
    if (!isAboutOneRecord(thrown)) throw thrown
    run.notes.ledger.noteRead(thrown)
    return toError(thrown).message
  }
}

/** Undefined if the record cannot be read by id. */
async function readAgain(run: Run, entry: QuarantineEntry): Promise<Intake | undefined> {
  const { resourceType: type, recordId: id } = entry
  if (type === null || id === null) return undefined
  try {
    return (await readById(run, { type, id })).intake
  } catch (thrown) {
    if (thrown instanceof ApiContractError) return undefined
    throw thrown
  }
}

async function flattenPayload(run: Run, entry: QuarantineEntry): Promise<Intake> {
  const records = { data: [parseExactJson(entry.payload)], included: [] }
  const [, owner = '', id = '', list] = entry.source.split('/')
  const containerId = owner === 'containers' && list !== undefined ? id : undefined
  const definitionId = list === 'options' ? id : undefined
  return readRecords(records, {
    stream: entry.stream,
    source: entry.source,
    // It must not replace later observations.
    observedAt: new Date(entry.lastSeenAt),
    ...(containerId === undefined ? {} : { containerId }),
    ...(definitionId === undefined ? {} : { definitionId }),
    ...(entry.stream === customFields.stream
      ? { fieldDefinitions: await loadFieldDefinitions(run.sink.warehouse, run.source.settings) }
      : {}),
  })
}

/** False if the answer holds another record. */
function holdsRecord({ sightings }: Intake, { recordId }: QuarantineEntry): boolean {
  const idOf = (sighting: Sighting): unknown => valueIn(sighting, sighting.resource.idColumn)
  return recordId === null || [...sightings.values()].flat().some((one) => idOf(one) === recordId)
}

/** Each record has an equal or newer row. */
async function hasLanded({ sink: { warehouse } }: Run, intake: Intake): Promise<boolean> {
  const sightings = [...intake.sightings.values()].flat()
  for (const sighting of sightings) {
    const { resource, key, fingerprint, observedAt } = sighting
    const rows = await loadStoredRows(warehouse, resource, [sighting])
    const row = rows.get(key)
    if (row === undefined) return false
    const isEqual = row.fingerprint === fingerprint && !row.isDeleted
    if (row.observedAt < observedAt && !isEqual) return false
  }
  return sightings.length > 0
}
