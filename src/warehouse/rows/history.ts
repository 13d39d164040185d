import type { Resource } from '../../source/records/resource.js'
import { quoteIdentifier } from '../connection/schema-names.js'
import { sourceOf, type WriteOptions } from './incoming-rows.js'
import { together } from '../connection/together.js'
import type { Session } from '../connection/warehouse.js'

/**
 * Makes versions of the given rows (keys sorted) from the rows as they stand in this transaction. A
 * version whose material columns differ from the row's, or whose row is tombstoned, is closed at
 * the row's stamp, and the row's values are opened there. Where they agree nothing happens, so it
 * may be called for rows that changed only immaterially. Two changes with one stamp make one
 * version, the later's. Idempotent.
 */
export async function writeVersions(
  session: Session,
  resource: Resource,
  keys: readonly string[],
  options: WriteOptions,
): Promise<void> {
  await together([
    closeVersions(session, resource, keys, options),
    openVersions(session, resource, keys, options),
  ])
}

async function closeVersions(
  session: Session,
  resource: Resource,
  keys: readonly string[],
  { names }: WriteOptions,
): Promise<void> {
  if (resource.historyTable === undefined || keys.length === 0) return
  const history = names.table(resource.historyTable)
  const table = names.table(resource.stream)
  const key = quoteIdentifier(resource.idColumn)
  await session.query(
    `write ${resource.historyTable}`,
    `update ${history} as version
set valid_to = standing._observed_at
from ${table} as standing
where version.${key} = any($1::text[])
    and standing.${key} = version.${key}
    and version.valid_to is null
    and version.valid_from < standing._observed_at
    and (
        standing._deleted_at is not null
        or (${listOf(resource, 'version')}) is distinct from (${listOf(resource, 'standing')})
    )`,
    [keys],
  )
}

/** The second half of `writeVersions`, and all of it for rows that have no version yet. */
export async function openVersions(
  session: Session,
  resource: Resource,
  keys: readonly string[],
  { names, mode, syncRunId }: WriteOptions,
): Promise<void> {
  if (resource.historyTable === undefined || keys.length === 0) return
  const history = names.table(resource.historyTable)
  const table = names.table(resource.stream)
  const key = quoteIdentifier(resource.idColumn)
  const columns = historyColumns(resource).map(quoteIdentifier)
  await session.query(
    `write ${resource.historyTable}`,
    `insert into ${history} (${key}, valid_from, ${columns.join(', ')}, source, _sync_run_id)
select standing.${key}, standing._observed_at, ${listOf(resource, 'standing')}, $2, $3
from ${table} as standing
where standing.${key} = any($1::text[])
    and standing._deleted_at is null
    and not exists (
        select from ${history} as version
        where version.${key} = standing.${key}
            and version.valid_to is null
            and (${listOf(resource, 'version')}) is not distinct from (${listOf(resource, 'standing')})
    )
order by standing.${key}
on conflict (${key}, valid_from) do update
set
    ${columns.map((name) => `${name} = excluded.${name}`).join(',\n    ')},
    valid_to = null,
    source = excluded.source,
    _sync_run_id = excluded._sync_run_id`,
    [keys, sourceOf(mode), syncRunId],
  )
}

function listOf(resource: Resource, side: string): string {
  const columns = historyColumns(resource).map(quoteIdentifier)
  return columns.map((name) => `${side}.${name}`).join(', ')
}

/** The columns a version holds: the material ones. */
export function historyColumns(resource: Resource): string[] {
  return resource.columns.filter(({ isMaterial }) => isMaterial).map(({ name }) => name)
}
