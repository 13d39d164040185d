import type { QueryParameter } from './query-parameters.js'

type Filters = Partial<Record<QueryParameter, string>>

/** A view with the column has the filter, on the column or on what is made of it. */
const BY_WORD = [
  ['status', 'current_status'],
  ['vessel', 'pod_vessel_name'],
  ['location', 'location_locode'],
  ['state', 'state'],
  ['state', 'hours_in_stage', 'stage'],
  ['state', 'is_open', "case when is_open then 'open' else 'gone' end"],
  ['place', 'place'],
  ['charge', 'charge'],
  ['invoice', 'invoice_number'],
  ['verdict', 'verdict'],
  ['exception', 'exception'],
  ['change', 'change'],
  ['kind', 'topic'],
  ['kind', 'is_open', 'kind'],
] as const

/**
 * The filter conditions for a view with these columns. Filters that match few records gather their
 * ids into an array: PostgreSQL pushes it down into the view and reads only those records. It
 * compares a subquery with the finished rows of the whole account, which is better for the many
 * containers of a customer: it expects an array to be short, and loops over it.
 */
export function filtersOf(
  columns: ReadonlySet<string>,
  key: readonly string[],
  period: string | undefined,
): Filters {
  const filters: Filters = {}
  if (columns.has('container_number')) {
    // A line of an invoice can name an unknown container.
    filters.container = key.includes('container_id')
      ? `container_id = any (array(${CONTAINERS_SQL.container}))`
      : INVOICED_SQL
  }
  const [id, recordsSql] = columns.has('container_id')
    ? (['container_id', CONTAINERS_SQL] as const)
    : (['shipment_id', SHIPMENTS_SQL] as const)
  if (columns.has('shipment_id')) {
    for (const parameter of ['shipment', 'customer', 'tag', 'ref', 'custom-field'] as const) {
      const areFew = parameter === 'shipment' || parameter === 'ref'
      const idsSql = areFew
        ? `= any (array(${recordsSql[parameter]}))`
        : `in (${recordsSql[parameter]})`
      filters[parameter] = `${id} ${idsSql}`
    }
  } else if (columns.has('customer_name')) {
    filters.customer = 'lower(customer_name) = lower(:customer::text)'
  }
  const byColumn = {
    terminal: terminalFilter(columns),
    line: lineFilter(columns),
    port: portFilter(columns),
  }
  for (const parameter of ['terminal', 'line', 'port'] as const) {
    const condition = byColumn[parameter]
    if (condition !== undefined) filters[parameter] = condition
    else if (columns.has(id)) filters[parameter] = `${id} in (${recordsSql[parameter]})`
  }
  if (columns.has('cut')) filters.cut = 'cut = lower(:cut::text)'
  for (const [parameter, column, word = column] of BY_WORD) {
    if (columns.has(column)) filters[parameter] = `lower(${word}) = lower(:${parameter}::text)`
  }
  if (columns.has('period')) filters.period = 'lower(period) = lower(:period::text)'
  if (columns.has('is_few')) {
    const count = columns.has('still_waiting') ? 'n + still_waiting' : 'vessel_calls'
    filters['at-least'] = `${count} >= :at_least::text::bigint`
  }
  if (period !== undefined) {
    const type = period.endsWith('_on') ? 'date' : 'timestamptz'
    filters.since = `${period} >= :since::text::${type}`
    filters.until = `${period} < :until::text::${type}`
  }
  return filters
}

/** By the number as stored, or as on paper: `mrku 776214-6`. */
const INVOICED_SQL = `(
    container_id = :container::text
    or container_number in (:container::text, upper(translate(:container::text, ' ./_-', '')))
)`

const TERMINALS_SQL = `
        select terminal_id
        from {{data}}.terminals
        where :terminal::text in (terminal_id, firms_code)
            or lower(:terminal::text) in (lower(nickname), lower(name))
    `

/** Shipments that go to an inland terminal. */
const TO_RAMP_SQL = `
        select shipment_id
        from {{data}}.shipments
        where destination_terminal_id in (
            select rail_terminal_id
            from {{data}}.rail_terminals
            where :terminal::text in (rail_terminal_id, firms_code)
                or lower(:terminal::text) in (lower(nickname), lower(name))
        )
    `

/** SCACs of a line, given by SCAC or name. */
const LINES_SQL = `
        select upper(:line::text)
        union
        select shipping_line_scac
        from {{data}}.shipments
        where lower(shipping_line_name) = lower(:line::text)
    `

/** UN/LOCODEs of a port, given by UN/LOCODE, id or name. */
const PORTS_SQL = `
        select upper(:port::text)
        union
        select code
        from {{data}}.ports
        where port_id = :port::text
            or lower(name) = lower(:port::text)
    `

/**
 * Shipments and containers with a custom field, or with a tracking request that has it; the value
 * may contain another `=`.
 */
const ENTITIES_SQL = `
            select coalesce(request.tracked_object_id, field.entity_id) as entity_id
            from {{data}}.custom_fields as field
            left join {{data}}.tracking_requests as request
                on request.tracking_request_id = field.entity_id
            where field._deleted_at is null
                and lower(api_slug) = lower(split_part(:custom_field::text, '=', 1))
                and lower(substr(:custom_field::text, strpos(:custom_field::text, '=') + 1))
                    in (lower(display_value), lower(value #>> '{}'))
        `

/** Ids of the matching shipments by their present rows, even in an answer as of an instant. */
const SHIPMENT_SQL = `
            select shipment_id from {{data}}.shipments where shipment_id = :shipment::text
            union all
            select shipment_id
            from {{data}}.shipments
            where bill_of_lading_number in (:shipment::text, upper(:shipment::text))
        `
const CUSTOMER_SQL = `
            select shipment_id
            from {{data}}.shipments
            where lower(customer_name) = lower(:customer::text)
        `
const TAG_SQL = `
            select shipment_id from {{data}}.shipments where :tag::text = any(tags)
        `
const REF_SQL = `
            select shipment_id from {{data}}.shipments where :ref::text = any(ref_numbers)
        `

const LINE_SQL = `
            select shipment_id
            from {{data}}.shipments
            where shipping_line_scac = any (array(${LINES_SQL}))
        `
const PORT_SQL = `
            select shipment_id
            from {{data}}.shipments
            where port_of_discharge_locode = any (array(${PORTS_SQL}))
        `

const SHIPMENTS_SQL = {
  line: LINE_SQL,
  port: PORT_SQL,
  terminal: `
        select shipment_id from {{data}}.shipments where pod_terminal_id in (${TERMINALS_SQL})
        union all
        select shipment_id from (${TO_RAMP_SQL}) as shipment
    `,
  shipment: SHIPMENT_SQL,
  customer: CUSTOMER_SQL,
  tag: TAG_SQL,
  ref: REF_SQL,
  'custom-field': `
        select entity_id from (${ENTITIES_SQL}) as entity
        union all
        select shipment_id from {{data}}.containers where container_id in (${ENTITIES_SQL})
    `,
} as const

/** The same for containers: by their own columns and by their shipments. */
const CONTAINERS_SQL = {
  line: `
        select container_id from {{data}}.containers where shipment_id in (${LINE_SQL})
    `,
  port: `
        select container_id from {{data}}.containers where shipment_id in (${PORT_SQL})
    `,
  terminal: `
        select container_id from {{data}}.containers where pod_terminal_id in (${TERMINALS_SQL})
        union all
        select container_id from {{data}}.containers where shipment_id in (${TO_RAMP_SQL})
    `,
  container: `
        select container_id from {{data}}.containers where container_id = :container::text
        union all
        select container_id from {{data}}.containers where number
            in (:container::text, upper(translate(:container::text, ' ./_-', '')))
    `,
  shipment: `
        select container_id from {{data}}.containers where shipment_id in (${SHIPMENT_SQL})
    `,
  customer: `
        select container_id from {{data}}.containers where shipment_id in (${CUSTOMER_SQL})
    `,
  tag: `
        select container_id from {{data}}.containers where shipment_id in (${TAG_SQL})
    `,
  ref: `
        select container_id from {{data}}.containers where shipment_id in (${REF_SQL})
        union all
        select container_id from {{data}}.containers where :ref::text = any(ref_numbers)
    `,
  'custom-field': `
        select entity_id from (${ENTITIES_SQL}) as entity
        union all
        select container_id from {{data}}.containers where shipment_id in (${ENTITIES_SQL})
    `,
} as const

/**
 * By terminal at the port of discharge or, for containers, inland: both ids are in the container's
 * own row, so that PostgreSQL can look up either.
 */
function terminalFilter(columns: ReadonlySet<string>): string | undefined {
  if (columns.has('subject_type')) {
    return `subject_type = 'terminal' and subject_id = any (array(${TERMINALS_SQL}))`
  }
  if (!columns.has('pod_terminal_id')) return undefined
  const atPort = `pod_terminal_id = any (array(${TERMINALS_SQL}))`
  return columns.has('shipment_id')
    ? `(${atPort}\n    or shipment_id = any (array(${TO_RAMP_SQL})))`
    : atPort
}

/** By the view's own name column, else by the shipments. */
function lineFilter(columns: ReadonlySet<string>): string | undefined {
  if (columns.has('subject_type')) {
    return `subject_type = 'shipping_line' and subject_id = upper(:line::text)
        or lower(subject_name) = lower(:line::text)`
  }
  if (!columns.has('shipping_line_scac')) return undefined
  return `shipping_line_scac = any (array(${LINES_SQL}))`
}

function portFilter(columns: ReadonlySet<string>): string | undefined {
  const column = ['port_of_discharge_locode', 'port_locode'].find((name) => columns.has(name))
  return column === undefined ? undefined : `${column} = any (array(${PORTS_SQL}))`
}
