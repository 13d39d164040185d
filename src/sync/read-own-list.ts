import { sql } from 'kysely'
import { ApiNotFoundError, isAboutOneRecord } from '../base/errors.js'
import type { ListOptions, RawPage } from '../source/client/list-pages.js'
import {
  mergeIntakes,
  shownKeys,
  readRawRecords,
  type Intake,
  type IntakeOptions,
} from '../ingest/intake.js'
import type { Reading, Run } from '../ingest/run.js'
import { ingestAnswer } from '../ingest/ingest-pages.js'
import type { Resource } from '../source/records/resource.js'
import type { Warehouse } from '../warehouse/connection/warehouse.js'
import { tombstoneRows } from '../warehouse/rows/tombstones.js'
import { isNotOurs } from './custom-fields/custom-field-lists.js'
import { tableRef } from '../warehouse/connection/typed-database.js'

/** The whole list of the records of one owner. */
export interface OwnList {
  readonly resource: Resource
  readonly source: string
  readonly list: (options: ListOptions) => AsyncIterable<RawPage>
  /** Facts that its records lack. */
  readonly seen: Pick<IntakeOptions, 'containerId' | 'definitionId' | 'fieldDefinitions'>
  /** The owner may be gone: without a list, its rows are gone too. */
  readonly mayBeGone?: boolean
}

/** The records of a list. */
interface Shown {
  readonly intake: Intake
  /** When the first page was read; undefined if the list may be incomplete. */
  readonly wholeAt: Date | undefined
}

/** Reads all pages of the list. */
export async function askForOwnList(run: Reading, own: OwnList): Promise<Shown> {
  try {
    return await readPages(run, own)
  } catch (thrown) {
    if (own.mayBeGone !== true || !(thrown instanceof ApiNotFoundError)) throw thrown
    return { intake: mergeIntakes([]), wholeAt: thrown.observedAt }
  }
}

async function readPages(
  { source: { signal, settings }, notes: { ledger } }: Reading,
  { resource, source, list, seen }: OwnList,
): Promise<Shown> {
  const { stream, type } = resource
  const intakes: Intake[] = []
  let seenAt: Date | undefined
  let isWhole = true
  const options = { signal, counter: ledger.counter(stream), pageSize: settings.pageSize }
  for await (const page of list(options)) {
    const { observedAt } = page
    seenAt ??= observedAt
    isWhole &&= !page.isShort
    const records = { ...page.document, included: [] }
    const options = { stream, source, observedAt, ownType: type, ...seen }
    intakes.push(readRawRecords(records, options))
  }
  const intake = mergeIntakes(intakes)
  return { intake, wholeAt: isWhole && intake.quarantined.length === 0 ? seenAt : undefined }
}

/** After this many refusals the account may read none: a run that may read them continues. */
const MOST_REFUSALS_IN_A_ROW = 3

/**
 * Reads the lists of several owners. An unreadable one costs only itself; the next run asks again.
 * Throws if several in a row are refused, or look like an outage.
 */
export async function readOwnLists(
  run: Run,
  lists: readonly OwnList[],
  onRead: (list: OwnList) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const { ledger, logger } = run.notes
  const { signal } = run.source
  let refusals = 0
  for (const list of lists) {
    signal.throwIfAborted()
    try {
      await readOwnList(run, list)
      ledger.noteRead()
      refusals = 0
    } catch (thrown) {
      if (signal.aborted || !isAboutOneRecord(thrown)) throw thrown
      ledger.noteRead(thrown)
      refusals = isNotOurs(thrown) ? refusals + 1 : 0
      if (refusals >= MOST_REFUSALS_IN_A_ROW || ledger.isServiceFailing) throw thrown
      logger.warn('a list of one record cannot be read', { list: list.source, error: thrown })
      continue
    }
    await onRead(list)
  }
}

/**
 * Reads and stores the whole list of one owner. Its rows that the list lacks are gone, unless the
 * list was short or held a bad record.
 */
async function readOwnList(run: Run, own: OwnList): Promise<void> {
  const { intake, wholeAt } = await askForOwnList(run, own)
  await ingestAnswer(run, intake)
  if (wholeAt !== undefined)
    await markUnshown(run, own, shownKeys(intake, own.resource.stream), wholeAt)
}

/** Marks live rows of the owner as gone that its list did not show. */
async function markUnshown(
  run: Run,
  { resource, seen }: Pick<OwnList, 'resource' | 'seen'>,
  shownKeys: readonly string[],
  observedAt: Date,
): Promise<void> {
  const { warehouse, syncRunId } = run.sink
  const { stream } = resource
  const shown = new Set(shownKeys)
  const live = await run.sink.retry(() => loadOwnKeys(warehouse, resource, seen))
  const gone = live.filter((key) => !shown.has(key)).map((key) => ({ key, observedAt }))
  if (gone.length === 0) return
  const options = { names: warehouse.names, syncRunId, mode: 'sync' as const }
  const marked = await run.sink.transact(`mark ${stream} as gone`, (session) =>
    tombstoneRows(session, resource, gone, options),
  )
  run.notes.ledger.add(new Map([[stream, { tombstoned: marked.length }]]))
}

/** Keys of the owner's live rows. */
export async function loadOwnKeys(
  warehouse: Warehouse,
  { stream, idColumn }: Resource,
  { containerId, definitionId }: OwnList['seen'],
): Promise<string[]> {
  const owner = containerId === undefined ? 'definition_id' : 'container_id'
  const rows = await warehouse.query(
    `list ${stream} of a record`,
    sql<{ key: string }>`select ${sql.id(idColumn)} as key
from ${tableRef(`data.${stream}`)}
where ${sql.id(owner)} = ${containerId ?? definitionId} and _deleted_at is null`,
  )
  return rows.map(({ key }) => key)
}
