import { sql } from 'kysely'
import type { ResourceIdentifier } from '../../source/jsonapi/document.js'
import { resourceOfType, resources } from '../../source/records/index.js'
import { REFERENCE_TYPES } from '../../source/records/resource.js'
import { pipeline, type Session } from '../connection/warehouse.js'
import { tableRef, textLists } from '../connection/typed-database.js'

/** A place or vessel with a row; `isDue` is undefined before its first check is planned. */
export interface ReferenceRow extends ResourceIdentifier {
  readonly isDue: boolean | undefined
}

/** Every place and vessel with a row, tombstoned ones too. Some hundreds; reads only. */
export async function loadReferenceRows(session: Session): Promise<ReferenceRow[]> {
  // A query per table, no join: the tables of a distributed warehouse may be on different nodes.
  const [checks, ...tables] = await pipeline([
    session.query(
      'list checks of places and vessels',
      sql<{
        name: string
        is_due: boolean
      }>`select resource_type || ' ' || resource_id as name, due_at <= now() as is_due
from ${tableRef('sync.reference_checks')}`,
    ),
    ...REFERENCE_TYPES.map((type) => {
      const { stream, idColumn } = resourceOfType(type)
      return session.query(
        `list ${stream}`,
        sql<{
          name: string
        }>`select ${sql.id(idColumn)} as name from ${tableRef(`data.${stream}`)} order by 1`,
      )
    }),
  ])
  const due = new Map(checks.map(({ name, is_due }) => [name, is_due]))
  return REFERENCE_TYPES.flatMap((type, at) =>
    (tables[at] ?? []).map(({ name: id }) => ({ type, id, isDue: due.get(`${type} ${id}`) })),
  )
}

/**
 * Plans the next check of each place and vessel: in six days or, with `isFirst`, at a random time
 * between tomorrow and then, so that records which were loaded together are not all read at once.
 */
export async function planReferenceChecks(
  session: Session,
  references: readonly ResourceIdentifier[],
  isFirst: boolean,
): Promise<void> {
  if (references.length === 0) return
  await session.query(
    'plan checks of places and vessels',
    sql`insert into ${tableRef('sync.reference_checks')} (resource_type, resource_id, due_at)
select planned.type, planned.id,
    now() + case when ${isFirst}::boolean then interval '1 day' + random() * interval '5 days'
        else interval '6 days' end
from unnest(${textLists(references, ['type', 'id'])}) as planned (type, id)
on conflict (resource_type, resource_id) do update
set due_at = excluded.due_at`,
  )
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
