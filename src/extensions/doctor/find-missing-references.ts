import { sql } from 'kysely'
import type { ResourceIdentifier } from '../../source/jsonapi/document.js'
import { resourceOfType } from '../../source/records/index.js'
import { pipeline, type Warehouse } from '../../warehouse/connection/warehouse.js'
import { tableRef } from '../../warehouse/connection/typed-database.js'

/** The given references that lack a row and are not queued. Writes nothing. */
export async function findMissingReferences(
  warehouse: Warehouse,
  references: readonly ResourceIdentifier[],
): Promise<ResourceIdentifier[]> {
  const missing: ResourceIdentifier[] = []
  for (const type of new Set(references.map((reference) => reference.type))) {
    const ids = references.filter((reference) => reference.type === type).map(({ id }) => id)
    const resource = resourceOfType(type)
    const wanted = [...new Set(ids)]
    // In a distributed warehouse the queue is on another node than the rows.
    const [rows, queued] = await pipeline([
      warehouse.query(
        'look for missing references',
        sql<{ id: string }>`select wanted.id
from unnest(${wanted}::text[]) as wanted (id)
where not exists (
    select from ${tableRef(`data.${resource.stream}`)} as stored
    where stored.${sql.id(resource.idColumn)} = wanted.id
)`,
      ),
      warehouse.query(
        'look for queued references',
        sql<{ id: string }>`select queued.resource_id as id
from ${tableRef('sync.refetch_queue')} as queued
where queued.resource_type = ${type} and queued.resource_id = any(${wanted}::text[])`,
      ),
    ])
    const known = new Set(queued.map(({ id }) => id))
    for (const { id } of rows) if (!known.has(id)) missing.push({ type, id })
  }
  return missing
}
