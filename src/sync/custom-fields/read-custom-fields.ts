import { retryWarehouse } from '../../ingest/retry-warehouse.js'
import type { Run } from '../../ingest/run.js'
import { customFieldOptions } from '../../resources/index.js'
import { readOwnLists, type OwnList } from '../read-own-list.js'
import { walkList } from '../walk-lists.js'

/**
 * Reads the list of definitions; and the options of those that have some, unless the pass is not
 * complete and no definition has changed: one request each, more where they come in pages.
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
  const lists = rows.map(({ id }): OwnList => ({
    resource: customFieldOptions,
    owner: { column: 'definition_id', id },
    source: `/custom_field_definitions/${id}/options`,
    list: (options) => run.service.listCustomFieldOptions(id, options),
  }))
  await readOwnLists(run, lists)
}
