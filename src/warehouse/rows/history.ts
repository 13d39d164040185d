import { sql } from 'kysely'
import type { Resource } from '../../source/records/resource.js'
import { sourceOf, type WriteOptions } from './incoming-rows.js'
import { pipeline, type Session } from '../connection/warehouse.js'
import {
  anyDistinct,
  columnList,
  keptStatement,
  setToExcluded,
  tableRef,
} from '../connection/typed-database.js'

/**
 * Makes versions of the given rows (keys sorted) from the rows of this transaction. A version is
 * closed at the row's stamp when a material column differs or the row is tombstoned; a row without
 * an equal open version gets one. Rows that changed only immaterially are left alone. Two changes
 * with one stamp make one version, the later's. Idempotent.
 */
export async function writeVersions(
  session: Session,
  resource: Resource,
  keys: readonly string[],
  options: WriteOptions,
): Promise<void> {
  await pipeline([
    closeVersions(session, resource, keys),
    openVersions(session, resource, keys, options),
  ])
}

async function closeVersions(
  session: Session,
  resource: Resource,
  keys: readonly string[],
): Promise<void> {
  const { historyTable } = resource
  if (historyTable === undefined || keys.length === 0) return
  const key = sql.id(resource.idColumn)
  await session.query(
    `write ${historyTable}`,
    keptStatement(
      `close ${historyTable}`,
      [keys],
      ([ids]) => sql`update ${tableRef(`data.${historyTable}`)} as version
set valid_to = standing._observed_at
from ${tableRef(`data.${resource.stream}`)} as standing
where version.${key} = any(${ids}::text[])
    and standing.${key} = version.${key}
    and version.valid_to is null
    and version.valid_from < standing._observed_at
    and (
        standing._deleted_at is not null
        or ${anyDistinct('version', 'standing', historyColumns(resource))}
    )`,
    ),
  )
}

/** The second half of `writeVersions`. Enough by itself for rows without a version. */
export async function openVersions(
  session: Session,
  resource: Resource,
  keys: readonly string[],
  { mode, syncRunId }: WriteOptions,
): Promise<void> {
  const { historyTable } = resource
  if (historyTable === undefined || keys.length === 0) return
  const history = tableRef(`data.${historyTable}`)
  const key = sql.id(resource.idColumn)
  const columns = historyColumns(resource)
  await session.query(
    `write ${historyTable}`,
    keptStatement(
      `open ${historyTable}`,
      [keys, sourceOf(mode), syncRunId],
      ([ids, source, run]) => sql`insert into ${history}
    (${key}, valid_from, ${columnList(columns)}, source, _sync_run_id)
select standing.${key}, standing._observed_at, ${columnList(columns, 'standing')},
    ${source}, ${run}
from ${tableRef(`data.${resource.stream}`)} as standing
where standing.${key} = any(${ids}::text[])
    and standing._deleted_at is null
    and not exists (
        select from ${history} as version
        where version.${key} = standing.${key}
            and version.valid_to is null
            and not ${anyDistinct('version', 'standing', columns)}
    )
order by standing.${key}
on conflict (${key}, valid_from) do update
set
    ${setToExcluded(columns)},
    valid_to = null,
    source = excluded.source,
    _sync_run_id = excluded._sync_run_id`,
    ),
  )
}

/** The columns of a version: the material ones. */
export function historyColumns(resource: Resource): string[] {
  return resource.columns.filter(({ isMaterial }) => isMaterial).map(({ name }) => name)
}
