import type { ResourceIdentifier } from '../jsonapi/document.js'
import { resourceOfType } from '../resources/index.js'
import { NOTIFICATION_ENTRY } from './refetch-queue.js'
import { quoteIdentifier } from './schema-names.js'
import type { Warehouse } from './warehouse.js'

/** Those of the given references that have no row and are not queued to be read. Writes nothing. */
export async function findMissingReferences(
  warehouse: Warehouse,
  references: readonly ResourceIdentifier[],
): Promise<ResourceIdentifier[]> {
  const { names } = warehouse
  const missing: ResourceIdentifier[] = []
  for (const type of new Set(references.map((reference) => reference.type))) {
    const ids = references.filter((reference) => reference.type === type).map(({ id }) => id)
    const resource = resourceOfType(type)
    const rows = await warehouse.query<{ id: string }>(
      'look for missing references',
      `select wanted.id
from unnest($2::text[]) as wanted (id)
where not exists (
        select from ${quoteIdentifier(names.data)}.${quoteIdentifier(resource.stream)} as stored
        where stored.${quoteIdentifier(resource.idColumn)} = wanted.id
    )
    and not exists (
        select from ${quoteIdentifier(names.sync)}.refetch_queue as queued
        where queued.resource_type = $1 and queued.resource_id = wanted.id
    )`,
      [type, [...new Set(ids)]],
    )
    missing.push(...rows.map(({ id }) => ({ type, id })))
  }
  return missing
}

/** Entries of the refetch queue that a run would read. */
export async function countDueRefetches(warehouse: Warehouse): Promise<number> {
  const [row] = await warehouse.query<{ count: number }>(
    'count due refetches',
    `select count(*) as count
from ${quoteIdentifier(warehouse.names.sync)}.refetch_queue
where (not_before is null or not_before <= now()) and resource_type != '${NOTIFICATION_ENTRY}'`,
  )
  return row?.count ?? 0
}
