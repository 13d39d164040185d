import { isDeepStrictEqual } from 'node:util'
import type { EncodedValue } from '../../../src/source/records/column.js'
import { resources } from '../../../src/source/records/index.js'
import { flatten, readArrayLiteral, storable, type JsonObject, type NamedRow } from './flat-rows.js'

/**
 * Proof that a flattened record holds exactly what the record said. Every attribute, relationship
 * and other member must be found again, as the value it was: in its column, in `unmapped`, or as
 * `original` in `coercions`. A value of the row that belongs to none of them was invented. Returns
 * one sentence for each fault.
 */
export function accountFor(record: JsonObject): string[] {
  const row = flatten(record)
  const account = new Account(row)
  account.column(row.flat.resource.idColumn, record.id)
  if (row.stream === 'other_resources') account.column('resource_type', record.type)
  // Kept as sent, beside the columns.
  if (row.stream === 'raw_events') account.column('attributes', record.attributes ?? null)
  for (const [name, value] of Object.entries(asObject(record.attributes))) {
    accountForAttribute(account, row, record, name, value)
  }
  for (const [name, value] of Object.entries(asObject(record.relationships))) {
    accountForRelationship(account, row, name, value)
  }
  for (const [name, value] of Object.entries(record)) {
    if (['id', 'type', 'attributes', 'relationships'].includes(name)) continue
    if (name === 'links' && isObject(value)) accountForLinks(account, record, value)
    else account.unmapped(`record.${name}`, value)
  }
  return account.close()
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

const DEADLINES = ['pickup_lfd_terminal', 'pickup_lfd_rail', 'pickup_lfd_line']

function accountForAttribute(
  account: Account,
  row: NamedRow,
  record: JsonObject,
  name: string,
  value: unknown,
): void {
  const isColumn = row.flat.resource.attributes.has(name)
  if (!isColumn && name === 'id' && value === record.id) return
  if (!isColumn) {
    account.unmapped(name.includes('.') ? `attributes.${name}` : name, value)
    return
  }
  account.column(name, value)
  if (row.stream === 'transport_events' && name === 'event') account.derived('is_estimated')
  // Cast from the value, or null.
  if (row.stream === 'custom_fields' && name === 'value') {
    for (const column of Object.keys(row.columns)) {
      if (/^(value_|data_type)/.test(column)) account.castOf(column, value)
    }
  }
  if (row.stream !== 'containers' || name !== 'import_deadlines') return
  account.derived('import_deadline_sources')
  for (const deadline of DEADLINES) {
    if (!isObject(value)) account.derived(deadline)
    // An object in place of a date stays in import_deadlines, and what is read of it is derived.
    else if (isObject(value[deadline])) account.castOf(deadline, value[deadline])
    else if (value[deadline] !== undefined) account.column(deadline, value[deadline])
  }
}

function accountForRelationship(
  account: Account,
  row: NamedRow,
  name: string,
  relationship: unknown,
): void {
  const resource = resources.find(({ stream }) => stream === row.stream)
  if (resource?.ignoredRelationships?.includes(name) === true) return
  const spec = resource?.relationships.get(name)
  if (spec === undefined) {
    account.unmapped(`relationships.${name}`, relationship)
    return
  }
  const column = spec.kind === 'many' ? spec.column : `${name}_id`
  const columns = spec.kind === 'polymorphic' ? [column, `${name}_type`] : [column]
  const data = isObject(relationship) ? relationship.data : relationship
  if (data !== undefined) {
    if (row.coercions[column] !== undefined) {
      account.original(column, data)
      for (const each of columns) account.derived(each)
    } else if (Array.isArray(data)) {
      account.ids(column, data as JsonObject[])
    } else {
      const linkage = data === null ? { id: null, type: null } : (data as JsonObject)
      account.column(column, linkage.id)
      if (columns.length > 1) account.column(`${name}_type`, linkage.type ?? null)
    }
  }
  // Kept whole where an identifier names another type than expected, or has more members.
  const isWhole = [data].flat().some((identifier) => {
    const { type, ...more } = asObject(identifier)
    const isExpected = spec.kind === 'polymorphic' || [undefined, spec.type].includes(type as never)
    return isObject(identifier) && (!isExpected || Object.keys(more).length > 1)
  })
  const others = Object.entries(asObject(relationship)).filter(([member]) => member !== 'data')
  if (isWhole && row.coercions[column] === undefined) {
    account.unmapped(`relationships.${name}`, relationship)
  } else if (others.length > 0) {
    account.unmapped(`relationships.${name}`, Object.fromEntries(others))
  }
}

function accountForLinks(account: Account, record: JsonObject, links: JsonObject): void {
  const path = resources.find(({ type }) => type === record.type)?.path
  for (const [name, link] of Object.entries(links)) {
    const repeatsIdentity = name === 'self' && link === `/v2/${path ?? ''}/${String(record.id)}`
    if (!repeatsIdentity) account.unmapped(`links.${name}`, link)
  }
}

class Account {
  readonly #row: NamedRow
  readonly #problems: string[] = []
  readonly #columns = new Set<string>()
  readonly #unmapped = new Set<string>()
  readonly #coercions = new Set<string>()

  constructor(row: NamedRow) {
    this.#row = row
  }

  column(name: string, value: unknown): void {
    const { columns, coercions, flat } = this.#row
    const type = flat.resource.columns.find((column) => column.name === name)?.type ?? 'no column'
    this.#columns.add(name)
    if (coercions[name] !== undefined) this.original(name, value)
    else if (!isSame(type, columns[name], value)) {
      this.#problems.push(`${name}: ${JSON.stringify(value)} became ${String(columns[name])}`)
    }
  }

  /** A column made of a value, or of a part of it; the value itself where that is not possible. */
  castOf(name: string, value: unknown): void {
    this.#columns.add(name)
    if (this.#row.coercions[name] !== undefined) this.original(name, value)
  }

  /** A column that is a function of others. */
  derived(name: string): void {
    this.#columns.add(name)
  }

  original(name: string, value: unknown): void {
    const kept = JSON.parse(this.#row.coercions[name]?.original ?? 'null') as unknown
    this.#columns.add(name)
    this.#coercions.add(name)
    if (!isDeepStrictEqual(kept, value)) {
      this.#problems.push(`${name}: the original ${JSON.stringify(value)} is not in coercions`)
    }
  }

  ids(name: string, data: readonly JsonObject[]): void {
    const stored = readArrayLiteral(this.#row.columns[name] ?? '').sort()
    this.#columns.add(name)
    if (!isDeepStrictEqual(stored, data.map(({ id }) => id).sort())) {
      this.#problems.push(`${name}: other ids than in the relationship`)
    }
  }

  unmapped(name: string, value: unknown): void {
    const { unmapped, coercions } = this.#row
    const replaced = JSON.parse(coercions._unmapped?.original ?? '{}') as JsonObject
    this.#unmapped.add(storable(name))
    if (Object.hasOwn(replaced, name)) this.#coercions.add('_unmapped')
    const kept = Object.hasOwn(replaced, name) ? replaced[name] : unmapped[name]
    if (!isDeepStrictEqual(kept, value)) {
      this.#problems.push(`${name}: ${JSON.stringify(value)} is not in unmapped`)
    }
  }

  close(): string[] {
    const { columns, unmapped, coercions, flat } = this.#row
    const invented = [
      ...Object.keys(columns)
        .filter((name) => columns[name] !== undefined && !this.#columns.has(name))
        // Keys that come from a relationship were accounted for there.
        .filter((name) => !flat.resource.keyColumns.includes(name)),
      ...Object.keys(unmapped).filter((name) => !this.#unmapped.has(name)),
      ...Object.keys(coercions).filter((name) => !this.#coercions.has(name)),
    ]
    return [...this.#problems, ...invented.map((name) => `${name}: the record does not say so`)]
  }
}

/** Reads the text of a column by rules of its own, and compares it with what the source sent. */
function isSame(type: string, stored: EncodedValue | undefined, sent: unknown): boolean {
  if (stored === undefined) return false
  if (sent === null || stored === null) return sent === stored
  switch (type) {
    case 'text':
      return stored === (typeof sent === 'string' ? sent : JSON.stringify(sent))
    case 'date':
      return stored === sent
    case 'timestamptz':
      return typeof sent === 'string' && Date.parse(stored) === Date.parse(sent)
    case 'numeric':
    case 'integer':
      return typeof sent !== 'boolean' && sent !== '' && Number(stored) === Number(sent)
    case 'boolean':
      return stored === JSON.stringify(sent) || stored === sent
    case 'text[]':
      return (
        Array.isArray(sent) &&
        isDeepStrictEqual(
          readArrayLiteral(stored),
          (sent as unknown[]).map((item) =>
            item === null || typeof item === 'string' ? item : JSON.stringify(item),
          ),
        )
      )
    case 'jsonb':
      return isDeepStrictEqual(JSON.parse(stored), sent)
    default:
      return false
  }
}
