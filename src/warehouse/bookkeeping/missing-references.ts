import { sql } from 'kysely'
import type { ResourceIdentifier } from '../../source/jsonapi/document.js'
import { resourceOfType, resources } from '../../source/records/index.js'
import { pipeline } from '../connection/pipeline.js'
import type { Session, Warehouse } from '../connection/warehouse.js'
import { tableRef } from '../connection/typed-database.js'

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

/** Whether a live row of any table points to this id. Scans the tables: not for many ids. */
export async function isReferenced(session: Session, id: string): Promise<boolean> {
  for (const { stream, relationships } of resources) {
    for (const [name, { kind }] of relationships) {
      if (kind === 'many') continue
      const rows = await session.query(
        'look for rows that point to a record',
        sql`select
from ${tableRef(`data.${stream}`)}
where ${sql.id(`${name}_id`)} = ${id} and _deleted_at is null
limit 1`,
      )
      if (rows.length > 0) return true
    }
  }
  return false
}
