import { sql, type RawBuilder } from 'kysely'
import type { DataTable } from '../connection/schema-names.js'
import { sourceOf, type WriteOptions } from './incoming-rows.js'
import { pipeline, type Session } from '../connection/warehouse.js'
import {
  anyDistinct,
  columnList,
  keptStatement,
  lookUp,
  relationRef,
  setToExcluded,
  tableRef,
} from '../connection/typed-database.js'

/** A table whose rows and intervals follow from the stored container row. */
export interface ChildTable {
  readonly table: DataTable
  readonly historyTable: DataTable
  /** The child's own key column; the full key is `(container_id, <keyColumn>)`. */
  readonly keyColumn: string
  /** A change of one of these makes an interval. */
  readonly material: readonly string[]
  readonly immaterial: readonly string[]
  /** The function that makes the rows. `madeOf` are its arguments, columns of `containers`. */
  readonly madeBy: string
  readonly madeOf: readonly string[]
  /** Zone columns. The function gets each a second time, as null if PostgreSQL lacks the zone. */
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
 * intervals with them. A tombstoned container loses all of them. Runs in the transaction that wrote
 * the containers, whose row locks keep other writers out. Equal rows are not touched.
 */
export async function replaceContainerChildren(
  session: Session,
  containerIds: readonly string[],
  options: WriteOptions,
): Promise<void> {
  if (containerIds.length === 0) return
  await pipeline(
    containerChildren.flatMap((table) => [
      replaceStanding(session, table, containerIds, options),
      closeIntervals(session, table, containerIds),
      openIntervals(session, table, containerIds, options),
    ]),
  )
}

/**
 * Adds deadlines, holds and fees of containers that this transaction inserted. Nothing of them
 * exists yet, so rows and intervals are inserted without a look-up.
 */
export async function addContainerChildren(
  session: Session,
  containerIds: readonly string[],
  { mode, syncRunId }: WriteOptions,
): Promise<void> {
  await pipeline(
    containerChildren.map((child) => {
      const { table, historyTable, keyColumn, material, immaterial } = child
      const key = sql.id(keyColumn)
      const columns = [...material, ...immaterial]
      return session.query(
        `write ${table}`,
        keptStatement(
          `add ${table}`,
          [containerIds, sourceOf(mode), syncRunId],
          ([ids, source, run]) => sql`with made as materialized (
    select parent.container_id, parent._observed_at, child.${key}, ${columnList(columns, 'child')}
    from unnest(${ids}::text[]) as added (container_id)
    cross join ${lookUp(tableRef('data.containers'), ['container_id'], 'added')} as parent
    cross join lateral ${madeFrom(child, 'parent')} as child
    order by 1, 3
),
standing as (
    insert into ${tableRef(`data.${table}`)}
        (container_id, ${key}, ${columnList(columns)}, _observed_at, _first_seen_at, _sync_run_id)
    select made.container_id, made.${key}, ${columnList(columns, 'made')},
        made._observed_at, made._observed_at, ${run}::bigint
    from made
)
insert into ${tableRef(`data.${historyTable}`)}
    (container_id, ${key}, valid_from, ${columnList(material)}, source, _sync_run_id)
select made.container_id, made.${key}, made._observed_at, ${columnList(material, 'made')},
    ${source}, ${run}::bigint
from made`,
        ),
      )
    }),
  )
}

/**
 * The call of a table's function for a lateral join: on the columns of a container, or on those of
 * a version, which keeps no coercions.
 */
export function madeFrom(child: ChildTable, side: 'parent' | 'version'): RawBuilder<unknown> {
  const columns = child.madeOf.map((name) =>
    side === 'version' && name === '_coercions' ? sql`null::jsonb` : sql.id(side, name),
  )
  const call = (known: readonly RawBuilder<unknown>[]): RawBuilder<unknown> =>
    sql`${relationRef(`sync.${child.madeBy}`)}(${sql.join([...columns, ...known])})`
  const { zones = [] } = child
  if (zones.length === 0) return call([])
  // A look-up per container: a join would read all zones for each one.
  const lookUps = zones.map(
    (name) => sql`(
            select zone.name
            from ${tableRef('analytics.time_zones')} as zone
            where zone.name = ${sql.id(side, name)}
        ) as ${sql.id(name)}`,
  )
  return sql`(
    select made.*
    from (
        select ${sql.join(lookUps)}
        offset 0
    ) as known
    cross join lateral ${call(zones.map((name) => sql.id('known', name)))} as made
)`
}

/** Writes the rows of one child table as the stored containers give them. */
export async function replaceStanding(
  session: Session,
  child: ChildTable,
  containerIds: readonly string[],
  { syncRunId }: Pick<WriteOptions, 'syncRunId'>,
): Promise<void> {
  const target = tableRef(`data.${child.table}`)
  const key = sql.id(child.keyColumn)
  const columns = [...child.material, ...child.immaterial]
  await session.query(
    `write ${child.table}`,
    keptStatement(
      `replace ${child.table}`,
      [containerIds, syncRunId],
      ([ids, run]) => sql`with made as materialized (
    select parent.container_id, parent._observed_at, child.${key}, ${columnList(columns, 'child')}
    from ${tableRef('data.containers')} as parent
    cross join lateral ${madeFrom(child, 'parent')} as child
    where parent.container_id = any(${ids}::text[]) and parent._deleted_at is null
),
gone as (
    delete from ${target} as standing
    where standing.container_id = any(${ids}::text[])
        and (standing.container_id, standing.${key}) not in (
            select made.container_id, made.${key} from made
        )
)
insert into ${target} as standing
    (container_id, ${key}, ${columnList(columns)}, _observed_at, _first_seen_at, _sync_run_id)
select made.container_id, made.${key}, ${columnList(columns, 'made')},
    made._observed_at, made._observed_at, ${run}::bigint
from made
order by made.container_id, made.${key}
on conflict (container_id, ${key}) do update
set
    ${setToExcluded(columns)},
    _observed_at = excluded._observed_at,
    _sync_run_id = excluded._sync_run_id
where ${anyDistinct('standing', 'excluded', columns)}`,
    ),
  )
}

/**
 * Closes intervals whose row is gone or has other values, at the container's stamp. An interval
 * that began at this very stamp lasted no time and is deleted.
 */
async function closeIntervals(
  session: Session,
  child: ChildTable,
  containerIds: readonly string[],
): Promise<void> {
  const history = tableRef(`data.${child.historyTable}`)
  const containers = tableRef('data.containers')
  const key = sql.id(child.keyColumn)
  const isOver = (ids: RawBuilder<unknown>): RawBuilder<boolean> =>
    sql`interval.container_id = any(${ids}::text[])
    and parent.container_id = interval.container_id
    and interval.valid_to is null
    and not exists (
        select from ${tableRef(`data.${child.table}`)} as standing
        where standing.container_id = interval.container_id
            and standing.${key} = interval.${key}
            and not ${anyDistinct('standing', 'interval', child.material)}
    )`
  await session.query(
    `write ${child.historyTable}`,
    keptStatement(
      `close ${child.historyTable}`,
      [containerIds],
      ([ids = sql`null`]) => sql`with never_true as (
    delete from ${history} as interval
    using ${containers} as parent
    where ${isOver(ids)}
        and interval.valid_from >= parent._observed_at
)
update ${history} as interval
set valid_to = parent._observed_at
from ${containers} as parent
where ${isOver(ids)}
    and interval.valid_from < parent._observed_at`,
    ),
  )
}

async function openIntervals(
  session: Session,
  child: ChildTable,
  containerIds: readonly string[],
  { mode, syncRunId }: WriteOptions,
): Promise<void> {
  const history = tableRef(`data.${child.historyTable}`)
  const key = sql.id(child.keyColumn)
  const { material } = child
  await session.query(
    `write ${child.historyTable}`,
    keptStatement(
      `open ${child.historyTable}`,
      [containerIds, sourceOf(mode), syncRunId],
      ([ids, source, run]) => sql`insert into ${history}
    (container_id, ${key}, valid_from, ${columnList(material)}, source, _sync_run_id)
select standing.container_id, standing.${key}, parent._observed_at,
    ${columnList(material, 'standing')}, ${source}, ${run}
from ${tableRef(`data.${child.table}`)} as standing
cross join ${lookUp(tableRef('data.containers'), ['container_id'], 'standing')} as parent
where standing.container_id = any(${ids}::text[])
    and not exists (
        select from ${history} as interval
        where interval.container_id = standing.container_id
            and interval.${key} = standing.${key}
            and interval.valid_to is null
    )
order by standing.container_id, standing.${key}
on conflict (container_id, ${key}, valid_from) do update
set
    ${setToExcluded(material)},
    valid_to = null,
    source = excluded.source,
    _sync_run_id = excluded._sync_run_id`,
    ),
  )
}
