import { parsePage, type ListOptions, type Page } from '../api/list-pages.js'
import { isAboutOneRecord } from '../base/errors.js'
import { mergeIntakes, shownKeys, takeIn, type Intake } from '../ingest/intake.js'
import { retryWarehouse, transact } from '../ingest/retry-warehouse.js'
import type { Run } from '../ingest/run.js'
import { storeIntake } from '../ingest/store-intake.js'
import { isObject } from '../jsonapi/document.js'
import type { Resource } from '../resources/resource.js'
import { quoteIdentifier } from '../warehouse/connection/schema-names.js'
import { tombstoneRows } from '../warehouse/rows/tombstones.js'
import { isNotOurs } from './custom-fields/custom-field-lists.js'

/** The whole list of what belongs to one record. */
export interface OwnList {
  readonly resource: Resource
  /** The column that says to which record a row belongs. */
  readonly owner: { readonly column: 'container_id' | 'definition_id'; readonly id: string }
  readonly source: string
  readonly list: (options: ListOptions) => AsyncIterable<Page>
}

/** The account may not read any: the rest is left to a run that may. */
const MOST_REFUSALS_IN_A_ROW = 3

/**
 * Reads the lists of several records. One that cannot be read costs itself and is asked for by the
 * next run. Throws when several in a row are refused, or look like an outage.
 */
export async function readOwnLists(
  run: Run,
  lists: readonly OwnList[],
  onRead: (list: OwnList) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const { ledger, logger, signal } = run
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
 * Reads the whole list of what belongs to one record, and stores it. Rows of that record that it
 * does not show are gone, unless the list was short or held a bad record.
 */
async function readOwnList(run: Run, { resource, owner, source, list }: OwnList): Promise<void> {
  const { warehouse, signal, syncRunId } = run
  const { stream, type, idColumn } = resource
  const ofOwner =
    owner.column === 'container_id' ? { containerId: owner.id } : { definitionId: owner.id }
  const intakes: Intake[] = []
  let seenAt: Date | undefined
  let isWhole = true
  const options = { signal, counter: run.ledger.counter(stream), pageSize: run.settings.pageSize }
  for await (const page of list(options)) {
    const { observedAt } = page
    seenAt ??= observedAt
    isWhole &&= !page.isShort
    // The list says what its records are; nothing says which type the service gives them.
    const data = parsePage(page).data.map((one) => (isObject(one) ? { ...one, type } : one))
    const records = { data, included: [] }
    intakes.push(takeIn(records, { stream, source, observedAt, ...ofOwner }))
  }
  const intake = mergeIntakes(intakes)
  await storeIntake(run, intake)
  if (seenAt === undefined || !isWhole || intake.quarantined.length > 0) return
  const observedAt = seenAt
  const shown = new Set(shownKeys(intake, stream))
  const key = quoteIdentifier(idColumn)
  const rows = await retryWarehouse(run, () =>
    warehouse.query<{ key: string }>(
      `list ${stream} of a record`,
      `select ${key} as key
from ${warehouse.names.table(resource.stream)}
where ${quoteIdentifier(owner.column)} = $1 and _deleted_at is null`,
      [owner.id],
    ),
  )
  const gone = rows.filter((row) => !shown.has(row.key))
  if (gone.length === 0) return
  const marked = await transact(run, `mark ${stream} as gone`, (session) =>
    tombstoneRows(
      session,
      resource,
      gone.map((row) => ({ key: row.key, observedAt })),
      { names: warehouse.names, syncRunId, mode: 'sync' },
    ),
  )
  run.ledger.add(new Map([[stream, { tombstoned: marked.length }]]))
}
