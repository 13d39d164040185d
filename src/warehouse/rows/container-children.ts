import { quoteIdentifier, type SchemaNames, type TableName } from '../connection/schema-names.js'
import { lookUpSql, sourceOf, type WriteOptions } from './incoming-rows.js'
import { together } from '../connection/together.js'
import type { Session } from '../connection/warehouse.js'

/**
 * A table below a container. Its rows, and their intervals, are a function of the stored container
 * row.
 */
export interface ChildTable {
  readonly table: TableName
  readonly historyTable: TableName
  /** The child's own key column; the full key is `(container_id, <keyColumn>)`. */
  readonly keyColumn: string
  /** A change of one of these makes an interval. */
  readonly material: readonly string[]
  readonly immaterial: readonly string[]
  /** The function that makes the rows, and the columns of `containers` it makes them of. */
  readonly madeBy: string
  readonly madeOf: readonly string[]
  /** Of these columns, the function also gets the zone again, null where no such one is known. */
  readonly zones?: readonly string[]
}

export const containerChildren: readonly ChildTable[] = [
  {
    table: 'container_import_deadlines',
    historyTable: 'container_import_deadline_history',
    keyColumn: 'kind',
    material: ['place', 'deadline_at', 'time_zone', 'local_date'],
    immaterial: ['is_zone_known', 'details'],
    madeBy: 'deadlines_of',
    madeOf: [
      'pickup_lfd',
      'pickup_lfd_terminal',
      'pickup_lfd_rail',
      'pickup_lfd_line',
      'ind_facility_lfd_on',
      'ssl_lfd',
      'import_deadline_sources',
      'pod_timezone',
      'final_destination_timezone',
      '_coercions',
    ],
    zones: ['pod_timezone', 'final_destination_timezone'],
  },
  {
    table: 'container_holds',
    historyTable: 'container_hold_history',
    keyColumn: 'hold_key',
    material: ['place', 'name', 'status', 'description', 'detail'],
    immaterial: ['position', '_unmapped', '_coercions'],
    madeBy: 'holds_of',
    madeOf: ['holds_at_pod_terminal', 'ind_facility_holds'],
  },
  {
    table: 'container_fees',
    historyTable: 'container_fee_history',
    keyColumn: 'fee_key',
    material: ['place', 'type', 'amount', 'currency_code', 'description'],
    immaterial: ['is_total', 'position', '_unmapped', '_coercions'],
    madeBy: 'fees_of',
    madeOf: ['fees_at_pod_terminal', 'ind_facility_fees'],
  },
]

/**
 * Makes deadlines, holds and fees of the given containers equal to their stored rows, and their
 * intervals with them; a tombstoned container has none. Runs in the transaction that wrote the
 * containers, whose row locks keep other writers out. Rows that already stand are not touched.
 */
export async function replaceContainerChildren(
  session: Session,
  containerIds: readonly string[],
  options: WriteOptions,
): Promise<void> {
  if (containerIds.length === 0) return
  await together(
    containerChildren.flatMap((table) => [
      replaceStanding(session, table, containerIds, options),
      closeIntervals(session, table, containerIds, options),
      openIntervals(session, table, containerIds, options),
    ]),
  )
}

/**
 * The same for containers that were inserted in this transaction. All of theirs is new, so standing
 * rows and intervals are made at once and nothing is looked for.
 */
export async function addContainerChildren(
  session: Session,
  containerIds: readonly string[],
  { names, mode, syncRunId }: WriteOptions,
): Promise<void> {
  await together(
    containerChildren.map((table) => {
      const key = quoteIdentifier(table.keyColumn)
      const material = table.material.map(quoteIdentifier)
      const values = [...material, ...table.immaterial.map(quoteIdentifier)]
      const list = (side: string): string => values.map((name) => `${side}.${name}`).join(', ')
      return session.query(
        `write ${table.table}`,
        `with made as materialized (
    select parent.container_id, parent._observed_at, child.${key}, ${list('child')}
    from unnest($1::text[]) as added (container_id)
    cross join ${lookUpSql(names.table('containers'), ['container_id'], 'added')} as parent
    cross join lateral ${madeFrom(names, table, 'parent')} as child
    order by 1, 3
),
standing as (
    insert into ${names.table(table.table)}
        (container_id, ${key}, ${values.join(', ')}, _observed_at, _first_seen_at, _sync_run_id)
    select made.container_id, made.${key}, ${list('made')}, made._observed_at, made._observed_at, $3::bigint
    from made
)
insert into ${names.table(table.historyTable)}
    (container_id, ${key}, valid_from, ${material.join(', ')}, source, _sync_run_id)
select made.container_id, made.${key}, made._observed_at, ${materialOf(table, 'made').join(', ')}, $2, $3::bigint
from made`,
        [containerIds, sourceOf(mode), syncRunId],
      )
    }),
  )
}

/**
 * The function of a table called on the columns of a container, or of a version of one, which keeps
 * no coercions: for a lateral join.
 */
export function madeFrom(
  names: SchemaNames,
  table: ChildTable,
  side: 'parent' | 'version',
): string {
  const columns = table.madeOf.map((name) =>
    side === 'version' && name === '_coercions'
      ? 'null::jsonb'
      : `${side}.${quoteIdentifier(name)}`,
  )
  const call = (known: readonly string[]): string =>
    `${names.in('sync', table.madeBy)}(${[...columns, ...known].join(', ')})`
  const { zones = [] } = table
  if (zones.length === 0) return call([])
  // Looked up, and once: a join would read all zones for each container.
  const lookUps = zones.map(
    (name) => `(
            select zone.name
            from ${names.table('time_zones')} as zone
            where zone.name = ${side}.${quoteIdentifier(name)}
        ) as ${quoteIdentifier(name)}`,
  )
  return `(
    select made.*
    from (
        select ${lookUps.join(', ')}
        offset 0
    ) as known
    cross join lateral ${call(zones.map((name) => `known.${quoteIdentifier(name)}`))} as made
)`
}

/** Makes the rows of one table equal to what the stored containers make. */
export async function replaceStanding(
  session: Session,
  table: ChildTable,
  containerIds: readonly string[],
  { names, syncRunId }: Omit<WriteOptions, 'mode'>,
): Promise<void> {
  const target = names.table(table.table)
  const key = quoteIdentifier(table.keyColumn)
  const values = [...table.material, ...table.immaterial].map(quoteIdentifier)
  const list = (side: string): string => values.map((name) => `${side}.${name}`).join(', ')
  await session.query(
    `write ${table.table}`,
    `with made as materialized (
    select parent.container_id, parent._observed_at, child.${key}, ${list('child')}
    from ${names.table('containers')} as parent
    cross join lateral ${madeFrom(names, table, 'parent')} as child
    where parent.container_id = any($1::text[]) and parent._deleted_at is null
),
gone as (
    delete from ${target} as standing
    where standing.container_id = any($1::text[])
        and (standing.container_id, standing.${key}) not in (
            select made.container_id, made.${key} from made
        )
)
insert into ${target} as standing
    (container_id, ${key}, ${values.join(', ')}, _observed_at, _first_seen_at, _sync_run_id)
select made.container_id, made.${key}, ${list('made')}, made._observed_at, made._observed_at, $2::bigint
from made
order by made.container_id, made.${key}
on conflict (container_id, ${key}) do update
set
    ${values.map((name) => `${name} = excluded.${name}`).join(',\n    ')},
    _observed_at = excluded._observed_at,
    _sync_run_id = excluded._sync_run_id
where (${list('standing')}) is distinct from (${list('excluded')})`,
    [containerIds, syncRunId],
  )
}

/**
 * Closes at the container's stamp what no longer stands, or stands with another value. An interval
 * opened at this very stamp was never true for any length of time and goes.
 */
async function closeIntervals(
  session: Session,
  table: ChildTable,
  containerIds: readonly string[],
  { names }: WriteOptions,
): Promise<void> {
  const history = names.table(table.historyTable)
  const key = quoteIdentifier(table.keyColumn)
  const list = (side: string): string => materialOf(table, side).join(', ')
  const isOver = `interval.container_id = any($1::text[])
    and parent.container_id = interval.container_id
    and interval.valid_to is null
    and not exists (
        select from ${names.table(table.table)} as standing
        where standing.container_id = interval.container_id
            and standing.${key} = interval.${key}
            and (${list('standing')}) is not distinct from (${list('interval')})
    )`
  await session.query(
    `write ${table.historyTable}`,
    `with never_true as (
    delete from ${history} as interval
    using ${names.table('containers')} as parent
    where ${isOver}
        and interval.valid_from >= parent._observed_at
)
update ${history} as interval
set valid_to = parent._observed_at
from ${names.table('containers')} as parent
where ${isOver}
    and interval.valid_from < parent._observed_at`,
    [containerIds],
  )
}

async function openIntervals(
  session: Session,
  table: ChildTable,
  containerIds: readonly string[],
  { names, mode, syncRunId }: WriteOptions,
): Promise<void> {
  const history = names.table(table.historyTable)
  const key = quoteIdentifier(table.keyColumn)
  const material = table.material.map(quoteIdentifier)
  await session.query(
    `write ${table.historyTable}`,
    `insert into ${history} (container_id, ${key}, valid_from, ${material.join(', ')}, source, _sync_run_id)
select standing.container_id, standing.${key}, parent._observed_at, ${materialOf(table, 'standing').join(', ')}, $2, $3
from ${names.table(table.table)} as standing
cross join ${lookUpSql(names.table('containers'), ['container_id'], 'standing')} as parent
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
    [containerIds, sourceOf(mode), syncRunId],
  )
}

export function materialOf(table: ChildTable, side: string): string[] {
  return table.material.map((name) => `${side}.${quoteIdentifier(name)}`)
}
