import { sql } from 'kysely'
import { isDeepStrictEqual } from 'node:util'
import type { Warehouse } from '../../src/warehouse/connection/warehouse.js'
import type { StandInRecord } from './stand-in-service.js'

type Row = Readonly<Record<string, unknown>>
/** Rows of every data table, as JSON. */
export type StoredTables = ReadonlyMap<string, readonly Row[]>

export async function readTables(warehouse: Warehouse): Promise<StoredTables> {
  const tables = await warehouse.query(
    'list the data tables',
    sql<{ name: string }>`select table_name as name from information_schema.tables
where table_schema = 'tracking' and table_type = 'BASE TABLE'`,
  )
  const found = new Map<string, Row[]>()
  for (const { name } of tables) {
    const rows = await warehouse.query(
      'read a data table',
      sql<{ row: Row }>`select to_jsonb(stored) as row from tracking."${sql.raw(name)}" as stored`,
    )
    found.set(
      name,
      rows.map(({ row }) => row),
    )
  }
  return found
}

/**
 * Values of a record that are missing in its row, its children and its `_unmapped`: one sentence
 * each. Walks the record by its own members, without our definitions: only names of columns are
 * compared.
 */
export function unfoundLeaves(record: StandInRecord, tables: StoredTables): string[] {
  const row = rowOf(record, tables)
  if (row === undefined) return [`${record.type} ${record.id}: has no row`]
  const finder = new LeafFinder(record, row)
  for (const [name, value] of Object.entries(record.attributes ?? {})) {
    if (name !== 'id' || value !== record.id) finder.attribute(name, value)
  }
  for (const [name, { data, ...others }] of Object.entries(record.relationships ?? {})) {
    if (record.type === 'container' && name === 'raw_events') continue
    finder.relationship(name, data)
    if (Object.keys(others).length > 0) finder.kept(`relationships.${name}`, others)
  }
  for (const [name, link] of Object.entries((record.links ?? {}) as Row)) {
    const own = new RegExp(`^/v2/\\w+/${record.id}$`)
    if (name !== 'self' || !own.test(String(link))) finder.kept(`links.${name}`, link)
  }
  if (record.type === 'container') findInChildren(record, tables, finder)
  return finder.missing
}

function rowOf({ type, id }: StandInRecord, tables: StoredTables): Row | undefined {
  const own = tables.get(`${type}s`) ?? tables.get(type.replace(/y$/, 'ies'))
  if (own !== undefined) return own.find((row) => row[`${type}_id`] === id)
  const others = tables.get('other_resources') ?? []
  return others.find((row) => row.resource_type === type && row.resource_id === id)
}

class LeafFinder {
  readonly missing: string[] = []
  readonly #where: string
  readonly #row: Row

  constructor({ type, id }: StandInRecord, row: Row) {
    this.#where = `${type} ${id}`
    this.#row = row
  }

  attribute(name: string, value: unknown): void {
    if (!(name in this.#row)) this.kept(name, value)
    else if (!isHeld(this.#row[name], value) && !this.#isFlagged(name, value)) {
      this.miss(name, value, this.#row[name])
    }
  }

  relationship(name: string, data: unknown): void {
    const ids = `${name.replace(/s$/, '')}_ids`
    if (Array.isArray(data) && ids in this.#row) {
      const sent = (data as { id: string }[]).map(({ id }) => id).sort()
      if (!isDeepStrictEqual(this.#row[ids], sent)) this.miss(name, sent, this.#row[ids])
      return
    }
    if (!(`${name}_id` in this.#row)) {
      this.kept(`relationships.${name}`, { data })
      return
    }
    const { id = null, type = null } = (data ?? {}) as { id?: unknown; type?: unknown }
    if (this.#row[`${name}_id`] !== id) this.miss(name, id, this.#row[`${name}_id`])
    const stored = this.#row[`${name}_type`]
    if (`${name}_type` in this.#row && stored !== type) this.miss(`${name} (type)`, type, stored)
  }

  /** In `_unmapped`, with at least what was sent. */
  kept(name: string, value: unknown): void {
    const unmapped = (this.#row._unmapped ?? {}) as Row
    if (!isHeld(unmapped[name], value)) this.miss(name, value, unmapped[name])
  }

  miss(name: string, sent: unknown, stored: unknown): void {
    this.missing.push(
      `${this.#where}: ${name} ${JSON.stringify(sent)} is ${JSON.stringify(stored ?? null)}`,
    )
  }

  /** A value that its column cannot hold is in `_coercions`, as it was sent. */
  #isFlagged(name: string, value: unknown): boolean {
    const coercions = (this.#row._coercions ?? {}) as Record<string, { original: string }>
    const original = coercions[name]?.original
    return original !== undefined && isDeepStrictEqual(JSON.parse(original), value)
  }
}

const INSTANT = /^\d{4}-\d\d-\d\dT/

/** Whether what is stored says what was sent, leaf by leaf: instants and numbers by their value. */
function isHeld(stored: unknown, sent: unknown): boolean {
  if (typeof sent === 'object' && sent !== null) {
    if (typeof stored !== 'object' || stored === null) return false
    return Object.entries(sent).every(([name, value]) => isHeld((stored as Row)[name], value))
  }
  if (stored === sent) return true
  if (typeof sent === 'string' && typeof stored === 'string' && INSTANT.test(sent)) {
    return Date.parse(stored) === Date.parse(sent)
  }
  const isNumber = typeof sent === 'number' || typeof stored === 'number'
  return isNumber && stored !== null && Number(stored) === Number(sent)
}

const LISTS = [
  ['holds_at_pod_terminal', 'container_holds', 'port'],
  ['ind_facility_holds', 'container_holds', 'ramp'],
  ['fees_at_pod_terminal', 'container_fees', 'port'],
  ['ind_facility_fees', 'container_fees', 'ramp'],
] as const

/** Each item of a list is a row too, and each day of `import_deadlines`. */
function findInChildren(
  { id, attributes = {} }: StandInRecord,
  tables: StoredTables,
  finder: LeafFinder,
): void {
  const childrenIn = (table: string): readonly Row[] =>
    (tables.get(table) ?? []).filter((row) => row.container_id === id)
  for (const [name, table, place] of LISTS) {
    const items = (attributes[name] ?? []) as readonly Row[]
    const rows = childrenIn(table).filter((row) => row.place === place)
    if (rows.length !== items.length) finder.miss(`${name} (rows)`, items, rows)
    for (const [position, item] of items.entries()) {
      const row = rows.find((candidate) => candidate.position === position)
      for (const [member, value] of Object.entries(item)) {
        const held = row !== undefined && member in row ? row[member] : (row?._unmapped as Row)
        const sent = row !== undefined && member in row ? value : { [member]: value }
        if (!isHeld(held, sent)) finder.miss(`${name}[${position}].${member}`, value, held)
      }
    }
  }
  const days = childrenIn('container_import_deadlines')
  for (const [path, day] of daysIn('import_deadlines', attributes.import_deadlines)) {
    const isRow = days.some(
      ({ deadline_at, local_date, details }) =>
        [deadline_at, local_date].some((stored) => stored !== null && isHeld(stored, day)) ||
        JSON.stringify(details ?? null).includes(day),
    )
    if (!isRow) finder.miss(`${path} (row)`, day, days)
  }
}

function daysIn(path: string, value: unknown): [string, string][] {
  if (typeof value === 'string') return /^\d{4}-\d\d-\d\d/.test(value) ? [[path, value]] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => daysIn(`${path}.${name}`, member))
}
