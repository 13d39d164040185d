import type { ResourceObject } from '../../../source/jsonapi/document.js'
import { createAtlas, type Atlas } from './atlas.js'
import { createCensus } from './census.js'
import { customFieldSlot, definitionRecords } from '../records/custom-field-record.js'
import { idListAt, LISTED_TYPES, type ListedType } from '../interface/id-lists.js'
import { createCustomFieldList, type CustomFieldFilter } from './custom-field-list.js'
import { createIds, type Ids } from './ids.js'
import { viewCount, viewSlice } from '../interface/list-view.js'
import type { PagedList } from '../interface/read-list-page.js'
import { NO_EDITS, type Overlay } from './overlay.js'
import { createPlanBook, type PlannedContainer } from './plan-book.js'
import { rawEventRecords } from '../records/raw-events.js'
import {
  findContainer,
  standingEvents,
  writeContainer,
  writeCustomField,
  writeEvent,
  writeRecord,
  writeReference,
  type WorldSources,
} from '../records/record-writer.js'

export type { ListedType } from '../interface/id-lists.js'

/** Every type the world has records of. */
export type RecordType = ListedType | 'transport_event' | 'custom_field' | 'custom_field_definition'

export interface WorldOptions {
  readonly seed: number
  /** The number at `startAt`; each later day adds a hundred-and-twentieth of it. */
  readonly shipments: number
  readonly startAt: Date
  /** Attributes that published payloads have beyond the interface. Default true. */
  readonly extras?: boolean
}

/**
 * The service's data as a pure function of the options, the edits and an instant. Nothing is
 * stored: an id names its serial, and everything about a serial is drawn each time (a bounded
 * memory of the last ones apart).
 */
export interface World {
  readonly ids: Ids
  readonly atlas: Atlas
  /** The sources of the records, for code that looks at plans rather than at records. */
  readonly sources: WorldSources
  /**
   * The number of records of each listed type. Transport events are not counted: that would cost a
   * walk.
   */
  counts(at: Date): Record<ListedType, number>
  count(type: ListedType, at: Date): number
  /** Undefined when no record of that type has the id, or does not exist yet at the instant. */
  record(type: string, id: string, at: Date): ResourceObject | undefined
  /** All of a type, in list order; one at a time, so that a large world never is in memory. */
  records(type: RecordType, at: Date): Iterable<ResourceObject>
  page(type: ListedType, offset: number, limit: number, at: Date): ResourceObject[]
  containersOf(shipmentId: string, at: Date): ResourceObject[]
  /** Newest `created_at` first. */
  transportEventsOf(containerId: string, at: Date): ResourceObject[]
  rawEventsOf(containerId: string, at: Date): ResourceObject[]
  /** The values of entities of every kind, or the filtered part of them. */
  customFields(at: Date, filter?: CustomFieldFilter): PagedList
  customFieldDefinitions(): ResourceObject[]
  /** Undefined when the entity, the definition or the value does not exist. */
  customField(entityId: string, apiSlug: string, at: Date): ResourceObject | undefined
  /** With the history of positions, which no list has. */
  vesselWithPositions(id: string, at: Date): ResourceObject | undefined
}

export function createWorld(options: WorldOptions, overlay: Overlay = NO_EDITS): World {
  const sources = createSources(options, overlay)
  const { ids, atlas } = sources

  const containerOf = (id: string, at: Date): PlannedContainer | undefined => {
    const parts = ids.decode(id)
    return parts?.kind === 'container' ? findContainer(sources, parts, at.getTime()) : undefined
  }
  const record = (type: string, id: string, at: Date): ResourceObject | undefined => {
    const parts = ids.decode(id)
    return parts?.kind === type ? writeRecord(sources, parts, at.getTime()) : undefined
  }
  const page: World['page'] = (type, offset, limit, at) => {
    const { plain, differences } = idListAt(sources, type, at.getTime())
    return viewSlice(plain, differences, offset, limit).flatMap((id) => record(type, id, at) ?? [])
  }
  const count: World['count'] = (type, at) => {
    const { plain, differences } = idListAt(sources, type, at.getTime())
    return viewCount(plain, differences)
  }
  const transportEventsOf: World['transportEventsOf'] = (containerId, at) => {
    const planned = containerOf(containerId, at)
    if (planned === undefined) return []
    const events = standingEvents(sources, planned, at.getTime())
    return events.map((event) => writeEvent(sources, planned, event))
  }
  const customFields = createCustomFieldList(sources)
  const definitions = (): ResourceObject[] =>
    definitionRecords(ids)
      .filter(({ type, id }) => !overlay.isGone(type, id))
      .map((definition) => overlay.revise(definition))
  return {
    ids,
    atlas,
    sources,
    counts: (at) => {
      const counted = LISTED_TYPES.map((type) => [type, count(type, at)] as const)
      return Object.fromEntries(counted) as Record<ListedType, number>
    },
    count,
    record,
    records: (type, at) => {
      if (type === 'custom_field_definition') return definitions()
      if (type !== 'custom_field') return walk({ page, transportEventsOf }, type, at)
      const { slice, total } = customFields(at)
      return slice(0, total)
    },
    page,
    containersOf: (shipmentId, at) => {
      const parts = ids.decode(shipmentId)
      if (parts?.kind !== 'shipment') return []
      const shipment = sources.book.shipment(parts.serial, at.getTime())
      return (shipment?.containers ?? []).flatMap(({ serial, ordinal }) => {
        const planned = findContainer(sources, { serial, ordinal }, at.getTime())
        return planned === undefined ? [] : [writeContainer(sources, planned, at.getTime())]
      })
    },
    transportEventsOf,
    rawEventsOf: (containerId, at) => {
      const planned = containerOf(containerId, at)
      if (planned === undefined) return []
      const until = Math.min(at.getTime(), planned.shipment.ending.frozenAt)
      return rawEventRecords(ids, planned.plan, until)
    },
    customFields,
    customFieldDefinitions: definitions,
    customField: (entityId, apiSlug, at) => {
      const parts = ids.decode(entityId)
      if (parts === undefined) return undefined
      const slot = customFieldSlot(parts.kind, apiSlug)
      return writeCustomField(sources, { ...parts, slot }, at.getTime())
    },
    vesselWithPositions: (id, at) => {
      const parts = ids.decode(id)
      return parts?.kind === 'vessel'
        ? writeReference(sources, parts, at.getTime(), true)
        : undefined
    },
  }
}

function createSources(options: WorldOptions, overlay: Overlay): WorldSources {
  const { seed, shipments, startAt, extras: hasExtras = true } = options
  const ids = createIds(seed)
  const atlas = createAtlas(seed, ids)
  const census = createCensus(seed, shipments, startAt.getTime())
  const book = createPlanBook({ seed, ids, atlas, census, overlay })
  return { seed, startAt: startAt.getTime(), hasExtras, ids, atlas, census, book, overlay }
}

const WALK_PAGE = 200

function* walk(
  world: Pick<World, 'page' | 'transportEventsOf'>,
  type: ListedType | 'transport_event',
  at: Date,
): Generator<ResourceObject> {
  const listed = type === 'transport_event' ? 'container' : type
  for (let offset = 0; ; offset += WALK_PAGE) {
    const records = world.page(listed, offset, WALK_PAGE, at)
    for (const record of records) {
      if (type === 'transport_event') yield* world.transportEventsOf(record.id, at)
      else yield record
    }
    if (records.length < WALK_PAGE) return
  }
}
