import { parseExactJson } from '../jsonapi/exact-json.js'
import {
  containerChildren,
  flattenContainerChildren,
  type ChildRow,
  type ChildTable,
  type StoredContainer,
} from '../resources/container-children.js'
import type { EncodedValue } from '../resources/column.js'
import { lookUpSql } from './incoming-rows.js'
import { compareKeys } from './sighting.js'
import { quoteIdentifier, type SchemaNames } from './schema-names.js'
import type { WrittenRow } from './upsert.js'
import type { Session } from './warehouse.js'

export interface ChildWriteOptions {
  readonly names: SchemaNames
  readonly syncRunId: number | null
  /** What told us, for the history. */
  readonly source: 'sync' | 'webhook'
}

/**
 * Makes deadlines, holds and fees of the given containers equal to their stored rows, and their histories with them. Runs in the
 * transaction that wrote the containers, whose row locks keep other writers out. Rows that already stand are not touched.
 */
export async function replaceContainerChildren(
  session: Session,
  written: readonly WrittenRow[],
  options: ChildWriteOptions,
): Promise<void> {
  if (written.length === 0) return
  const rows = written.flatMap((row) => flattenContainerChildren(toStoredContainer(row)))
  const containerIds = written.map(({ key }) => key).sort(compareKeys)
  const areAllNew = written.every(({ isInserted }) => isInserted)
  for (const table of containerChildren) {
    const own = rows.filter((row) => row.table === table).sort(byKey)
    // Most containers have no holds and no fees; new ones cannot have old ones either.
    if (own.length === 0 && areAllNew) continue
    await deleteOthers(session, table, containerIds, own, options.names)
    await insertRows(session, table, own, options)
    await writeIntervals(session, table, containerIds, options)
  }
}

/** Takes deadlines, holds and fees of tombstoned containers away and closes their intervals at the tombstone's instant. */
export async function removeContainerChildren(
  session: Session,
  containerIds: readonly string[],
  options: ChildWriteOptions,
): Promise<void> {
  for (const table of containerChildren) {
    await deleteOthers(session, table, containerIds, [], options.names)
    await writeIntervals(session, table, containerIds, options)
  }
}

function toStoredContainer({ key, stored = {} }: WrittenRow): StoredContainer {
  const text = (name: string): string | null => stored[name] ?? null
  const json = (name: string): unknown => {
    const value = text(name)
    return value === null ? null : parseExactJson(value)
  }
  return {
    container_id: key,
    pickup_lfd: text('pickup_lfd'),
    pickup_lfd_terminal: text('pickup_lfd_terminal'),
    pickup_lfd_rail: text('pickup_lfd_rail'),
    pickup_lfd_line: text('pickup_lfd_line'),
    pod_timezone: text('pod_timezone'),
    final_destination_timezone: text('final_destination_timezone'),
    holds_at_pod_terminal: json('holds_at_pod_terminal'),
    fees_at_pod_terminal: json('fees_at_pod_terminal'),
    coercions: json('coercions'),
  }
}

function byKey(one: ChildRow, two: ChildRow): number {
  return (
    compareKeys(one.values[0] ?? '', two.values[0] ?? '') ||
    compareKeys(one.values[1] ?? '', two.values[1] ?? '')
  )
}

function column(rows: readonly ChildRow[], index: number): EncodedValue[] {
  return rows.map(({ values }) => values[index] ?? null)
}

function qualified(names: SchemaNames, table: string): string {
  return `${quoteIdentifier(names.data)}.${quoteIdentifier(table)}`
}

async function deleteOthers(
  session: Session,
  table: ChildTable,
  containerIds: readonly string[],
  rows: readonly ChildRow[],
  names: SchemaNames,
): Promise<void> {
  const key = quoteIdentifier(table.keyColumn)
  await session.query(
    `remove from ${table.table}`,
    `delete from ${qualified(names, table.table)} as standing
where standing.container_id = any($1::text[])
    and not exists (
        select from unnest($2::text[], $3::text[]) as kept (container_id, child_key)
        where kept.container_id = standing.container_id and kept.child_key = standing.${key}
    )`,
    [containerIds, column(rows, 0), column(rows, 1)],
  )
}

async function insertRows(
  session: Session,
  table: ChildTable,
  rows: readonly ChildRow[],
  options: ChildWriteOptions,
): Promise<void> {
  if (rows.length === 0) return
  const columns = table.columns.map(({ name }) => quoteIdentifier(name))
  const values = columns.slice(2)
  const selected = table.columns.map(({ name, type }) => {
    const quoted = quoteIdentifier(name)
    return type === 'text' ? `raw.${quoted}` : `raw.${quoted}::${type} as ${quoted}`
  })
  const arrays = columns.map((_, index) => `$${index + 1}::text[]`)
  const runId = columns.length + 1
  await session.query(
    `write ${table.table}`,
    `insert into ${qualified(options.names, table.table)} as standing
    (${columns.join(', ')}, _observed_at, _first_seen_at, _sync_run_id)
select ${selected.join(', ')}, parent._observed_at, parent._observed_at, $${runId}::bigint
from unnest(${arrays.join(', ')}) as raw (${columns.join(', ')})
cross join ${lookUpSql(qualified(options.names, 'containers'), ['container_id'], 'raw')} as parent
order by raw.container_id, raw.${columns[1] ?? ''}
on conflict (container_id, ${columns[1] ?? ''}) do update
set
    ${values.map((name) => `${name} = excluded.${name}`).join(',\n    ')},
    _observed_at = excluded._observed_at,
    _sync_run_id = excluded._sync_run_id
where (${values.map((name) => `standing.${name}`).join(', ')})
    is distinct from (${values.map((name) => `excluded.${name}`).join(', ')})`,
    [...columns.map((_, index) => column(rows, index)), options.syncRunId],
  )
}

/**
 * Intervals: what no longer stands (or stands with another value) is closed at the container's stamp, what newly stands is opened
 * there. An interval opened at this very stamp was never true for any length of time and is replaced.
 */
async function writeIntervals(
  session: Session,
  table: ChildTable,
  containerIds: readonly string[],
  options: ChildWriteOptions,
): Promise<void> {
  const history = qualified(options.names, table.historyTable)
  const standing = qualified(options.names, table.table)
  const parent = qualified(options.names, 'containers')
  const key = quoteIdentifier(table.keyColumn)
  const material = table.columns
    .filter(({ isMaterial }) => isMaterial)
    .map(({ name }) => quoteIdentifier(name))
  const list = (side: string): string => material.map((name) => `${side}.${name}`).join(', ')
  const stillStands = `exists (
        select from ${standing} as standing
        where standing.container_id = interval.container_id
            and standing.${key} = interval.${key}
            and (${list('standing')}) is not distinct from (${list('interval')})
    )`
  const openOfThese = `interval.container_id = any($1::text[])
    and parent.container_id = interval.container_id
    and interval.valid_to is null`
  const action = `write ${table.historyTable}`
  await session.query(
    action,
    `delete from ${history} as interval
using ${parent} as parent
where ${openOfThese}
    and interval.valid_from = parent._observed_at
    and not ${stillStands}`,
    [containerIds],
  )
  await session.query(
    action,
    `update ${history} as interval
set valid_to = parent._observed_at
from ${parent} as parent
where ${openOfThese}
    and not ${stillStands}`,
    [containerIds],
  )
  await session.query(
    action,
    `insert into ${history} (container_id, ${key}, valid_from, ${material.join(', ')}, source, _sync_run_id)
select standing.container_id, standing.${key}, parent._observed_at, ${list('standing')}, $2, $3
from ${standing} as standing
cross join ${lookUpSql(parent, ['container_id'], 'standing')} as parent
where standing.container_id = any($1::text[])
    and not exists (
        select from ${history} as interval
        where interval.container_id = standing.container_id
            and interval.${key} = standing.${key}
            and interval.valid_to is null
    )
order by standing.container_id, standing.${key}
on conflict (container_id, ${key}, valid_from) do update
set
    ${material.map((name) => `${name} = excluded.${name}`).join(',\n    ')},
    valid_to = null,
    source = excluded.source,
    _sync_run_id = excluded._sync_run_id`,
    [containerIds, options.source, options.syncRunId],
  )
}
