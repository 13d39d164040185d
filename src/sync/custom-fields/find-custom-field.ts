import { loadFieldDefinitions } from '../../ingest/field-definitions.js'
import { mergeIntakes, shownKeys, takeIn, type Intake } from '../../ingest/intake.js'
import { retryWarehouse } from '../../ingest/retry-warehouse.js'
import type { Run } from '../../ingest/run.js'
import { customFields, resourceOfType } from '../../resources/index.js'

/**
 * Asks for a value that no page showed, with all others of its entity, and stores them. Returns
 * when it was seen to be gone; undefined when it is there, or when nothing says of which entity it
 * is. Throws ApiNotFoundError when its entity is gone.
 */
export async function findCustomField(run: Run, id: string): Promise<Intake | Date | undefined> {
  const { warehouse, signal } = run
  const { stream } = customFields
  const [row] = await retryWarehouse(run, () =>
    warehouse.query<{ entity_type: string | null; entity_id: string | null }>(
      'look up the entity of a custom field',
      `select entity_type, entity_id
from ${warehouse.names.table('custom_fields')}
where custom_field_id = $1`,
      [id],
    ),
  )
  const { path } = resourceOfType(row?.entity_type ?? '')
  if (path === undefined || row?.entity_id === undefined || row.entity_id === null) return undefined
  const fieldDefinitions = await retryWarehouse(run, () => loadFieldDefinitions(run))
  const intakes: Intake[] = []
  let observedAt: Date | undefined
  let isWhole = true
  const options = { signal, counter: run.ledger.counter(stream), pageSize: run.settings.pageSize }
  for await (const page of run.service.listCustomFieldsOf(path, row.entity_id, options)) {
    observedAt ??= page.observedAt
    isWhole &&= !page.isShort
    const source = `/${path}/${row.entity_id}/custom_fields`
    const seen = { stream, source, observedAt: page.observedAt, fieldDefinitions }
    intakes.push(takeIn(page.document, seen))
  }
  const intake = mergeIntakes(intakes)
  const isShown = shownKeys(intake, stream).includes(id)
  if (isShown || !isWhole || intake.quarantined.length > 0) return intake
  return observedAt
}
