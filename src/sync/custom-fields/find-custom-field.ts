import { shownKeys, type Intake } from '../../ingest/intake.js'
import type { Reading } from '../../ingest/run.js'
import type { ResourceIdentifier } from '../../source/jsonapi/document.js'
import { customFields, resourceOfType } from '../../source/records/index.js'
import type { FieldDefinitions, Sighting } from '../../source/records/resource.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { askForOwnList } from '../read-own-list.js'

/** The entity of a stored value; undefined if its row does not name it. One query. */
export async function loadEntity(
  warehouse: Warehouse,
  id: string,
): Promise<ResourceIdentifier | undefined> {
  const [row] = await warehouse.query(
    'look up the entity of a custom field',
    warehouse.db
      .selectFrom('data.custom_fields')
      .select(['entity_type as type', 'entity_id as id'])
      .where('custom_field_id', '=', id),
  )
  return identifier(row?.type, row?.id)
}

/** The entity of a value's sighting; undefined for other records. */
export function entityOf({ resource, values }: Sighting): ResourceIdentifier | undefined {
  const { columnIndex } = resource
  const valueOf = (name: string) => values[columnIndex.get(name) ?? -1]
  return identifier(valueOf('entity_type'), valueOf('entity_id'))
}

function identifier(type: unknown, id: unknown): ResourceIdentifier | undefined {
  return typeof type === 'string' && typeof id === 'string' ? { type, id } : undefined
}

/**
 * Requests a value that no page showed, with all others of its entity. Returns when it was seen to
 * be gone; undefined for an entity without such a list. Throws ApiNotFoundError if its entity is
 * gone.
 */
export async function findCustomField(
  run: Reading,
  id: string,
  entity: ResourceIdentifier,
  fieldDefinitions: FieldDefinitions,
): Promise<Intake | Date | undefined> {
  const { path } = resourceOfType(entity.type)
  if (path === undefined) return undefined
  const { intake, wholeAt } = await askForOwnList(run, {
    resource: customFields,
    seen: { fieldDefinitions },
    source: `/${path}/${entity.id}/custom_fields`,
    list: (options) => run.source.service.listCustomFieldsOf(path, entity.id, options),
  })
  return shownKeys(intake, customFields.stream).includes(id) ? intake : (wholeAt ?? intake)
}
