/** The names of filters, as in addresses. */
export const FILTER_NAMES = ['customer', 'line', 'terminal', 'port'] as const
/** Filters of lists alone: the marks of pictures lead to them. */
export const LIST_FILTER_NAMES = [
  'exception',
  'day',
  'slip',
  'charge',
  'currency',
  'place',
  'severity',
  'spot',
  'state',
] as const

export type FilterName = (typeof FILTER_NAMES)[number] | (typeof LIST_FILTER_NAMES)[number]
export type Filters = Readonly<Partial<Record<FilterName, string>>>

/** The longest value that is read. */
const LONGEST = 200

const ALL_NAMES: readonly FilterName[] = [...FILTER_NAMES, ...LIST_FILTER_NAMES]

const OF_CUSTOMER =
  'shipment_id in (select shipment_id from {{data}}.shipments where customer_name = ?)'
const OF_PORT =
  'shipment_id in (select shipment_id from {{data}}.shipments where port_of_discharge_locode = ?)'
const OF_LINE = 'shipping_line_scac = ?'

type Conditions = Readonly<Partial<Record<FilterName, string>>>

/** By the mark in a statement, the conditions that replace it, with `?` for the value. */
const MARKS: Readonly<Record<string, Conditions>> = {
  '{{chosen}}': {
    customer: OF_CUSTOMER,
    line: OF_LINE,
    terminal: 'pod_terminal_id = ?',
    port: OF_PORT,
  },
  '{{chosen_shipments}}': {
    customer: OF_CUSTOMER,
    line: OF_LINE,
    terminal:
      'shipment_id in (select shipment_id from {{data}}.containers where pod_terminal_id = ?)',
    port: OF_PORT,
  },
  '{{chosen_exception}}': { exception: 'exception = ?', severity: 'severity = ?' },
  '{{chosen_day}}': { day: 'day = ?::date' },
  '{{chosen_place}}': { place: 'place = ?' },
  '{{chosen_slip}}': { slip: 'slip = ?' },
  '{{chosen_spot}}': { spot: '? in (placed.at_place, placed.on_ship)', state: 'placed.state = ?' },
  '{{chosen_charge}}': { charge: 'charge = ?', currency: 'currency = ?' },
}

/** The filters in an address; empty ones are left out, and so is a day that is none. */
export function filtersIn(parameters: URLSearchParams, isList = false): Filters {
  const names = isList ? ALL_NAMES : FILTER_NAMES
  const given = names.flatMap((name) => {
    const value = parameters.get(name)?.slice(0, LONGEST).trim() ?? ''
    const isFit = value !== '' && !value.includes('\0') && (name !== 'day' || isDay(value))
    return isFit ? [[name, value] as const] : []
  })
  return Object.fromEntries(given)
}

function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))
}

/** A statement for these filters, and its parameters in order. */
export interface NarrowedSql {
  readonly sqlText: string
  readonly parameters: readonly string[]
}

/**
 * Puts the conditions of the filters in place of the marks of a statement. The texts are constants,
 * and each value becomes a parameter.
 */
export function narrow(sqlText: string, filters: Filters): NarrowedSql {
  const marks = Object.entries(MARKS).filter(([mark]) => sqlText.includes(mark))
  const names = ALL_NAMES.filter(
    (name) =>
      filters[name] !== undefined && marks.some(([, conditions]) => conditions[name] !== undefined),
  )
  let narrowed = sqlText
  for (const [mark, conditions] of marks) {
    const texts = names.flatMap((name, at) => {
      const condition = conditions[name]
      return condition === undefined ? [] : [condition.replace('?', `$${at + 1}`)]
    })
    narrowed = narrowed.replaceAll(mark, () => texts.join('\n    and ') || 'true')
  }
  return { sqlText: narrowed, parameters: names.map((name) => filters[name] ?? '') }
}

/** An address with these filters and other parameters, where they are given. */
export function addressOf(
  path: string,
  parameters: Readonly<Record<string, string | undefined>>,
): string {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, value] satisfies [string, string]],
  )
  const query = new URLSearchParams(given).toString()
  return query === '' ? path : `${path}?${query}`
}
