import { containers, resources, transportEvents } from '../../resources/index.js'
import { REFERENCE_TYPES, type Resource } from '../../resources/resource.js'
import type { ResourceIdentifier } from '../../jsonapi/document.js'
import type { Intake } from '../../ingest/intake.js'
import { compareKeys, withoutDuplicates, type Sighting } from '../../warehouse/rows/sighting.js'
import type { StoredRow } from '../../warehouse/rows/stored-rows.js'
import type { TransportEventList } from '../../warehouse/rows/transport-event-lists.js'

/** What the warehouse knows before a batch of notifications is applied. */
export interface KnownRows {
  /** By stream and key; also of the containers of transport events. */
  readonly rows: ReadonlyMap<string, ReadonlyMap<string, StoredRow>>
  /** See `loadConfirmedPasses`. */
  readonly passes: ReadonlyMap<string, Date>
}

/** What is written at once: at most one sighting of a row. */
export interface Round {
  readonly sightings: readonly Sighting[]
  readonly eventLists: readonly TransportEventList[]
}

export interface SightingPlan {
  /** Written one after the other, so that each of several changes of a row leaves its version. */
  readonly rounds: readonly Round[]
  /**
   * No newer than what the warehouse has: not applied. They are read again if they say something
   * else.
   */
  readonly doubtful: readonly Sighting[]
  /** Records without a live row: they must be confirmed by reading them. */
  readonly unconfirmed: readonly ResourceIdentifier[]
  /** Reference resources without a row. */
  readonly missing: readonly ResourceIdentifier[]
  /** Containers whose transport events must be fetched. */
  readonly eventLists: readonly string[]
}

const REFERENCES: ReadonlySet<string> = new Set(REFERENCE_TYPES)

/**
 * Decides what of some notifications, in the order the source made them, may be applied from their
 * payload. Pure.
 *
 *   no live row                        → confirm by reading it; a transport event of a live container may be new
 *   at or before the row's stamp,
 *   before the last complete pass, or
 *   with a stamp that tells no order   → in doubt
 *   else                               → applied
 */
export function planSightings(intakes: readonly Intake[], known: KnownRows): SightingPlan {
  const planner = new Planner(intakes, known)
  for (const resource of resources) {
    // After their containers they could not be told from events that the containers' lists know.
    if (resource === containers) planner.plan(transportEvents)
    if (resource !== transportEvents) planner.plan(resource)
  }
  return planner.finish()
}

class Planner {
  readonly #intakes: readonly Intake[]
  readonly #known: KnownRows
  readonly #rounds: { sightings: Sighting[]; eventLists: TransportEventList[] }[] = []
  readonly #doubtful: Sighting[] = []
  readonly #unconfirmed = new Map<string, ResourceIdentifier>()
  readonly #missing = new Map<string, ResourceIdentifier>()
  readonly #eventLists = new Set<string>()
  /** Keys of transport events that have a live row now or will have one. */
  readonly #presentEvents = new Set<string>()

  constructor(intakes: readonly Intake[], known: KnownRows) {
    this.#intakes = intakes
    this.#known = known
  }

  plan(resource: Resource): void {
    for (const [key, shown] of this.#sightingsByKey(resource)) {
      const row = this.#row(resource, key)
      const applicable = shown.filter((one) => this.#isApplied(one, row))
      const kept = withoutRepeats(resource, applicable, this.#doubtful)
      // What the row lists, before each of the sightings.
      let listed = row?.transportEventIds ?? []
      for (const [at, { sighting, intake }] of kept.entries()) {
        const round = (this.#rounds[at] ??= { sightings: [], eventLists: [] })
        round.sightings.push(sighting)
        const own = resource === containers ? intake.transportEventIds.get(key) : undefined
        if (own === undefined) continue
        const list = this.#judgeList(sighting, own, listed, intake)
        if (list !== undefined) round.eventLists.push(list)
        listed = own
      }
    }
  }

  finish(): SightingPlan {
    return {
      rounds: this.#rounds,
      doubtful: this.#doubtful,
      unconfirmed: [...this.#unconfirmed.values()],
      missing: [...this.#missing.values()],
      eventLists: [...this.#eventLists],
    }
  }

  /** The latest last; of several in one document only the best. */
  #sightingsByKey(resource: Resource): Map<string, Shown[]> {
    const byKey = new Map<string, Shown[]>()
    for (const intake of this.#intakes) {
      const { unique } = withoutDuplicates(intake.sightings.get(resource.stream) ?? [])
      for (const sighting of unique) {
        const list = byKey.get(sighting.record.key)
        if (list === undefined) byKey.set(sighting.record.key, [{ sighting, intake }])
        else list.push({ sighting, intake })
      }
    }
    return byKey
  }

  #row(resource: Resource, key: string): StoredRow | undefined {
    return this.#known.rows.get(resource.stream)?.get(key)
  }

  /** Also notes what must happen instead. */
  #isApplied(shown: Shown, row: StoredRow | undefined): boolean {
    const { sighting } = shown
    const { record, observedAt } = sighting
    const { resource, key } = record
    if (resource === transportEvents) return this.#isEventApplied(shown, row)
    if (resource.path === undefined) {
      // Nobody could confirm these, and nothing but a notification tells of them.
      return row === undefined || row.observedAt <= observedAt
    }
    if (row === undefined || row.isDeleted) {
      const target =
        row === undefined && REFERENCES.has(resource.type) ? this.#missing : this.#unconfirmed
      target.set(`${resource.type} ${key}`, { type: resource.type, id: key })
      return false
    }
    if (this.#isNews(shown, row.observedAt)) return true
    this.#doubtful.push(sighting)
    return false
  }

  #isEventApplied(shown: Shown, row: StoredRow | undefined): boolean {
    const { sighting } = shown
    const containerId = containerOf(sighting)
    const container = this.#row(containers, containerId)
    if (container === undefined || container.isDeleted) {
      this.#unconfirmed.set(`container ${containerId}`, { type: 'container', id: containerId })
      return false
    }
    if (row?.isDeleted === false) {
      this.#presentEvents.add(sighting.record.key)
      if (this.#isNews(shown, row.observedAt)) return true
      this.#doubtful.push(sighting)
      return false
    }
    // What the container's own news overtook may have been withdrawn since; and a withdrawn event
    // does not come back from a payload.
    const isOvertaken = sighting.observedAt < container.observedAt
    if (row === undefined && !isOvertaken && this.#isNews(shown, undefined)) {
      this.#presentEvents.add(sighting.record.key)
      return true
    }
    this.#eventLists.add(containerId)
    return false
  }

  #isNews({ sighting, intake }: Shown, rowObservedAt: Date | undefined): boolean {
    if (intake.isDoubtful === true) return false
    const { record, observedAt } = sighting
    const passBegan = this.#known.passes.get(record.resource.stream)
    const isAfter = (instant: Date | undefined): boolean =>
      instant === undefined || observedAt > instant
    return isAfter(rowObservedAt) && isAfter(passBegan)
  }

  /**
   * The list of transport events that comes with a container, where every event in it is known or
   * came with these notifications: then stored events that are not in it were withdrawn. Where one
   * is not known, the events are to be fetched.
   */
  #judgeList(
    { record, observedAt }: Sighting,
    listed: readonly string[],
    before: readonly string[],
    intake: Intake,
  ): TransportEventList | undefined {
    const containerId = record.key
    const isKnown = (id: string): boolean => before.includes(id)
    if (before.length === listed.length && listed.every(isKnown)) return undefined
    const isPresent = (id: string): boolean => this.#presentEvents.has(`${containerId} ${id}`)
    if (!listed.every((id) => isKnown(id) || isPresent(id))) {
      this.#eventLists.add(containerId)
      return undefined
    }
    const transportEventIds = [...listed, ...eventsWith(intake, containerId)]
    return { containerId, transportEventIds, observedAt }
  }
}

/** Id of the container that a transport event belongs to. */
export function containerOf({ record }: Sighting): string {
  return record.values[transportEvents.columnIndex.get('container_id') ?? -1] ?? ''
}

/**
 * Ids of the transport events that came with a container: an expected one need not be in the list,
 * which has past ones.
 */
function eventsWith(intake: Intake, containerId: string): string[] {
  return (intake.sightings.get(transportEvents.stream) ?? [])
    .filter((sighting) => containerOf(sighting) === containerId)
    .map(({ record }) => record.key.slice(containerId.length + 1))
}

interface Shown {
  readonly sighting: Sighting
  readonly intake: Intake
}

/**
 * Leaves out what a later sighting of the same row makes superfluous: between the first and the
 * last of equal ones in a row, and, where no versions are kept, all that the next one replaces. Of
 * two different ones with one stamp nobody can tell which is later: the second is in doubt.
 */
function withoutRepeats(
  resource: Resource,
  shown: readonly Shown[],
  doubtful: Sighting[],
): Shown[] {
  const kept: Shown[] = []
  for (const next of shown) {
    const last = kept.at(-1)
    const isSameStamp = last?.sighting.observedAt.getTime() === next.sighting.observedAt.getTime()
    const isEqual = last?.sighting.record.fingerprint === next.sighting.record.fingerprint
    if (isSameStamp && !isEqual) doubtful.push(next.sighting)
    if (isSameStamp) continue
    const isReplaced =
      last !== undefined &&
      (resource.historyTable === undefined
        ? isCovered(last.sighting, next.sighting)
        : isEqual && kept.at(-2)?.sighting.record.fingerprint === next.sighting.record.fingerprint)
    if (isReplaced) kept.pop()
    kept.push(next)
  }
  return kept
}

/** Whether every column of the one is sent by the other as well. */
function isCovered(one: Sighting, other: Sighting): boolean {
  return one.record.values.every(
    (value, at) => value === undefined || other.record.values[at] !== undefined,
  )
}

/** Sorted for statements. */
export function byKey(one: Sighting, two: Sighting): number {
  return compareKeys(one.record.key, two.record.key)
}
