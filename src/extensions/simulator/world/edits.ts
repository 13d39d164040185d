import type { ResourceObject } from '../../../source/jsonapi/document.js'
import { INSERTED_SERIALS } from './census.js'
import type { Hold } from '../plans/container-status.js'
import type { Ids } from './ids.js'
import { toSecond } from './local-time.js'
import type { InsertedShipment, Overlay } from './overlay.js'

/**
 * Changes by hand on top of a world. They hold at every instant until taken back; every list, read
 * and relationship reflects them at once. Memory and time grow with the number of edits, not with
 * the world.
 */
export interface Edits extends Overlay {
  /** Attributes in the patch replace those of the record; later patches add to earlier ones. */
  change(type: string, id: string, attributes: Readonly<Record<string, unknown>>): void
  /** A shipment takes its containers and their events with it. */
  delete(type: string, id: string): void
  /** Takes a deletion back. */
  revive(type: string, id: string): void
  withdrawEvent(containerId: string, eventId: string): void
  addHold(containerId: string, hold: Hold): void
  /** Clears every hold of that name, drawn and added ones. */
  clearHold(containerId: string, name: string): void
  /**
   * New at the front of the lists, created now on the virtual clock. Returns their ids, newest
   * first.
   */
  insertShipments(count: number): string[]
  /** Sets a value of a container, shipment or tracking request; undefined takes it away. */
  setCustomField(entityId: string, apiSlug: string, value: unknown): void
  /** Custom fields of this entity may no longer be written (403), or may again. */
  denyCustomFields(entityId: string, isDenied?: boolean): void
  isCustomFieldDenied(entityId: string): boolean
  /** There is one watcher at a time. */
  watch(watcher: EditWatcher): void
}

/** The subject of an edit. A withdrawn or deleted record is named by the type and id it had. */
export type EditTarget =
  | {
      readonly kind: 'change' | 'delete' | 'revive'
      readonly type: string
      readonly id: string
    }
  | { readonly kind: 'insert'; readonly shipmentIds: readonly string[] }

/** Told of every edit of records, just before and just after it; custom fields apart. */
export interface EditWatcher {
  before(target: EditTarget): void
  after(target: EditTarget): void
}

interface HoldEdits {
  readonly added: Hold[]
  readonly cleared: Set<string>
}

export function createEdits(ids: Ids, now: () => Date): Edits {
  const gone = new Map<string, Set<string>>()
  const patches = new Map<string, Record<string, unknown>>()
  const withdrawn = new Map<string, Set<string>>()
  const holds = new Map<string, HoldEdits>()
  const customValues = new Map<string, Map<string, unknown>>()
  const denied = new Set<string>()
  let inserted: InsertedShipment[] = []
  let version = 0

  const holdsOf = (containerId: string): HoldEdits =>
    entry(holds, containerId, () => ({ added: [], cleared: new Set() }))
  let watcher: EditWatcher | undefined
  const edit = (target: EditTarget, apply: () => void): void => {
    watcher?.before(target)
    apply()
    version += 1
    watcher?.after(target)
  }
  return {
    get version() {
      return version
    },
    get inserted() {
      return inserted
    },
    isGone: (type, id) => gone.get(type)?.has(id) ?? false,
    goneIds: (type) => gone.get(type) ?? [],
    isWithdrawn: (containerId, eventId) => withdrawn.get(containerId)?.has(eventId) ?? false,
    customValue: (entityId, apiSlug) => {
      const values = customValues.get(entityId)
      return values?.has(apiSlug) === true ? { value: values.get(apiSlug) } : undefined
    },
    *customValues() {
      for (const [entityId, values] of customValues) {
        for (const slug of values.keys()) yield [entityId, slug]
      }
    },
    revise: (record) => {
      if (version === 0) return record
      const patch = patches.get(`${record.type}/${record.id}`)
      const changed = patch ? { ...record, attributes: { ...record.attributes, ...patch } } : record
      const holdEdits = record.type === 'container' ? holds.get(record.id) : undefined
      return holdEdits === undefined ? changed : withHolds(changed, holdEdits)
    },
    watch: (next) => {
      watcher = next
    },
    change: (type, id, attributes) => {
      edit({ kind: 'change', type, id }, () => {
        Object.assign(
          entry(patches, `${type}/${id}`, () => ({})),
          attributes,
        )
      })
    },
    delete: (type, id) => {
      edit({ kind: 'delete', type, id }, () => {
        const parts = type === 'transport_event' ? ids.decode(id) : undefined
        if (parts !== undefined) {
          const containerId = ids.encode('container', parts.serial, parts.ordinal)
          entry(withdrawn, containerId, () => new Set()).add(id)
        }
        entry(gone, type, () => new Set()).add(id)
      })
    },
    revive: (type, id) => {
      edit({ kind: 'revive', type, id }, () => {
        gone.get(type)?.delete(id)
        if (type !== 'transport_event') return
        for (const eventIds of withdrawn.values()) eventIds.delete(id)
      })
    },
    withdrawEvent: (containerId, eventId) => {
      edit({ kind: 'delete', type: 'transport_event', id: eventId }, () => {
        entry(withdrawn, containerId, () => new Set()).add(eventId)
      })
    },
    addHold: (containerId, hold) => {
      edit({ kind: 'change', type: 'container', id: containerId }, () => {
        holdsOf(containerId).added.push(hold)
      })
    },
    clearHold: (containerId, name) => {
      edit({ kind: 'change', type: 'container', id: containerId }, () => {
        const { added, cleared } = holdsOf(containerId)
        cleared.add(name)
        added.splice(0, added.length, ...added.filter((hold) => hold.name !== name))
      })
    },
    insertShipments: (count) => {
      const createdAt = toSecond(now().getTime() - 999)
      const fresh = Array.from({ length: count }, (_, number) => ({
        serial: INSERTED_SERIALS + inserted.length + count - 1 - number,
        createdAt,
      }))
      const shipmentIds = fresh.map(({ serial }) => ids.encode('shipment', serial))
      edit({ kind: 'insert', shipmentIds }, () => {
        inserted = [...fresh, ...inserted]
      })
      return shipmentIds
    },
    setCustomField: (entityId, apiSlug, value) => {
      entry(customValues, entityId, () => new Map()).set(apiSlug, value)
      version += 1
    },
    denyCustomFields: (entityId, isDenied = true) => {
      if (isDenied) denied.add(entityId)
      else denied.delete(entityId)
    },
    isCustomFieldDenied: (entityId) => denied.has(entityId),
  }
}

function entry<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  let value = map.get(key)
  if (value === undefined) {
    value = create()
    map.set(key, value)
  }
  return value
}

function withHolds(record: ResourceObject, { added, cleared }: HoldEdits): ResourceObject {
  const drawn = record.attributes?.holds_at_pod_terminal
  const kept = (Array.isArray(drawn) ? (drawn as Hold[]) : []).filter(
    ({ name }) => !cleared.has(name),
  )
  return {
    ...record,
    attributes: { ...record.attributes, holds_at_pod_terminal: [...kept, ...added] },
  }
}
