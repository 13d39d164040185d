import type { QueryParameter, QueryValues } from './query-parameters.js'
import type { SchemaNames } from '../../../warehouse/connection/schema-names.js'
import type { TableAnswer } from '../../../warehouse/connection/read-answer.js'

interface Asking {
  readonly names: SchemaNames
  readTable(
    action: string,
    sqlText: string,
    options: { readonly parameters: readonly unknown[] },
  ): Promise<TableAnswer>
}

/** A value that the warehouse does not contain, with the known ones. */
export interface UnknownValue {
  readonly parameter: QueryParameter
  readonly value: string
  /** Valid values, each with the name by which people may look for it. */
  readonly candidates: readonly { readonly taken: string; readonly name: string | null }[]
}

const MOST_CANDIDATES = 20_000

/**
 * SQL with the columns `taken` and `name`; its parameter is the given value, by which long lists
 * are narrowed.
 */
const CANDIDATES: Partial<Record<QueryParameter, (names: SchemaNames) => string>> = {
  terminal: (names) =>
    `select distinct coalesce(nickname, firms_code, terminal_id), name, firms_code, terminal_id
from ${names.table('terminals')} where $1::text is not null
union
select coalesce(nickname, firms_code, rail_terminal_id), name, firms_code, rail_terminal_id
from ${names.table('rail_terminals')}`,
  line: (names) =>
    `select distinct shipping_line_scac, shipping_line_name
from ${names.table('shipments')} where shipping_line_scac is not null and $1::text is not null`,
  port: (names) =>
    `select distinct coalesce(code, port_id), name, port_id
from ${names.table('ports')} where $1::text is not null`,
  container: (names) =>
    `select number, null, container_id
from ${names.table('containers')} where container_id = $1::text or left(number, 4) = upper(left($1::text, 4))`,
  shipment: (names) =>
    `select bill_of_lading_number, null, shipment_id
from ${names.table('shipments')}
where shipment_id = $1::text or left(bill_of_lading_number, 4) = upper(left($1::text, 4))`,
  customer: (names) =>
    `select distinct customer_name, null
from ${names.table('shipments')} where customer_name is not null and $1::text is not null`,
  tag: (names) =>
    `select distinct tag, null
from ${names.table('shipments')} cross join unnest(tags) as tag where $1::text is not null`,
  cut: () =>
    `select cut, null
from (
    values ('line'), ('lane'), ('vessel'), ('lane and line'), ('lane and vessel')
) as known (cut) where $1::text is not null`,
  // The values of the given field name, then the other names.
  'custom-field': (names) =>
    `select
    api_slug || case when is_asked then '=' || coalesce(display_value, value #>> '{}', '') else '=…' end,
    null,
    case when is_asked then api_slug || '=' || (value #>> '{}') end
from ${names.table('custom_fields')}
cross join lateral (select lower(api_slug) = lower(split_part($1::text, '=', 1)) as is_asked) as name
where _deleted_at is null
group by 1, 3, is_asked
order by is_asked desc, 1`,
  ref: (names) =>
    `select ref, null
from (
    select unnest(ref_numbers) as ref from ${names.table('shipments')}
    union
    select unnest(ref_numbers) from ${names.table('containers')}
) as refs
where ref = $1::text or left(ref, 3) = left($1::text, 3)`,
}

/** Values of long lists, looked up by index: candidates would read the whole table. */
const LOOK_UPS: Partial<Record<QueryParameter, (names: SchemaNames) => string>> = {
  container: (names) =>
    `select true from ${names.table('containers')}
where container_id = $1::text or number = $1::text or number = upper($1::text)`,
  shipment: (names) =>
    `select true from ${names.table('shipments')}
where shipment_id = $1::text or bill_of_lading_number = $1::text
    or bill_of_lading_number = upper($1::text)`,
}

/**
 * The given values that the warehouse does not contain: each of them makes an answer empty. Costs
 * index look-ups for a known container or shipment, else one read of a table per value.
 */
export async function findUnknownValues(
  warehouse: Asking,
  values: QueryValues,
): Promise<UnknownValue[]> {
  const unknown: UnknownValue[] = []
  for (const [name, value] of Object.entries(values)) {
    const parameter = name as QueryParameter
    const select = CANDIDATES[parameter]?.(warehouse.names)
    if (select === undefined || (await isThere(warehouse, parameter, value))) continue
    const { rows } = await warehouse.readTable(
      'look for what a question was narrowed by',
      `${select}\nlimit $2::text::bigint`,
      { parameters: [value, String(MOST_CANDIDATES)] },
    )
    const wanted = value.toLowerCase()
    if (rows.some((row) => row.some((one) => String(one).toLowerCase() === wanted))) continue
    const candidates = rows.map(([first, second]) => ({
      taken: String(first),
      name: typeof second === 'string' ? second : null,
    }))
    unknown.push({ parameter, value, candidates })
  }
  return unknown
}

async function isThere(
  warehouse: Asking,
  parameter: QueryParameter,
  value: string,
): Promise<boolean> {
  const lookUp = LOOK_UPS[parameter]?.(warehouse.names)
  if (lookUp === undefined) return false
  const { rows } = await warehouse.readTable(
    'look up what a question was narrowed by',
    `${lookUp}\nlimit 1`,
    { parameters: [value] },
  )
  return rows.length > 0
}

/**
 * When the first load began, on the database's clock; undefined if the warehouse knew something at
 * the instant (on the service's clock), is still empty, or this login may not read it.
 */
export async function readFirstLoad(warehouse: Asking, instant: Date): Promise<string | undefined> {
  const { names } = warehouse
  const { rows } = await warehouse.readTable(
    'look for the first load',
    `select min(started_at) from ${names.table('sync_runs')}
where not exists (
    select valid_from from ${names.table('shipment_history')}
    where valid_from <= $1::timestamptz
    limit 1
) and not exists (
    select valid_from from ${names.table('container_history')}
    where valid_from <= $1::timestamptz
    limit 1
)`,
    { parameters: [instant.toISOString()] },
  )
  const [first] = rows[0] ?? []
  return typeof first === 'string' ? first : undefined
}
