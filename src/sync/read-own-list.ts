import { sql } from 'kysely'
import { ApiNotFoundError, ConnectorError } from '../base/errors.js'
import type { ListOptions, RawPage } from '../source/client/list-pages.js'
import { mergeIntakes, readRawRecords, type Intake, type IntakeOptions } from '../ingest/intake.js'
import { ingestListing, type Listing } from '../ingest/mark-gone.js'
import { tryRead } from '../ingest/read-by-id.js'
import type { Reading, Run } from '../ingest/run.js'
import type { Resource } from '../source/records/resource.js'
import type { Warehouse } from '../warehouse/connection/warehouse.js'
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

/** Reads all pages of the list. It proves nothing if it is short or holds a bad record. */
export async function askForOwnList(
  { source: { signal, settings }, notes: { ledger } }: Reading,
  { resource, source, list, seen, mayBeGone }: OwnList,
): Promise<Listing> {
  const { stream, type: ownType } = resource
  const intakes: Intake[] = []
  let startedAt: Date | undefined
  let isWhole = true
  const options = { signal, counter: ledger.counter(stream), pageSize: settings.pageSize }
  try {
    for await (const { document, observedAt, isShort } of list(options)) {
      startedAt ??= observedAt
      const facts = { stream, source, observedAt, ownType, ...seen }
      const intake = readRawRecords({ ...document, included: [] }, facts)
      isWhole &&= !isShort && intake.quarantined.length === 0
      intakes.push(intake)
    }
  } catch (thrown) {
    if (mayBeGone !== true || !(thrown instanceof ApiNotFoundError)) throw thrown
    return { intake: mergeIntakes([]), wholeAt: thrown.observedAt }
  }
  return { intake: mergeIntakes(intakes), wholeAt: isWhole ? startedAt : undefined }
}

/** A refused list answers 403, or 404. */
export function isNotOurs(thrown: unknown): thrown is ConnectorError {
  return thrown instanceof ConnectorError && [403, 404, 410].includes(Number(thrown.context.status))
}

/** After this many refusals the account may read none: a run that may read them continues. */
const MOST_REFUSALS_IN_A_ROW = 3

/**
 * Reads and stores the lists of several owners. An unreadable one costs only itself; the next run
 * asks again. Throws if several in a row are refused, or look like an outage.
 */
export async function readOwnLists(
  run: Run,
  lists: readonly OwnList[],
  onRead: (list: OwnList) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const { ledger, logger } = run.notes
  let refusals = 0
  for (const own of lists) {
    run.source.signal.throwIfAborted()
    const refusal = await tryRead(run, async () => {
      const listing = await askForOwnList(run, own)
      await ingestListing(run, own.resource, listing, (warehouse) =>
        loadOwnKeys(warehouse, own.resource, own.seen),
      )
    })
    if (!(refusal instanceof Error)) {
      refusals = 0
      await onRead(own)
      continue
    }
    refusals = isNotOurs(refusal) ? refusals + 1 : 0
    if (refusals >= MOST_REFUSALS_IN_A_ROW || ledger.isServiceFailing) throw refusal
    logger.warn('a list of one record cannot be read', { list: own.source, error: refusal })
  }
}

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
