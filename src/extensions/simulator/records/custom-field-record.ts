import type { ResourceObject } from '../../../source/jsonapi/document.js'
import { mix } from '../world/dice.js'
import type { IdParts, Ids } from '../world/ids.js'
import { DAY } from '../world/local-time.js'
import { reference } from './reference-records.js'

/** The types with custom fields, by the name that a definition gives them. */
export const ENTITY_TYPES = {
  Container: 'container',
  Shipment: 'shipment',
  TrackingRequest: 'tracking_request',
} as const

export type EntityType = (typeof ENTITY_TYPES)[keyof typeof ENTITY_TYPES]

interface Definition {
  readonly entity: keyof typeof ENTITY_TYPES
  readonly slug: string
  readonly type: string
  /** Drawn from; the values of the options where the type has them. */
  readonly values: readonly unknown[]
  readonly more?: Readonly<Record<string, unknown>>
}

/**
 * The definitions of the account, at least one of each data type. A draw decides which entity has a
 * value at first; every entity of the type may be given one.
 */
export const CUSTOM_FIELDS: readonly Definition[] = [
  {
    entity: 'Container',
    slug: 'priority',
    type: 'enum',
    values: ['high', 'normal', 'low'],
    more: { default_value: 'normal', description: 'Which container goes first.' },
  },
  {
    entity: 'Container',
    slug: 'po_owner',
    type: 'short_text',
    values: ['M. Weber', 'A. Okafor', 'J. Tanaka'],
  },
  {
    entity: 'Container',
    slug: 'delivery_window',
    type: 'short_text',
    values: ['06:00-10:00', '10:00-14:00', '14:00-18:00'],
    more: { validation: { pattern: '^[0-9:]+-[0-9:]+$' } },
  },
  {
    entity: 'Container',
    slug: 'cost_center',
    type: 'short_text',
    values: ['4100', '4200', '7300'],
  },
  {
    entity: 'Container',
    slug: 'insured_value',
    type: 'number',
    values: [12500, 48000.5, 250000],
    more: { validation: { min: 0 }, default_format: '0,0.00' },
  },
  {
    entity: 'Container',
    slug: 'needed_by',
    type: 'date',
    values: ['2026-03-01', '2026-05-15', '2026-09-30'],
  },
  {
    entity: 'Container',
    slug: 'inspected_at',
    type: 'datetime',
    values: ['2026-02-03T14:30:00Z', '2026-04-20T08:05:00-07:00'],
  },
  { entity: 'Container', slug: 'is_bonded', type: 'boolean', values: [true, false] },
  {
    entity: 'Container',
    slug: 'handling',
    type: 'enum_multi',
    values: ['fragile', 'keep_dry', 'top_load'],
  },
  { entity: 'Shipment', slug: 'incoterm', type: 'enum', values: ['FOB', 'CIF', 'EXW'] },
  { entity: 'Shipment', slug: 'po_owner', type: 'short_text', values: ['M. Weber', 'S. Costa'] },
  {
    entity: 'Shipment',
    slug: 'consignee',
    type: 'reference',
    values: ['ACME-01', 'ACME-02'],
    more: { reference_type: 'party' },
  },
  { entity: 'TrackingRequest', slug: 'requested_by', type: 'short_text', values: ['desk', 'edi'] },
]

const HAS_OPTIONS = new Set(['enum', 'enum_multi'])

/** The slot of a definition, or -1 when the account lacks one of that name. */
export function customFieldSlot(entityType: string, slug: string): number {
  return CUSTOM_FIELDS.findIndex(
    (one) => ENTITY_TYPES[one.entity] === entityType && one.slug === slug,
  )
}

/** One of so many has a value at first, and is given another one after so many days. */
const ONE_IN = 12
const STANDS_FOR_DAYS = 40

/**
 * The value that an entity has without any edit; undefined for most. After some weeks it is another
 * one, or null.
 */
export function drawnCustomValue(
  seed: number,
  { serial, ordinal, slot }: Pick<IdParts, 'serial' | 'ordinal' | 'slot'>,
  at: number,
): unknown {
  const draw = mix(seed, 0xcf, serial, ordinal, slot)
  if (draw % ONE_IN !== 0) return undefined
  const period = Math.floor((Math.floor(at / DAY) + (draw >>> 8)) / STANDS_FOR_DAYS)
  const turn = mix(draw, period)
  if (turn % 31 === 0) return null
  const { type, values = [] } = CUSTOM_FIELDS[slot] ?? {}
  const first = (turn >>> 8) % values.length
  return type === 'enum_multi' ? values.slice(first) : values[first]
}

/**
 * The value as the service stores it: a number given as a text, or an option in another case,
 * becomes the number or the option of the definition.
 */
export function storedCustomValue(slot: number, value: unknown): unknown {
  const { type = '', values = [] } = CUSTOM_FIELDS[slot] ?? {}
  if (typeof value !== 'string') return value
  const isNumber = type === 'number' && /^-?\d+(\.\d+)?$/.test(value)
  if (isNumber) return Number(value)
  const option = HAS_OPTIONS.has(type)
    ? values.find((one) => String(one).toLowerCase() === value.toLowerCase())
    : undefined
  return option ?? value
}

/** The value of one entity as a record. */
export function customFieldRecord(
  ids: Ids,
  entityId: string,
  parts: Pick<IdParts, 'serial' | 'ordinal' | 'slot'>,
  value: unknown,
): ResourceObject {
  const { serial, ordinal, slot } = parts
  const { slug = '', entity = 'Container' } = CUSTOM_FIELDS[slot] ?? {}
  return {
    id: ids.encode('custom_field', serial, ordinal, slot),
    type: 'custom_field',
    attributes: { api_slug: slug, value, display_value: shownValue(slot, value) },
    relationships: {
      entity: reference(ENTITY_TYPES[entity], entityId),
      definition: reference('custom_field_definition', ids.encode('custom_field_definition', slot)),
    },
  }
}

/** Null where the interface does not define how a value is shown. */
function shownValue(slot: number, value: unknown): string | null {
  const type = CUSTOM_FIELDS[slot]?.type ?? ''
  if (value === null || type === 'boolean') return null
  if (HAS_OPTIONS.has(type)) return [value].flat().map(labelOf).join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function labelOf(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const isOption = CUSTOM_FIELDS.some(
    (one) => HAS_OPTIONS.has(one.type) && one.values.includes(text),
  )
  return isOption ? `${text.charAt(0).toUpperCase()}${text.slice(1).replaceAll('_', ' ')}` : text
}

/** All definitions, as their list shows them. */
export function definitionRecords(ids: Ids): ResourceObject[] {
  return CUSTOM_FIELDS.map(({ entity, slug, type, more }, slot) => ({
    id: ids.encode('custom_field_definition', slot),
    type: 'custom_field_definition',
    attributes: {
      entity_type: entity,
      api_slug: slug,
      display_name: labelled(slug),
      data_type: type,
      description: null,
      reference_type: null,
      validation: null,
      default_format: null,
      default_value: null,
      sensitive: false,
      ...more,
    },
  }))
}

function labelled(slug: string): string {
  const text = slug.replaceAll('_', ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** The options of a definition, in their order; none where its type has none. */
export function optionRecords(ids: Ids, slot: number): ResourceObject[] {
  const { type = '', values = [] } = CUSTOM_FIELDS[slot] ?? {}
  if (!HAS_OPTIONS.has(type)) return []
  return values.map((value, position) => ({
    id: ids.encode('custom_field_option', slot, 0, position),
    type: 'custom_field_option',
    attributes: { label: labelOf(value), value, position },
  }))
}
