import { sql, type RawBuilder } from 'kysely'
import { WarehouseSchemaError } from '../../../base/errors.js'
import { tableRef } from '../../../warehouse/connection/typed-database.js'
import type { Session } from '../../../warehouse/connection/warehouse.js'
import { compactNumber } from '../ask/find-numbers.js'
import { QUERY_PARAMETERS, type QueryParameter, type QueryValues } from './query-parameters.js'

type Asking = Pick<Session, 'query'>

/** A value that the warehouse does not contain, with the known ones. */
export interface UnknownValue {
  readonly parameter: QueryParameter
  readonly value: string
  /** Valid values, each with the name by which people may look for it. */
  readonly candidates: readonly Candidate[]
}

interface Candidate {
  readonly taken: string
  readonly name: string | null
}

type Select = (value: string) => RawBuilder<Candidate>

const MOST_CANDIDATES = 20_000

const containers = tableRef('data.containers')
const shipments = tableRef('data.shipments')

/**
 * Values with the names by which people may look for them; further columns hold other spellings.
 * Long lists are narrowed by the given value.
 */
const CANDIDATES: Partial<Record<QueryParameter, Select>> = {
  terminal: () =>
    sql`select distinct coalesce(nickname, firms_code, terminal_id) as taken, name, firms_code, terminal_id
from ${tableRef('data.terminals')}
union
select coalesce(nickname, firms_code, rail_terminal_id), name, firms_code, rail_terminal_id
from ${tableRef('data.rail_terminals')}`,
  line: () =>
    sql`select distinct shipping_line_scac as taken, shipping_line_name as name
from ${shipments} where shipping_line_scac is not null`,
  port: () =>
    sql`select distinct coalesce(code, port_id) as taken, name, port_id from ${tableRef('data.ports')}`,
  container: (value) =>
    sql`select number as taken, null as name, container_id
from ${containers} where container_id = ${value} or left(number, 4) = upper(left(${value}, 4))`,
  shipment: (value) =>
    sql`select bill_of_lading_number as taken, null as name, shipment_id
from ${shipments}
where shipment_id = ${value} or left(bill_of_lading_number, 4) = upper(left(${value}, 4))`,
  customer: () =>
    sql`select distinct customer_name as taken, null as name
from ${shipments} where customer_name is not null`,
  tag: () =>
    sql`select distinct tag as taken, null as name from ${shipments} cross join unnest(tags) as tag`,
  vessel: () =>
    sql`select distinct pod_vessel_name as taken, null as name
from ${shipments} where pod_vessel_name is not null`,
  charge: () =>
    sql`select charge as taken, null as name
from unnest(${['storage', 'demurrage', 'detention', 'listed fees']}::text[]) as charge
union
select charge, null from ${tableRef('analytics.free_time_rules')}`,
  invoice: (value) =>
    sql`select distinct invoice_number as taken, null as name
from ${tableRef('analytics.dd_invoices')}
where lower(invoice_number) = lower(${value}) or left(invoice_number, 3) = upper(left(${value}, 3))`,
  // The values of the given field name, then the other names.
  'custom-field': (value) =>
    sql`select
    api_slug || case when is_asked then '=' || coalesce(display_value, value #>> '{}', '') else '=…' end as taken,
    null as name,
    case when is_asked then api_slug || '=' || (value #>> '{}') end as spelling
from ${tableRef('data.custom_fields')}
cross join lateral (select lower(api_slug) = lower(split_part(${value}, '=', 1)) as is_asked) as name
where _deleted_at is null
group by 1, 3, is_asked
order by is_asked desc, 1`,
  ref: (value) =>
    sql`select ref as taken, null as name
from (
    select unnest(ref_numbers) as ref from ${shipments}
    union
    select unnest(ref_numbers) from ${containers}
) as refs
where ref = ${value} or left(ref, 3) = left(${value}, 3)`,
}

function wordsOf(parameter: QueryParameter): RawBuilder<Candidate> {
  const { words = [] } = QUERY_PARAMETERS[parameter]
  return sql`select word as taken, null as name
from unnest(${words}::text[]) with ordinality as known (word, place) order by place`
}

/** Values of long lists, looked up by index: candidates would read the whole table. */
const LOOK_UPS: Partial<Record<QueryParameter, Select>> = {
  container: (value) =>
    sql`select from ${containers}
where container_id = ${value} or number in (${value}, ${compactNumber(value)})`,
  shipment: (value) =>
    sql`select from ${shipments}
where shipment_id = ${value} or bill_of_lading_number = ${value}
    or bill_of_lading_number = upper(${value})`,
}

/**
 * The given values that the warehouse does not contain: each of them makes an answer empty. Costs
 * index look-ups for a known container or shipment, else one read of a table per value.
 */
export async function findUnknownValues(
  { query }: Asking,
  values: QueryValues,
): Promise<UnknownValue[]> {
  const unknown: UnknownValue[] = []
  for (const [name, value] of Object.entries(values)) {
    const parameter = name as QueryParameter
    const hasWords = QUERY_PARAMETERS[parameter].words !== undefined
    const select = hasWords ? wordsOf(parameter) : CANDIDATES[parameter]?.(value)
    if (select === undefined) continue
    const lookUp = LOOK_UPS[parameter]?.(value)
    if (lookUp !== undefined) {
      const action = 'look up what a question was narrowed by'
      if ((await query(action, sql`${lookUp} limit 1`)).length > 0) continue
    }
    const rows = await query(
      'look for what a question was narrowed by',
      sql<Candidate>`${select} limit ${MOST_CANDIDATES}`,
    )
    const wanted = value.toLowerCase()
    const isWanted = (text: unknown): boolean => String(text).toLowerCase() === wanted
    if (rows.some((row) => Object.values(row).some(isWanted))) continue
    unknown.push({ parameter, value, candidates: rows })
  }
  return unknown
}

/**
 * When the first load began, on the database's clock; undefined if the warehouse knew something at
 * the instant (on the service's clock), is still empty, or this login may not read it.
 */
export async function readFirstLoad({ query }: Asking, instant: Date): Promise<string | undefined> {
  const at = instant.toISOString()
  const rows = await query(
    'look for the first load',
    sql<{ startedAt: string | null }>`select min(started_at) as "startedAt"
from ${tableRef('sync.sync_runs')}
where not exists (
    select from ${tableRef('data.shipment_history')}
    where valid_from <= ${at}::timestamptz
    limit 1
) and not exists (
    select from ${tableRef('data.container_history')}
    where valid_from <= ${at}::timestamptz
    limit 1
)`,
  ).catch(hiddenBookkeeping)
  return rows[0]?.startedAt ?? undefined
}

/** Whether no run has begun and no container is there; false if the login may not see runs. */
export async function isNeverLoaded({ query }: Asking): Promise<boolean> {
  const rows = await query(
    'look whether anything was loaded',
    sql<{ isEmpty: boolean }>`select not exists (select from ${tableRef('sync.sync_runs')})
    and not exists (select from ${containers}) as "isEmpty"`,
  ).catch(hiddenBookkeeping)
  return rows[0]?.isEmpty ?? false
}

/** Customers do not see the bookkeeping. */
function hiddenBookkeeping(thrown: unknown): [] {
  if (thrown instanceof WarehouseSchemaError) return []
  throw thrown
}
