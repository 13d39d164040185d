import type { PagedList } from '../interface/read-list-page.js'
import { REQUEST_VARIANTS, requestVariantsOf } from '../plans/tracking-requests.js'
import {
  CUSTOM_FIELDS,
  customFieldSlot,
  drawnCustomValue,
  ENTITY_TYPES,
  type EntityType,
} from '../records/custom-field-record.js'
import { isFieldGone, writeCustomField, type WorldSources } from '../records/record-writer.js'
import type { IdParts } from './ids.js'
import { DAY } from './local-time.js'

/** The filters of `GET /custom_fields`; undefined members ask for everything. */
export interface CustomFieldFilter {
  readonly entityType?: string | undefined
  readonly entityId?: string | undefined
  readonly definitionId?: string | undefined
}

type Field = Pick<IdParts, 'serial' | 'ordinal' | 'slot'>

/**
 * The list of values, those of the newest shipments first. Hashes alone decide which entity has
 * which value, so a page of a large world costs only its own plans. The last list is remembered.
 */
export function createCustomFieldList(
  world: WorldSources,
): (at: Date, filter?: CustomFieldFilter) => PagedList {
  const { ids } = world
  let remembered: { readonly name: string; readonly fields: readonly Field[] } | undefined

  const all = (at: number): readonly Field[] => {
    const { census, overlay } = world
    const counts = [census.shipmentsAt(at), census.requestedAt(at)]
    const name = [Math.floor(at / DAY), ...counts, overlay.version].join()
    if (remembered?.name !== name) remembered = { name, fields: listFields(world, at) }
    return remembered.fields
  }
  return (at, filter = {}) => {
    const instant = at.getTime()
    const isWanted = ({ serial, ordinal, slot }: Field): boolean => {
      const kind = kindOf(slot)
      return (
        isAsked(filter.entityType, kind) &&
        isAsked(filter.entityId, () => ids.encode(kind, serial, ordinal)) &&
        isAsked(filter.definitionId, () => ids.encode('custom_field_definition', slot))
      )
    }
    const fields = Object.keys(filter).length === 0 ? all(instant) : all(instant).filter(isWanted)
    return {
      total: fields.length,
      slice: (offset, limit) =>
        fields
          .slice(offset, offset + limit)
          .flatMap((field) => writeCustomField(world, field, instant) ?? []),
    }
  }
}

/** The definition's name of an entity type means the same as the record's. */
function isAsked(wanted: string | undefined, value: string | (() => string)): boolean {
  if (wanted === undefined) return true
  const type = Object.entries(ENTITY_TYPES).find(([name]) => name === wanted)?.[1]
  return (type ?? wanted) === (typeof value === 'string' ? value : value())
}

function kindOf(slot: number): EntityType {
  return ENTITY_TYPES[CUSTOM_FIELDS[slot]?.entity ?? 'Container']
}

function listFields(world: WorldSources, at: number): Field[] {
  const { seed, overlay, ids } = world
  const slots = CUSTOM_FIELDS.map((_, slot) => slot)
  const byHand = new Map<string, Field[]>()
  const fields: Field[] = []
  for (const [entityId, slug] of overlay.customValues()) {
    const parts = ids.decode(entityId)
    const slot = customFieldSlot(parts?.kind ?? '', slug)
    if (parts === undefined || slot < 0) continue
    const field = { serial: parts.serial, ordinal: parts.ordinal, slot }
    byHand.set(entityId, [...(byHand.get(entityId) ?? []), field])
    if (writeCustomField(world, field, at) !== undefined) fields.push(field)
  }
  for (const { kind, serial, ordinal } of entities(world, at)) {
    const isEdited = overlay.version > 0
    if (isEdited && isGone(world, { kind, serial, ordinal })) continue
    const edited = isEdited ? (byHand.get(ids.encode(kind, serial, ordinal)) ?? []) : []
    for (const slot of slots) {
      if (kindOf(slot) !== kind || edited.some((field) => field.slot === slot)) continue
      const field = { serial, ordinal, slot }
      if (isEdited && isFieldGone(world, field)) continue
      if (drawnCustomValue(seed, field, at) !== undefined) fields.push(field)
    }
  }
  return fields
}

/** A container is gone with its shipment as well. */
function isGone({ overlay, ids }: WorldSources, { kind, serial, ordinal }: Entity): boolean {
  if (overlay.isGone(kind, ids.encode(kind, serial, ordinal))) return true
  return kind === 'container' && overlay.isGone('shipment', ids.encode('shipment', serial))
}

interface Entity {
  readonly kind: EntityType
  readonly serial: number
  readonly ordinal: number
}

function* entities({ census, overlay }: WorldSources, at: number): Generator<Entity> {
  const inserted = overlay.inserted.filter(({ createdAt }) => createdAt <= at)
  const isThere = Array.from({ length: census.shipmentsAt(at) }, (_, serial) => serial).reverse()
  for (const serial of [...inserted.map((one) => one.serial), ...isThere]) {
    yield { kind: 'shipment', serial, ordinal: 0 }
    for (let ordinal = 0; ordinal < census.containerCountOf(serial); ordinal += 1) {
      yield { kind: 'container', serial, ordinal }
    }
  }
  for (const { serial } of inserted) yield { kind: 'tracking_request', serial, ordinal: 0 }
  for (let serial = census.requestedAt(at) - 1; serial >= 0; serial -= 1) {
    for (const variant of requestVariantsOf(serial)) {
      yield { kind: 'tracking_request', serial, ordinal: REQUEST_VARIANTS.indexOf(variant) }
    }
  }
}
