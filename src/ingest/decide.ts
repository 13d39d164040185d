import type { ResourceIdentifier } from '../source/jsonapi/document.js'
import { containers, resources, transportEvents } from '../source/records/index.js'
import {
  isReferenceType,
  valueIn,
  type Resource,
  type Sighting,
} from '../source/records/resource.js'
import { compareKeys } from '../warehouse/connection/typed-database.js'
import { isConfirming, type Mode } from '../warehouse/rows/incoming-rows.js'
import type { StoredRow } from '../warehouse/rows/stored-rows.js'
import type { TransportEventList } from '../warehouse/rows/transport-event-lists.js'
import type { RowBatch } from '../warehouse/rows/write-rows.js'
import { shownKeys, type Intake } from './intake.js'
import { mergeSightings } from './merge-sightings.js'

/** The state of the warehouse about the sightings of some intakes. */
export interface Known {
  /** By stream and key; for notifications also the containers of transport events. */
  readonly rows: ReadonlyMap<string, ReadonlyMap<string, StoredRow>>
  /** For notifications: see `loadConfirmedPasses`. */
  readonly passes: ReadonlyMap<string, Date>
}

export interface Decision {
  /**
   * Written one after the other, at most one sighting of a row in each: of several notifications
   * about a row each leaves its version. Answers make one round.
   */
  readonly rounds: readonly Pick<RowBatch, 'sightings' | 'eventLists'>[]
  /**
   * The written sightings without a row, which need no comparison. Empty beside the runs, where
   * others may write the same row and every writer takes rows strictly by key.
   */
  readonly withoutRow: ReadonlySet<Sighting>
  /** Equal to their row: not written. */
  readonly equal: readonly Sighting[]
  /** Older than the warehouse: not written, and refetched if they differ from it. */
  readonly doubtful: readonly Sighting[]
  /** Told of by a notification and without a live row: must be confirmed by a read. */
  readonly unconfirmed: readonly ResourceIdentifier[]
  readonly missing: readonly ResourceIdentifier[]
  readonly fetchEvents: ReadonlySet<string>
}

/**
 * Decides about the sightings of one answer, or of several notifications in the order the source
 * made them. Pure.
 *
 *   an answer (sync, backfill, refetch)
 *     equal to its row, in a sync          → nothing to do
 *     older than its row                   → in doubt
 *     else                                 → written; without hashes PostgreSQL compares by value
 *
 *   a notification (webhook)
 *     no live row                          → confirmed by a read; an event of a live container
 *                                            may be new
 *     not newer than its row, older than
 *     the last complete pass, or stamped
 *     so that it says nothing about order  → in doubt
 *     else                                 → written
 *
 *   a container that is written, with its list of transport events
 *     the stored list                      → nothing to do
 *     all of it known                      → stored events that are not on it were withdrawn
 *     else                                 → its events are fetched
 */
export function decide(intakes: readonly Intake[], known: Known, mode: Mode): Decision {
  const decider = new Decider(known, mode)
  for (const intake of intakes) decider.notePresent(intake)
  // Events first: a container's list is compared with the events that are there.
  for (const resource of [transportEvents, ...resources.filter((one) => one !== transportEvents)]) {
    for (const [key, seen] of byKey(intakes, resource)) decider.decideRow(resource, key, seen)
  }
  return decider.finish()
}

/** A sighting and the answer or notification that it came in. */
type Seen = readonly [sighting: Sighting, intake: Intake]

type Verdict = 'write' | 'equal' | 'doubt' | 'confirm' | 'fetchEvents' | 'pass over'

class Decider {
  readonly #known: Known
  readonly #mode: Mode
  readonly #rounds: { sightings: Sighting[]; eventLists: TransportEventList[] }[] = []
  readonly #withoutRow = new Set<Sighting>()
  readonly #equal: Sighting[] = []
  readonly #doubtful: Sighting[] = []
  readonly #unconfirmed = new Map<string, ResourceIdentifier>()
  readonly #missing = new Map<string, ResourceIdentifier>()
  readonly #fetchEvents = new Set<string>()
  /** Keys of transport events that have a live row now or will have one. */
  readonly #presentEvents = new Set<string>()
  readonly #eventsOf = new Map<Intake, Map<string, string[]>>()

  constructor(known: Known, mode: Mode) {
    this.#known = known
    this.#mode = mode
  }

  /**
   * Notes the events of an answer: they exist. An event of a notification might not become a row.
   */
  notePresent(intake: Intake): void {
    if (this.#mode === 'webhook') return
    for (const key of shownKeys(intake, transportEvents.stream)) this.#presentEvents.add(key)
  }

  decideRow(resource: Resource, key: string, seen: readonly Seen[]): void {
    const row = this.#row(resource, key)
    const toWrite = seen.filter((one) => this.#weigh(one, row) === 'write')
    const versions = toWrite.length > 1 ? this.#withoutRepeats(resource, toWrite) : toWrite
    let before = row?.isDeleted === false ? (row.transportEventIds ?? []) : undefined
    for (const [at, [sighting, intake]] of versions.entries()) {
      const round = (this.#rounds[at] ??= { sightings: [], eventLists: [] })
      round.sightings.push(sighting)
      if (row === undefined && !isConfirming(this.#mode)) this.#withoutRow.add(sighting)
      if (resource !== containers) continue
      const listed = intake.transportEventIds.get(key)
      const list = this.#decideList(sighting, listed, before, intake)
      if (list !== undefined) round.eventLists.push(list)
      before = listed ?? before
    }
  }

  finish(): Decision {
    // Transport events were decided first, and are written after their containers.
    for (const round of this.#rounds) {
      const at = round.sightings.findIndex(({ resource }) => resource !== transportEvents)
      if (at > 0) round.sightings = [...round.sightings.slice(at), ...round.sightings.slice(0, at)]
    }
    return {
      rounds: this.#rounds,
      withoutRow: this.#withoutRow,
      equal: this.#equal,
      doubtful: this.#doubtful,
      unconfirmed: [...this.#unconfirmed.values()],
      missing: [...this.#missing.values()],
      fetchEvents: this.#fetchEvents,
    }
  }

  #row(resource: Resource, key: string): StoredRow | undefined {
    return this.#known.rows.get(resource.stream)?.get(key)
  }

  /** Records the verdict unless it is to write. */
  #weigh(seen: Seen, row: StoredRow | undefined): Verdict {
    const [sighting] = seen
    const { resource, key } = sighting
    const verdict = this.#decide(seen, row)
    if (verdict === 'equal') this.#equal.push(sighting)
    else if (verdict === 'doubt') this.#doubtful.push(sighting)
    else if (verdict === 'fetchEvents') this.#fetchEvents.add(containerOf(sighting))
    else if (verdict === 'confirm') {
      const { type } = resource === transportEvents ? containers : resource
      const id = resource === transportEvents ? containerOf(sighting) : key
      const isReference = row === undefined && isReferenceType(type)
      const target = isReference ? this.#missing : this.#unconfirmed
      target.set(`${type} ${id}`, { type, id })
    }
    return verdict
  }

  #decide(seen: Seen, row: StoredRow | undefined): Verdict {
    const [sighting] = seen
    if (this.#mode !== 'webhook') return decideAnswer(sighting, row, this.#mode)
    if (sighting.resource === transportEvents) return this.#decideEvent(seen, row)
    if (sighting.resource.path === undefined) {
      // They come in notifications only, and no read could confirm them.
      return row === undefined || row.observedAt <= sighting.observedAt ? 'write' : 'pass over'
    }
    if (row === undefined || row.isDeleted) return 'confirm'
    return this.#isNewer(seen, row.observedAt) ? 'write' : 'doubt'
  }

  #decideEvent(seen: Seen, row: StoredRow | undefined): Verdict {
    const [sighting] = seen
    const container = this.#row(containers, containerOf(sighting))
    if (container === undefined || container.isDeleted) return 'confirm'
    if (row?.isDeleted === false) {
      this.#presentEvents.add(sighting.key)
      return this.#isNewer(seen, row.observedAt) ? 'write' : 'doubt'
    }
    // An event older than its container may have been withdrawn since, and a withdrawn event does
    // not come back from a payload.
    const isOvertaken = sighting.observedAt < container.observedAt
    if (row !== undefined || isOvertaken || !this.#isNewer(seen, undefined)) return 'fetchEvents'
    this.#presentEvents.add(sighting.key)
    return 'write'
  }

  #isNewer([{ resource, observedAt }, intake]: Seen, rowObservedAt: Date | undefined): boolean {
    const passBegan = this.#known.passes.get(resource.stream)
    const isAfter = (instant: Date | undefined): boolean =>
      instant === undefined || observedAt > instant
    return !intake.isDoubtful && isAfter(rowObservedAt) && isAfter(passBegan)
  }

  /**
   * The list of transport events that a container came with, where it proves which were withdrawn.
   * `before`: as stored, undefined without a live row.
   */
  #decideList(
    { key, observedAt, isComplete }: Sighting,
    listed: readonly string[] | undefined,
    before: readonly string[] | undefined,
    intake: Intake,
  ): TransportEventList | undefined {
    const isNotification = this.#mode === 'webhook'
    if (isNotification ? listed === undefined : !isComplete) return undefined
    const compared = compareEventLists(listed, before, (id) =>
      this.#presentEvents.has(`${key} ${id}`),
    )
    if (compared === 'fetch') this.#fetchEvents.add(key)
    if (compared !== 'known' || listed === undefined) return undefined
    // A list has past events; an expected one that came with its container need not be on it.
    const others = isNotification ? this.#eventsWith(intake, key) : []
    return { containerId: key, transportEventIds: [...listed, ...others], observedAt }
  }

  #eventsWith(intake: Intake, containerId: string): readonly string[] {
    let events = this.#eventsOf.get(intake)
    if (events === undefined) {
      events = new Map<string, string[]>()
      for (const sighting of intake.sightings.get(transportEvents.stream) ?? []) {
        const id = sighting.key.slice(sighting.key.indexOf(' ') + 1)
        const owner = containerOf(sighting)
        events.set(owner, [...(events.get(owner) ?? []), id])
      }
      this.#eventsOf.set(intake, events)
    }
    return events.get(containerId) ?? []
  }

  /**
   * Leaves out sightings that a later one of the same row makes superfluous: between the first and
   * the last of equal ones in a row, and, where no versions are kept, all that the next one
   * replaces. Of two different ones with one stamp the order is unknown: the second is in doubt.
   */
  #withoutRepeats(resource: Resource, seen: readonly Seen[]): Seen[] {
    const versions: Seen[] = []
    for (const next of seen) {
      const [sighting] = next
      const last = versions.at(-1)?.[0]
      const isEqual = last?.fingerprint === sighting.fingerprint
      if (last?.observedAt.getTime() === sighting.observedAt.getTime()) {
        if (!isEqual) this.#doubtful.push(sighting)
        continue
      }
      const isReplaced =
        last !== undefined &&
        (resource.historyTable === undefined
          ? isCovered(last, sighting)
          : isEqual && versions.at(-2)?.[0].fingerprint === sighting.fingerprint)
      if (isReplaced) versions.pop()
      versions.push(next)
    }
    return versions
  }
}

function decideAnswer(sighting: Sighting, row: StoredRow | undefined, mode: Mode): Verdict {
  if (row === undefined) return 'write'
  const { fingerprint, positions, observedAt } = sighting
  const isEqual = !row.isDeleted && row.fingerprint === fingerprint && positions === undefined
  // A sighting that equals its row confirms it, however old the sighting is.
  if (mode === 'sync' && isEqual) return 'equal'
  // Positions are rows of their own, each of its instant: the stamp of the vessel is not theirs.
  return row.observedAt > observedAt && positions === undefined ? 'doubt' : 'write'
}

/** Both are sorted. */
function compareEventLists(
  listed: readonly string[] | undefined,
  before: readonly string[] | undefined,
  isPresent: (id: string) => boolean,
): 'same' | 'known' | 'fetch' {
  if (listed === undefined) return 'fetch'
  const isSame = before?.length === listed.length && before.every((id, at) => id === listed[at])
  if (isSame) return 'same'
  const known = new Set(before)
  return listed.every((id) => known.has(id) || isPresent(id)) ? 'known' : 'fetch'
}

/** Whether the other sighting sends every column of the one as well. */
function isCovered(one: Sighting, other: Sighting): boolean {
  return one.values.every((value, at) => value === undefined || other.values[at] !== undefined)
}

export function containerOf(sighting: Sighting): string {
  return valueIn(sighting, 'container_id') ?? ''
}

/** In key order; the latest of each row last, and several in one document merged. */
function byKey(intakes: readonly Intake[], resource: Resource): [string, Seen[]][] {
  const rows = new Map<string, Seen[]>()
  for (const intake of intakes) {
    for (const sighting of intake.sightings.get(resource.stream) ?? []) {
      const seen = rows.get(sighting.key)
      const last = seen?.at(-1)
      if (seen === undefined || last === undefined) rows.set(sighting.key, [[sighting, intake]])
      else if (last[1] !== intake) seen.push([sighting, intake])
      else seen.splice(-1, 1, [mergeInOrder(last[0], sighting), intake])
    }
  }
  return [...rows].sort(([one], [two]) => compareKeys(one, two))
}

/** The later observation counts first; of equal ones a complete one, then the last. */
function mergeInOrder(one: Sighting, next: Sighting): Sighting {
  return winsOver(next, one) ? mergeSightings(one, next) : mergeSightings(next, one)
}

function winsOver(sighting: Sighting, other: Sighting): boolean {
  const [time, otherTime] = [sighting.observedAt.getTime(), other.observedAt.getTime()]
  return time === otherTime ? sighting.isComplete || !other.isComplete : time > otherTime
}
