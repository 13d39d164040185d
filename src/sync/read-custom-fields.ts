import { sql } from 'kysely'
import { shownKeys, type Intake } from '../ingest/intake.js'
import type { Reading, Run, RunSettings } from '../ingest/run.js'
import type { TrackingService } from '../source/client/endpoints.js'
import type { ResourceIdentifier } from '../source/jsonapi/document.js'
import {
  customFieldDefinitions,
  customFieldOptions,
  customFields,
  resourceOfType,
} from '../source/records/index.js'
import { valueIn, type FieldDefinitions, type Sighting } from '../source/records/resource.js'
import { countLiveRows } from '../warehouse/bookkeeping/schema-drift.js'
import { tableRef } from '../warehouse/connection/typed-database.js'
import type { Warehouse } from '../warehouse/connection/warehouse.js'
import { askForOwnList, readOwnLists, type OwnList } from './read-own-list.js'

/** Lists that an account may lack; the warehouse is complete without them. */
export const OPTIONAL_LISTS: readonly string[] = [
  customFieldDefinitions.stream,
  customFieldOptions.stream,
  customFields.stream,
]

/**
 * A partial sync reads the list of values only up to this many pages: the service cannot filter
 * changed values.
 */
export const MOST_PAGES_IN_A_SYNC = 10

/** Whether a sync that does not read the whole lists still reads the custom fields. */
export async function areCustomFieldsFew(warehouse: Warehouse, pageSize: number): Promise<boolean> {
  const live = await countLiveRows(warehouse, customFields.stream)
  return live <= MOST_PAGES_IN_A_SYNC * pageSize
}

/** The types that cast the values of custom fields, as the warehouse has them. One query. */
export async function loadFieldDefinitions(
  warehouse: Warehouse,
  settings: Pick<RunSettings, 'sensitiveFields'>,
): Promise<FieldDefinitions> {
  const rows = await warehouse.query(
    'load the definitions of custom fields',
    warehouse.db
      .selectFrom('data.custom_field_definitions')
      .select(['custom_field_definition_id as id', 'api_slug', 'data_type', 'sensitive'])
      .where('_deleted_at', 'is', null),
  )
  const stored = new Set(settings.sensitiveFields?.split(',').map((slug) => slug.trim()))
  return new Map(
    rows.map(({ id, api_slug: apiSlug, data_type: dataType, sensitive }) => [
      id,
      { apiSlug, dataType, isWithheld: sensitive === true && !stored.has(apiSlug ?? '') },
    ]),
  )
}

/** A definition whose options are read. */
interface OptionOwner {
  readonly id: string
  /** False when it is gone, or its type takes any value: it has only rows left from before. */
  readonly hasOptions: boolean
}

/**
 * Reads the options of every definition that has some, or had some: one request each, more where
 * they come in pages. Those that are not shown are gone.
 */
export async function readOptions(run: Run): Promise<void> {
  const owners = await run.sink.retry(loadOptionOwners)
  const lists = owners.map((owner) => optionsOf(run.source.service, owner))
  await readOwnLists(run, lists)
}

/** Definitions that have options, and those of which the warehouse has live ones. */
export function loadOptionOwners(warehouse: Warehouse): Promise<OptionOwner[]> {
  return warehouse.query(
    'list custom fields with options',
    sql<OptionOwner>`select id, bool_or(has_options) as "hasOptions"
from (
    select custom_field_definition_id as id, true as has_options
    from ${tableRef('data.custom_field_definitions')}
    where data_type in ('enum', 'enum_multi') and _deleted_at is null
    union all
    select definition_id, false
    from ${tableRef('data.custom_field_options')}
    where definition_id is not null and _deleted_at is null
) as owner
group by id
order by id`,
  )
}

export function optionsOf(service: TrackingService, { id, hasOptions }: OptionOwner): OwnList {
  return {
    resource: customFieldOptions,
    seen: { definitionId: id },
    mayBeGone: !hasOptions,
    source: `/custom_field_definitions/${id}/options`,
    list: (options) => service.listCustomFieldOptions(id, options),
  }
}

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
export function entityOf(sighting: Sighting): ResourceIdentifier | undefined {
  return identifier(valueIn(sighting, 'entity_type'), valueIn(sighting, 'entity_id'))
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
