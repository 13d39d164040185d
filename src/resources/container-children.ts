import { hash } from 'node:crypto'
import { encodeValue, type Column, type EncodedValue } from './column.js'
import { IMPORT_DEADLINES } from './container.js'
import { localDate } from './local-date.js'
import { toStorableJson } from './storable-text.js'
import { isDateOnly } from './timestamp.js'
import { stringifyExactJson } from '../jsonapi/exact-json.js'

/**
 * The tables below a container: deadlines, holds and fees. Their rows are a function of the *stored* container row, so that a
 * partial record (a webhook's, say) that lacks the time zone or the holds cannot leave them inconsistent.
 */
export interface ChildTable {
  readonly table: string
  readonly historyTable: string
  /** The child's own key column; the full key is `(container_id, <keyColumn>)`. */
  readonly keyColumn: string
  readonly columns: readonly Column[]
}

/** A child row: values aligned with `table.columns`, whose first two are the key. */
export interface ChildRow {
  readonly table: ChildTable
  readonly values: readonly EncodedValue[]
}

const material = (name: string, type: Column['type']): Column => ({ name, type, isMaterial: true })
const immaterial = (name: string, type: Column['type']): Column => ({
  name,
  type,
  isMaterial: false,
})

export const containerImportDeadlines: ChildTable = {
  table: 'container_import_deadlines',
  historyTable: 'container_import_deadline_history',
  keyColumn: 'kind',
  columns: [
    immaterial('container_id', 'text'),
    immaterial('kind', 'text'),
    material('deadline_at', 'timestamptz'),
    material('time_zone', 'text'),
    material('local_date', 'date'),
    immaterial('is_zone_known', 'boolean'),
  ],
}

export const containerHolds: ChildTable = {
  table: 'container_holds',
  historyTable: 'container_hold_history',
  keyColumn: 'hold_key',
  columns: [
    immaterial('container_id', 'text'),
    immaterial('hold_key', 'text'),
    material('name', 'text'),
    material('status', 'text'),
    material('description', 'text'),
    immaterial('position', 'integer'),
    immaterial('_unmapped', 'jsonb'),
    immaterial('_coercions', 'jsonb'),
  ],
}

export const containerFees: ChildTable = {
  table: 'container_fees',
  historyTable: 'container_fee_history',
  keyColumn: 'fee_key',
  columns: [
    immaterial('container_id', 'text'),
    immaterial('fee_key', 'text'),
    material('type', 'text'),
    material('amount', 'numeric'),
    material('currency_code', 'text'),
    immaterial('is_total', 'boolean'),
    immaterial('position', 'integer'),
    immaterial('_unmapped', 'jsonb'),
    immaterial('_coercions', 'jsonb'),
  ],
}

export const containerChildren: readonly ChildTable[] = [
  containerImportDeadlines,
  containerHolds,
  containerFees,
]

/** What of a stored container its children are made from; times as RFC 3339 texts, lists as parsed JSON. */
export interface StoredContainer {
  readonly container_id: string
  readonly pickup_lfd: string | null
  readonly pickup_lfd_terminal: string | null
  readonly pickup_lfd_rail: string | null
  readonly pickup_lfd_line: string | null
  readonly pod_timezone: string | null
  readonly final_destination_timezone: string | null
  readonly holds_at_pod_terminal: unknown
  readonly fees_at_pod_terminal: unknown
  /** `{column: {reason, original}}`, where bare dates of deadlines are found. */
  readonly coercions: unknown
}

/** All child rows of one container. A list that is no list yields no rows; its original stands in the container's row. */
export function flattenContainerChildren(container: StoredContainer): ChildRow[] {
  return [
    ...flattenDeadlines(container),
    ...flattenHolds(container.container_id, container.holds_at_pod_terminal),
    ...flattenFees(container.container_id, container.fees_at_pod_terminal),
  ]
}

const DEADLINE_KINDS = ['pickup_lfd', ...IMPORT_DEADLINES] as const

function flattenDeadlines(container: StoredContainer): ChildRow[] {
  const rows: ChildRow[] = []
  for (const kind of DEADLINE_KINDS) {
    const deadlineAt = container[kind]
    const timeZone = deadlineZone(kind, container)
    const date = deadlineAt === null ? bareDate(container.coercions, kind) : null
    if (deadlineAt === null && date === null) continue
    const local =
      deadlineAt === null ? { date, isZoneKnown: true } : localDate(deadlineAt, timeZone)
    rows.push({
      table: containerImportDeadlines,
      values: [
        container.container_id,
        kind,
        deadlineAt,
        timeZone,
        local.date,
        String(local.isZoneKnown),
      ],
    })
  }
  return rows
}

/**
 * The interface gives the terminal's deadline in `pod_timezone`, the rail one in `final_destination_timezone`, and the line's in
 * one of the two: the final destination's where the container has one. `pickup_lfd` prefers the line's deadline and follows
 * whichever it repeats.
 */
function deadlineZone(
  kind: (typeof DEADLINE_KINDS)[number],
  container: StoredContainer,
): string | null {
  const { pod_timezone: pod, final_destination_timezone: final } = container
  switch (kind) {
    case 'pickup_lfd_terminal':
      return pod
    case 'pickup_lfd_rail':
      return final
    case 'pickup_lfd_line':
      return final ?? pod
    case 'pickup_lfd':
      return container.pickup_lfd === container.pickup_lfd_terminal &&
        container.pickup_lfd !== container.pickup_lfd_line
        ? pod
        : (final ?? pod)
    default:
      return kind satisfies never
  }
}

/** A deadline that was sent as a bare date has no instant, yet its day is exactly what was meant. */
function bareDate(coercions: unknown, kind: string): string | null {
  const entry = memberOf(coercions, kind)
  const original = memberOf(entry, 'original')
  if (typeof original !== 'string') return null
  const text = original.startsWith('"') ? original.slice(1, -1) : original
  return isDateOnly(text) ? text : null
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Record<string, unknown>)[name]
    : undefined
}

function flattenHolds(containerId: string, holds: unknown): ChildRow[] {
  return flattenList(
    containerHolds,
    containerId,
    holds,
    ['name', 'status', 'description'],
    (hold) =>
      // Two holds of one name are told apart by description; the status may change without it being another hold.
      [hold.name, hold.description ?? null],
  )
}

function flattenFees(containerId: string, fees: unknown): ChildRow[] {
  return flattenList(
    containerFees,
    containerId,
    fees,
    ['type', 'amount', 'currency_code'],
    (fee) => [fee.type, fee.currency_code ?? null],
    (fee) => ({ is_total: fee.type === 'total' }),
  )
}

type Item = Readonly<Record<string, unknown>>

function flattenList(
  table: ChildTable,
  containerId: string,
  list: unknown,
  fields: readonly string[],
  identityOf: (item: Item) => readonly unknown[],
  derive: (item: Item) => Item = () => ({}),
): ChildRow[] {
  if (!Array.isArray(list)) return []
  const seen = new Map<string, number>()
  return (list as readonly unknown[]).map((element, position) => {
    const isItem = typeof element === 'object' && element !== null && !Array.isArray(element)
    const item: Item = isItem ? (element as Item) : { element }
    const identity = identityOf(item)
    const digest = hash('sha256', stringifyExactJson(identity), 'base64url').slice(0, 16)
    const ordinal = (seen.get(digest) ?? 0) + 1
    seen.set(digest, ordinal)
    const itemKey = ordinal === 1 ? digest : `${digest}-${ordinal}`
    const values = {
      ...derive(item),
      container_id: containerId,
      [table.keyColumn]: itemKey,
      position,
    }
    return { table, values: flattenItem(table, item, fields, values) }
  })
}

function flattenItem(
  table: ChildTable,
  item: Item,
  fields: readonly string[],
  given: Item,
): EncodedValue[] {
  const unmapped = Object.entries(item).filter(([name]) => !fields.includes(name))
  const coercions: Record<string, unknown> = {}
  const encode = ({ name, type }: Column): EncodedValue => {
    if (name === '_unmapped') return jsonOrNull(Object.fromEntries(unmapped))
    if (name === '_coercions') return jsonOrNull(coercions)
    const value = fields.includes(name) ? item[name] : given[name]
    const { value: encoded, reason } = encodeValue(type, value)
    if (reason !== undefined) coercions[name] = { reason, original: stringifyExactJson(value) }
    return encoded
  }
  return table.columns.map(encode)
}

function jsonOrNull(value: Readonly<Record<string, unknown>>): EncodedValue {
  return Object.keys(value).length === 0 ? null : toStorableJson(value).text
}
