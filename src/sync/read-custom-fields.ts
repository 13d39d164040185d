import { parsePage } from '../api/list-pages.js'
import { ApiNotFoundError } from '../base/errors.js'
import { mergeIntakes, shownKeys, takeIn, type Intake } from '../ingest/intake.js'
import { retryWarehouse, transact } from '../ingest/retry-warehouse.js'
import type { Run } from '../ingest/run.js'
import { storeIntake } from '../ingest/store-intake.js'
import { isObject } from '../jsonapi/document.js'
import { customFieldOptions } from '../resources/index.js'
import { tombstoneRows } from '../warehouse/rows/tombstones.js'
import { walkList } from './walk-lists.js'

/**
 * Reads the list of definitions; and the options of those that have some, unless the pass is not
 * complete and no definition has changed.
 */
export async function readDefinitions(run: Run, isComplete = true): Promise<void> {
  await walkList(run, 'custom_field_definitions')
  const { warehouse } = run
  const { inserted, updated } = run.ledger.counter('custom_field_definitions')
  if (!isComplete && inserted + updated === 0) return
  const rows = await retryWarehouse(run, () =>
    warehouse.query<{ id: string }>(
      'list custom fields with options',
      `select custom_field_definition_id as id
from ${warehouse.names.table('custom_field_definitions')}
where data_type in ('enum', 'enum_multi') and _deleted_at is null
order by 1`,
    ),
  )
  for (const { id } of rows) await readOptions(run, id)
}

/** One request, more where the options come in pages. Those that are not shown are gone. */
async function readOptions(run: Run, definitionId: string): Promise<void> {
  const { warehouse, signal, syncRunId } = run
  const { stream, type } = customFieldOptions
  const intakes: Intake[] = []
  let observedAt: Date | undefined
  const counter = run.ledger.counter(stream)
  try {
    const options = { signal, counter, pageSize: run.settings.pageSize }
    for await (const page of run.service.listCustomFieldOptions(definitionId, options)) {
      observedAt ??= page.observedAt
      const { data } = parsePage(page)
      // Nothing says which type the service gives them.
      const records = data.map((one) => (isObject(one) ? { ...one, type } : one))
      const source = `/custom_field_definitions/${definitionId}/options`
      intakes.push(
        takeIn(
          { data: records, included: [] },
          { stream, source, observedAt: page.observedAt, definitionId },
        ),
      )
      if (page.isShort) observedAt = undefined
    }
  } catch (thrown) {
    // Gone meanwhile, or the type has none after all.
    if (thrown instanceof ApiNotFoundError) return
    throw thrown
  }
  const intake = mergeIntakes(intakes)
  await storeIntake(run, intake)
  if (observedAt === undefined || intake.quarantined.length > 0) return
  const seenAt = observedAt
  const shown = new Set(shownKeys(intake, stream))
  const rows = await retryWarehouse(run, () =>
    warehouse.query<{ key: string }>(
      'list the options of a custom field',
      `select custom_field_option_id as key
from ${warehouse.names.table('custom_field_options')}
where definition_id = $1 and _deleted_at is null`,
      [definitionId],
    ),
  )
  const gone = rows.filter(({ key }) => !shown.has(key))
  if (gone.length === 0) return
  const marked = await transact(run, 'mark options as gone', (session) =>
    tombstoneRows(
      session,
      customFieldOptions,
      gone.map(({ key }) => ({ key, observedAt: seenAt })),
      { names: warehouse.names, syncRunId, mode: 'sync' },
    ),
  )
  run.ledger.add(new Map([[stream, { tombstoned: marked.length }]]))
}
