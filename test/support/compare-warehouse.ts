import type { ResourceIdentifier, ResourceObject } from '../../src/source/jsonapi/document.js'
import { optionRecords } from '../../src/extensions/simulator/records/custom-field-record.js'
import type { World } from '../../src/extensions/simulator/world/world.js'
import { webhookEventCategories } from '../../src/extensions/simulator/webhooks/webhook-catalog.js'
import { compareChildren, latestDay, listOf } from './snapshot-children.js'
import { compareHistories } from './snapshot-history.js'
import {
  countRow,
  loadTables,
  type Row,
  type RowReader,
  type TableSnapshot,
} from './snapshot-tables.js'
import { canonical, shown } from './snapshot-values.js'

export interface CompareOptions {
  /**
   * Also compares where vessels are now. A vessel is read once, so this holds only for one just
   * read.
   */
  readonly hasVesselPositions?: boolean
  readonly hasRawEvents?: boolean
  /** Rows were tombstoned and came back, so that their histories have gaps. */
  readonly hasRevivedRows?: boolean
  /**
   * Tables that may be empty in a scene as small as this. All others must have a row: a comparison
   * of nothing proves nothing.
   */
  readonly mayLack?: readonly string[]
}

/** Types whose every record must have a row. */
const COMPLETE = {
  shipment: 'shipments',
  container: 'containers',
  transport_event: 'transport_events',
  tracking_request: 'tracking_requests',
  custom_field: 'custom_fields',
  custom_field_definition: 'custom_field_definitions',
} as const

/** Types of which only what something points to must have a row. */
const REFERENCES = {
  port: 'ports',
  metro_area: 'metro_areas',
  terminal: 'terminals',
  rail_terminal: 'rail_terminals',
  vessel: 'vessels',
} as const

const OPTIONS = 'custom_field_options'

/** Every complete pass reads them, and nothing else does. */
const CATEGORIES = 'webhook_event_categories'

/** A few shipments may send nothing by rail. */
export const RAIL = ['metro_areas', 'rail_terminals'] as const

const CHILDREN = ['container_import_deadlines', 'container_holds', 'container_fees']

/** Each live row of a history's table has its open version, so that histories need no count. */
export const COUNTED_TABLES: readonly string[] = [
  ...Object.values(COMPLETE),
  OPTIONS,
  ...Object.values(REFERENCES),
  ...CHILDREN,
]

/** Tables that may stay empty with a few random shipments. */
export const SELDOM: readonly string[] = [...RAIL, ...CHILDREN]

const VOLATILE_OF_VESSELS = [
  'latitude',
  'longitude',
  'nautical_speed_knots',
  'navigational_heading_degrees',
  'position_timestamp',
]

type Tables = ReadonlyMap<string, TableSnapshot>

/**
 * Differences between the warehouse and the world at an instant, one sentence each; empty when they
 * are equal. Compares value by value in both directions by its own rules, without the code that
 * filled the tables. Tombstoned rows count as absent. The number of queries does not depend on the
 * number of rows.
 */
export async function compareWarehouse(
  warehouse: RowReader,
  world: World,
  at: Date,
  options: CompareOptions = {},
): Promise<string[]> {
  return compareTables(await loadTables(warehouse), world, at, options)
}

/** The same of tables that were read; notes in them what it compared. */
export function compareTables(
  tables: Tables,
  world: World,
  at: Date,
  options: CompareOptions = {},
): string[] {
  const differences: string[] = []
  const references = new Map<string, ResourceIdentifier>()
  for (const [type, table] of Object.entries(COMPLETE)) {
    const sent = [...world.records(type as keyof typeof COMPLETE, at)]
    const records = type === 'custom_field' ? sent.map((record) => typed(record, world, at)) : sent
    for (const record of records) collectReferences(record, references)
    differences.push(...compareTable(tables, table, type, records))
  }
  const definitions = [...world.records('custom_field_definition', at)]
  const fieldOptions = definitions.flatMap(({ type, id }) =>
    optionRecords(world.ids, world.ids.decode(id)?.serial ?? 0).map((option) => ({
      ...option,
      // Only the address of the request tells the definition of an option.
      relationships: { definition: { data: { type, id } } },
    })),
  )
  differences.push(...compareTable(tables, OPTIONS, 'custom_field_option', fieldOptions))
  for (const [type, table] of Object.entries(REFERENCES)) {
    differences.push(...compareReferences(tables, table, type, { world, at, options, references }))
  }
  differences.push(
    ...compareChildren(tables, [...world.records('container', at)]),
    ...compareStamps(tables),
    ...compareHistories(tables, options.hasRevivedRows ?? false),
  )
  if (options.hasVesselPositions === true) differences.push(...comparePositions(tables, world, at))
  if (options.hasRawEvents === true) {
    differences.push(...compareTable(tables, 'raw_events', 'raw_event', rawEvents(world, at)))
  }
  if (liveRows(tables, CATEGORIES).length > 0) {
    const categories = webhookEventCategories()
    differences.push(...compareTable(tables, CATEGORIES, 'webhook_event_category', categories))
  }
  differences.push(...compareNothing(tables, options))
  return differences
}

function compareNothing(tables: Tables, options: CompareOptions): string[] {
  const { mayLack = [], hasVesselPositions = false, hasRawEvents = false } = options
  const asked = [
    ...(hasVesselPositions ? ['vessel_positions'] : []),
    ...(hasRawEvents ? ['raw_events'] : []),
  ]
  return [...COUNTED_TABLES, ...asked]
    .filter((table) => (tables.get(table)?.tally.rows ?? 0) === 0 && !mayLack.includes(table))
    .map((table) => `${table}: not one row was compared`)
}

/** Only the address they were asked at says their owner; they are also kept as sent. */
function rawEvents(world: World, at: Date): ResourceObject[] {
  return [...world.records('container', at)].flatMap(({ id }) =>
    world.rawEventsOf(id, at).map(({ attributes, relationships, ...rest }) => ({
      ...rest,
      attributes: { ...attributes, attributes },
      relationships: { ...relationships, container: { data: { type: 'container', id } } },
    })),
  )
}

const COLUMN_OF_TYPE: Readonly<Record<string, string>> = {
  number: 'value_number',
  date: 'value_date',
  datetime: 'value_timestamp',
  boolean: 'value_boolean',
  enum_multi: 'value_list',
}

/** A custom field with its value also in the column of its type. */
export function typed(record: ResourceObject, world: World, at: Date): ResourceObject {
  const { id } = record.relationships?.definition?.data as ResourceIdentifier
  const data_type = world.record('custom_field_definition', id, at)?.attributes?.data_type
  const column = COLUMN_OF_TYPE[String(data_type)] ?? 'value_text'
  const { attributes } = record
  return { ...record, attributes: { ...attributes, data_type, [column]: attributes?.value } }
}

function collectReferences(
  record: ResourceObject,
  references: Map<string, ResourceIdentifier>,
): void {
  for (const { data } of Object.values(record.relationships ?? {})) {
    const links = (Array.isArray(data) ? data : [data ?? []].flat()) as ResourceIdentifier[]
    for (const { type, id } of links) {
      if (type in REFERENCES) references.set(`${type} ${id}`, { type, id })
    }
  }
}

function liveRows(tables: Tables, table: string): readonly Row[] {
  return (tables.get(table)?.rows ?? []).filter((row) => (row._deleted_at ?? null) === null)
}

function compareTable(
  tables: Tables,
  table: string,
  type: string,
  records: readonly ResourceObject[],
): string[] {
  const differences: string[] = []
  const rows = new Map<string, Row>()
  for (const row of liveRows(tables, table)) {
    const id = String(row[`${type}_id`])
    if (rows.has(id)) differences.push(`${table} ${id}: stands twice`)
    rows.set(id, row)
  }
  for (const record of records) {
    const row = rows.get(record.id)
    rows.delete(record.id)
    if (row === undefined) differences.push(`${table} ${record.id}: has no row`)
    else differences.push(...compareRecord(tables, table, record, row))
    if (row !== undefined) countRow(tables.get(table), row)
  }
  for (const id of rows.keys()) differences.push(`${table} ${id}: is not at the source`)
  return differences
}

function compareReferences(
  tables: Tables,
  table: string,
  type: string,
  scene: {
    readonly world: World
    readonly at: Date
    readonly options: CompareOptions
    readonly references: ReadonlyMap<string, ResourceIdentifier>
  },
): string[] {
  const { world, at, options, references } = scene
  const present = new Set(liveRows(tables, table).map((row) => String(row[`${type}_id`])))
  const missing = [...references.values()].filter(
    (reference) => reference.type === type && !present.has(reference.id),
  )
  const isVesselMoving = type === 'vessel' && options.hasVesselPositions !== true
  const ignored = isVesselMoving ? VOLATILE_OF_VESSELS : []
  const unequal = liveRows(tables, table).flatMap((row) => {
    const id = String(row[`${type}_id`])
    const differencesAt = (instant: Date): string[] => {
      const record = world.record(type, id, instant)
      if (record === undefined) return [`${table} ${id}: is not at the source`]
      return compareRecord(tables, table, record, row, ignored)
    }
    countRow(tables.get(table), row, ignored)
    const differences = differencesAt(at)
    const isNews = differences.length > 0 && differencesAt(weekBefore(at)).length === 0
    return isNews ? [] : differences
  })
  return [...missing.map(({ id }) => `${table} ${id}: is referenced and has no row`), ...unequal]
}

/** Places and vessels are read again within a week; until then a row may say what was so. */
function weekBefore(at: Date): Date {
  return new Date(at.getTime() - 7 * 86_400_000)
}

/** One record and its row, attribute by attribute and relationship by relationship. */
export function compareRecord(
  tables: Tables,
  table: string,
  record: ResourceObject,
  row: Row,
  ignored: readonly string[] = [],
): string[] {
  const types = tables.get(table)?.types ?? new Map<string, string>()
  const differences: string[] = []
  const unmapped: Record<string, unknown> = {}
  const coerced: string[] = []
  // Columns that the service never sends are empty.
  const expected = new Set([`${record.type}_id`, 'import_deadline_sources'])
  const expect = (column: string, sent: unknown): void => {
    expected.add(column)
    if (ignored.includes(column)) return
    const type = types.get(column) ?? ''
    const wanted = canonical(type, sent)
    if (wanted === undefined) coerced.push(column)
    if (canonical(type, row[column]) === (wanted ?? null)) return
    const where = `${table} ${record.id}: ${column}`
    differences.push(`${where} is ${shown(row[column])} and should be ${shown(sent)}`)
  }
  for (const [name, value] of Object.entries(record.attributes ?? {})) {
    if (types.has(name)) expect(name, value)
    else if (name !== 'id' || value !== record.id) unmapped[name] = value
  }
  for (const [name, { data }] of Object.entries(record.relationships ?? {})) {
    if (record.type === 'container' && name === 'raw_events') continue
    const list = `${name.replace(/s$/, '')}_ids`
    if (Array.isArray(data) && types.has(list)) {
      expect(list, (data as ResourceIdentifier[]).map(({ id }) => id).sort())
    } else if (types.has(`${name}_id`)) {
      const target = (data ?? null) as ResourceIdentifier | null
      expect(`${name}_id`, target?.id ?? null)
      if (types.has(`${name}_type`)) expect(`${name}_type`, target?.type ?? null)
    } else unmapped[`relationships.${name}`] = record.relationships?.[name]
  }
  for (const [name, link] of Object.entries(record.links ?? {})) {
    if (name !== 'self' || link !== `/v2/${table}/${record.id}`) unmapped[`links.${name}`] = link
  }
  if (record.type === 'transport_event') {
    expect('is_estimated', String(record.attributes?.event).includes('.estimated.'))
  }
  const deadlines = (record.attributes?.import_deadlines ?? {}) as Record<string, unknown>
  if (record.type === 'container') {
    for (const kind of DEADLINES) expect(kind, latestDay(deadlines[kind]))
  }
  for (const column of types.keys()) {
    if (!expected.has(column) && !column.startsWith('_')) expect(column, null)
  }
  expect('_unmapped', Object.keys(unmapped).length === 0 ? null : unmapped)
  const flagged = Object.keys(row._coercions ?? {}).sort()
  if (flagged.join() !== coerced.sort().join()) {
    differences.push(
      `${table} ${record.id}: _coercions names ${shown(flagged)} and should name ${shown(coerced)}`,
    )
  }
  return differences
}

const DEADLINES = ['pickup_lfd_terminal', 'pickup_lfd_rail', 'pickup_lfd_line']

/** When a row was first seen, last changed and last observed, in this order. */
function compareStamps(tables: Tables): string[] {
  return [...tables].flatMap(([table, { types, rows }]) => {
    const stamps = ['_first_seen_at', '_changed_at', '_observed_at'].filter((name) =>
      types.has(name),
    )
    return rows.flatMap((row) => {
      const texts = stamps.map((name) => canonical('timestamp with time zone', row[name]) ?? '')
      const isInOrder = texts.every(
        (text, index) => index === 0 || BigInt(texts[index - 1] ?? 0) <= BigInt(text),
      )
      return isInOrder ? [] : [`${table}: ${stamps.join(', ')} are out of order in ${shown(row)}`]
    })
  })
}

function comparePositions(tables: Tables, world: World, at: Date): string[] {
  const positions = tables.get('vessel_positions')
  const stored = new Map(
    (positions?.rows ?? []).map((row) => [
      `${String(row.vessel_id)} ${canonical('timestamp with time zone', row.position_at) ?? ''}`,
      row,
    ]),
  )
  const differences: string[] = []
  for (const vessel of liveRows(tables, 'vessels')) {
    const id = String(vessel.vessel_id)
    const sent = world.vesselWithPositions(id, at)?.attributes?.positions
    for (const { timestamp, estimated, ...place } of listOf(sent)) {
      const row = stored.get(`${id} ${canonical('timestamp with time zone', timestamp) ?? ''}`)
      const wanted = { ...place, is_estimated: estimated }
      if (row !== undefined) countRow(positions, row)
      for (const [name, value] of Object.entries(wanted)) {
        const type = positions?.types.get(name) ?? ''
        if (row !== undefined && canonical(type, row[name]) === canonical(type, value)) continue
        differences.push(
          `vessel_positions ${id} ${String(timestamp)}: ${name} is ${shown(row?.[name])} and should be ${shown(value)}`,
        )
      }
    }
  }
  return differences
}
