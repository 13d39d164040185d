import type { FieldDefinitions } from '../source/records/resource.js'
import type { Warehouse } from '../warehouse/connection/warehouse.js'
import type { RunSettings } from './run.js'

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
