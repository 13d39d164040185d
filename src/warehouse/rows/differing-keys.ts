import type { Resource } from '../../resources/resource.js'
import {
  differsSql,
  groupByPresence,
  incomingParameters,
  incomingSql,
  lookUpSql,
  presentColumns,
} from './incoming-rows.js'
import { quoteIdentifier, type SchemaNames } from '../connection/schema-names.js'
import type { Sighting } from './sighting.js'
import type { Session } from '../connection/warehouse.js'

/**
 * Keys of those sightings that say something else than their live row, or have none, whatever the stamps. Compares values, not fingerprints: a record with
 * few attributes can equal a row that was written from one with many. One query per set of present columns; reads only.
 */
export async function findDifferingKeys(
  session: Session,
  names: SchemaNames,
  resource: Resource,
  sightings: readonly Sighting[],
): Promise<Set<string>> {
  const differing = new Set<string>()
  const table = names.table(resource.stream)
  for (const group of groupByPresence(sightings).values()) {
    const present = presentColumns(resource, group[0])
    const keys = resource.keyColumns.map(quoteIdentifier)
    const rows = await session.query<{ key: string }>(
      `compare ${resource.stream} by value`,
      `with incoming as (
    ${incomingSql(present)}
)
select ${keys.map((key) => `incoming.${key}`).join(` || ' ' || `)} as key
from incoming
left join ${lookUpSql(table, keys, 'incoming')} as stored
    on true
where stored._observed_at is null
    or stored._deleted_at is not null
    or ${differsSql(resource, present, group[0]?.isComplete ?? false, 'incoming')}`,
      incomingParameters(resource, present, group),
    )
    for (const { key } of rows) differing.add(key)
  }
  return differing
}
