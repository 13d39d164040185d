import type { Atlas } from '../world/atlas.js'
import { INSERTED_SERIALS, type Census } from '../world/census.js'
import type { Ids } from '../world/ids.js'
import { sortDifferences, type Difference, type PlainList } from './list-view.js'
import type { InsertedShipment, Overlay } from '../world/overlay.js'
import {
  REQUEST_VARIANTS,
  requestAt,
  requestsBefore,
  requestVariantsOf,
} from '../plans/tracking-requests.js'

/** Types that have a list of their own, newest `created_at` first where records have one. */
export const LISTED_TYPES = [
  'shipment',
  'container',
  'tracking_request',
  'port',
  'metro_area',
  'terminal',
  'rail_terminal',
  'vessel',
] as const

export type ListedType = (typeof LISTED_TYPES)[number]

export interface IdList {
  readonly plain: PlainList
  readonly differences: readonly Difference[]
}

interface Sources {
  readonly ids: Ids
  readonly atlas: Atlas
  readonly census: Census
  readonly overlay: Overlay
}

/** One kind of growing list: its length at an instant, and the id at each index, oldest first. */
interface Growth {
  countAt(at: number): number
  idAt(index: number): string
  /** Index of the item itself; undefined when it is not of the plain list. */
  indexOf(id: string): number | undefined
  insertedIds(shipment: InsertedShipment): string[]
}

/**
 * The list of one type at an instant, with the edits as differences to it. Costs the number of
 * edits.
 */
export function idListAt(sources: Sources, type: ListedType, at: number): IdList {
  switch (type) {
    case 'shipment':
      return grownList(sources, type, shipmentGrowth(sources), at)
    case 'container':
      return grownList(sources, type, containerGrowth(sources), at)
    case 'tracking_request':
      return grownList(sources, type, requestGrowth(sources), at)
    case 'port':
      return fixedList(sources, type, sources.atlas.ports)
    case 'metro_area':
      return fixedList(sources, type, sources.atlas.metroAreas)
    case 'terminal':
      return fixedList(sources, type, sources.atlas.terminals)
    case 'rail_terminal':
      return fixedList(sources, type, sources.atlas.railTerminals)
    case 'vessel':
      return fixedList(sources, type, sources.atlas.vessels)
    default:
      return type satisfies never
  }
}

function fixedList(
  { overlay }: Sources,
  type: ListedType,
  items: readonly { readonly id: string }[],
): IdList {
  const left = items.filter(({ id }) => !overlay.isGone(type, id))
  return { plain: { count: left.length, idAt: (index) => left[index]?.id ?? '' }, differences: [] }
}

function grownList(
  { ids, census, overlay }: Sources,
  type: ListedType,
  growth: Growth,
  at: number,
): IdList {
  const count = growth.countAt(at)
  const plain = { count, idAt: (position: number) => growth.idAt(count - 1 - position) }
  const differences: Difference[] = []
  for (const { serial, createdAt } of overlay.inserted) {
    if (createdAt > at) continue
    const position = count - growth.countAt(createdAt)
    for (const id of growth.insertedIds({ serial, createdAt })) {
      if (!isGone(id)) differences.push({ kind: 'inserted', position, id })
    }
  }
  for (const id of goneIds()) {
    const index = growth.indexOf(id)
    if (index !== undefined && index < count) {
      differences.push({ kind: 'gone', position: count - 1 - index })
    }
  }
  return { plain, differences: sortDifferences(differences) }

  function isGone(id: string): boolean {
    if (overlay.isGone(type, id)) return true
    const parts = type === 'container' ? ids.decode(id) : undefined
    return parts !== undefined && overlay.isGone('shipment', ids.encode('shipment', parts.serial))
  }
  /** A container is gone with its shipment as well. */
  function goneIds(): Set<string> {
    const gone = new Set(overlay.goneIds(type))
    if (type !== 'container') return gone
    for (const shipmentId of overlay.goneIds('shipment')) {
      const parts = ids.decode(shipmentId)
      if (parts === undefined) continue
      for (let ordinal = 0; ordinal < census.containerCountOf(parts.serial); ordinal++) {
        gone.add(ids.encode('container', parts.serial, ordinal))
      }
    }
    return gone
  }
}

function shipmentGrowth({ ids, census }: Sources): Growth {
  return {
    countAt: (at) => census.shipmentsAt(at),
    idAt: (index) => ids.encode('shipment', index),
    indexOf: (id) => plainParts(ids, id)?.serial,
    insertedIds: ({ serial }) => [ids.encode('shipment', serial)],
  }
}

function containerGrowth({ ids, census }: Sources): Growth {
  return {
    countAt: (at) => census.containersBefore(census.shipmentsAt(at)),
    idAt: (index) => {
      const { serial, ordinal } = census.containerAt(index)
      return ids.encode('container', serial, ordinal)
    },
    indexOf: (id) => {
      const parts = plainParts(ids, id)
      return parts && census.containersBefore(parts.serial) + parts.ordinal
    },
    insertedIds: ({ serial }) =>
      Array.from({ length: census.containerCountOf(serial) }, (_, ordinal) =>
        ids.encode('container', serial, ordinal),
      ),
  }
}

function requestGrowth({ ids, census }: Sources): Growth {
  return {
    countAt: (at) => requestsBefore(census.requestedAt(at)),
    idAt: (index) => {
      const { serial, variant } = requestAt(index)
      return ids.encode('tracking_request', serial, REQUEST_VARIANTS.indexOf(variant))
    },
    indexOf: (id) => {
      const parts = plainParts(ids, id)
      if (parts === undefined) return undefined
      const variant = REQUEST_VARIANTS[parts.ordinal] ?? 'tracked'
      return requestsBefore(parts.serial) + requestVariantsOf(parts.serial).indexOf(variant)
    },
    insertedIds: ({ serial }) => [ids.encode('tracking_request', serial)],
  }
}

function plainParts(ids: Ids, id: string): { serial: number; ordinal: number } | undefined {
  const parts = ids.decode(id)
  return parts === undefined || parts.serial >= INSERTED_SERIALS ? undefined : parts
}
