import type { ResourceIdentifier } from '../../source/jsonapi/document.js'
import { resourceOfType, resources } from '../../source/records/index.js'
import { quoteIdentifier } from '../connection/schema-names.js'
import { together } from '../connection/together.js'
import type { Session, Warehouse } from '../connection/warehouse.js'

/** The given references that have no row and are not queued. Writes nothing. */
export async function findMissingReferences(
  warehouse: Warehouse,
  references: readonly ResourceIdentifier[],
): Promise<ResourceIdentifier[]> {
  const { names } = warehouse
  const missing: ResourceIdentifier[] = []
  for (const type of new Set(references.map((reference) => reference.type))) {
    const ids = references.filter((reference) => reference.type === type).map(({ id }) => id)
    const resource = resourceOfType(type)
    const wanted = [...new Set(ids)]
    // Of a distributed warehouse the queue stands on another node than the rows.
    const [rows, queued] = await together([
      warehouse.query<{ id: string }>(
        'look for missing references',
        `select wanted.id
from unnest($1::text[]) as wanted (id)
where not exists (
    select from ${names.table(resource.stream)} as stored
    where stored.${quoteIdentifier(resource.idColumn)} = wanted.id
)`,
        [wanted],
      ),
      warehouse.query<{ id: string }>(
        'look for queued references',
        `select queued.resource_id as id
from ${names.table('refetch_queue')} as queued
where queued.resource_type = $1 and queued.resource_id = any($2::text[])`,
        [type, wanted],
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
        `select
from ${session.names.table(stream)}
where ${quoteIdentifier(`${name}_id`)} = $1 and _deleted_at is null
limit 1`,
        [id],
      )
      if (rows.length > 0) return true
    }
  }
  return false
}
