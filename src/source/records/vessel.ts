import { isObject } from '../jsonapi/document.js'
import { encodeValue, type Column, type EncodedValue } from './column.js'
import { flattenRecord } from './flatten.js'
import { defineResource, fields, volatile, type SeenIn, type Sighting } from './resource.js'

/**
 * A vessel, and its position when it was last read. `vessel_positions` has its earlier ones, when
 * requested.
 */
export const vessels = defineResource({
  type: 'vessel',
  stream: 'vessels',
  path: 'vessels',
  attributes: {
    ...fields('text', 'name imo mmsi'),
    ...volatile('numeric', 'latitude longitude nautical_speed_knots navigational_heading_degrees'),
    ...volatile('timestamptz', 'position_timestamp'),
  },
})

/** One row per vessel and instant; sent only for requests with `show_positions`. */
export const vesselPositions: {
  readonly table: 'vessel_positions'
  readonly columns: readonly Column[]
} = {
  table: 'vessel_positions',
  columns: [
    { name: 'vessel_id', type: 'text', isMaterial: false },
    { name: 'position_at', type: 'timestamptz', isMaterial: false },
    { name: 'latitude', type: 'numeric', isMaterial: true },
    { name: 'longitude', type: 'numeric', isMaterial: true },
    { name: 'heading', type: 'numeric', isMaterial: true },
    { name: 'is_estimated', type: 'boolean', isMaterial: true },
  ],
}

export interface FlatPositions {
  /** Values aligned with the columns; one row per instant, the last of equal instants wins. */
  readonly rows: readonly (readonly EncodedValue[])[]
  /** Items without a usable instant, as they came. */
  readonly refused: readonly unknown[]
}

const FIELDS = ['timestamp', 'latitude', 'longitude', 'heading', 'estimated'] as const

/**
 * The positions of one vessel. An item that cannot be a row, or has members beyond the interface,
 * is returned.
 */
export function flattenVesselPositions(vesselId: string, positions: unknown): FlatPositions {
  if (!Array.isArray(positions)) {
    return { rows: [], refused: positions === null || positions === undefined ? [] : [positions] }
  }
  const rows = new Map<string, readonly EncodedValue[]>()
  const refused: unknown[] = []
  for (const item of positions as readonly unknown[]) {
    const row = flattenPosition(vesselId, item)
    if (row === undefined) refused.push(item)
    else rows.set(row[1] ?? '', row)
  }
  return { rows: [...rows.values()], refused }
}

function flattenPosition(vesselId: string, item: unknown): readonly EncodedValue[] | undefined {
  if (!isObject(item)) return undefined
  const isKnown = Object.keys(item).every((name) => FIELDS.some((field) => field === name))
  const types = ['timestamptz', 'numeric', 'numeric', 'numeric', 'boolean'] as const
  const encoded = FIELDS.map((name, index) => encodeValue(types[index] ?? 'text', item[name]))
  const isFaithful = encoded.every(({ reason }) => reason === undefined)
  if (!isKnown || !isFaithful || encoded[0]?.value === null) return undefined
  return [vesselId, ...encoded.map(({ value }) => value)]
}

/**
 * A vessel with its positions. Positions that cannot be rows stay with the vessel in `_unmapped`.
 */
export function flattenVessel(record: Readonly<Record<string, unknown>>, seen: SeenIn): Sighting {
  const attributes = record.attributes
  if (!isObject(attributes) || !('positions' in attributes)) {
    return flattenRecord(vessels, record, seen)
  }
  const { positions, ...rest } = attributes
  const { rows, refused } = flattenVesselPositions(String(record.id), positions)
  const kept = refused.length === 0 ? rest : { ...rest, positions: refused }
  return { ...flattenRecord(vessels, { ...record, attributes: kept }, seen), positions: rows }
}
