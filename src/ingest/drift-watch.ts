import { otherResources } from '../source/records/index.js'
import { NAMED_TYPES } from '../source/records/other-resource.js'
import { valueIn, type Resource, type Sighting } from '../source/records/resource.js'
import type { DriftFinding } from '../warehouse/bookkeeping/schema-drift.js'
import type { Intake } from './intake.js'

/** Streams that a complete pass shows whole; elsewhere an attribute may be missing by chance. */
export const WATCHED_STREAMS = ['shipments', 'containers', 'tracking_requests'] as const

/** A source that invents names without end costs neither memory nor rows. */
const NAMES_PER_STREAM = 200
const SHOWN_LENGTH = 200

interface StreamWatch {
  /** Complete sightings of the run; a record that came twice counts twice. */
  sightings: number
  /** Attributes with a column, and for each of them how many sightings lacked it. */
  readonly known: readonly KnownAttribute[]
  readonly absent: number[]
  readonly unmapped: Set<string>
  /** Inside attributes that are kept as sent; one may be absent from a record for long. */
  readonly members: Set<string>
  readonly values: Set<string>
}

interface KnownAttribute {
  readonly name: string
  readonly column: string
  readonly columnIndex: number
}

/**
 * Watches the records of a run for content beyond the interface: attributes without a column,
 * values outside the lists, unknown types; and remembers which attributes were carried at all.
 * Looks only at the results of flattening, so it costs next to nothing.
 */
export class DriftWatch {
  readonly #streams = new Map<string, StreamWatch>()
  readonly #types = new Set<string>()

  notice(intake: Pick<Intake, 'sightings'>): void {
    for (const sightings of intake.sightings.values()) {
      for (const sighting of sightings) {
        if (sighting.resource === otherResources) this.#noticeType(sighting)
        else this.#noticeRecord(sighting)
      }
    }
  }

  findings(): DriftFinding[] {
    const findings = (stream: string, kind: DriftFinding['kind'], names: Iterable<string>) =>
      [...names].map((name): DriftFinding => ({ stream, kind, name }))
    return [
      ...findings(otherResources.stream, 'new_type', this.#types),
      ...[...this.#streams].flatMap(([stream, { unmapped, members, values }]) => [
        ...findings(stream, 'new_attribute', [...unmapped, ...members]),
        ...findings(stream, 'new_value', values),
      ]),
    ]
  }

  sightings(stream: string): number {
    return this.#streams.get(stream)?.sightings ?? 0
  }

  /** By column, the share of the complete sightings of a stream that did not carry it. */
  absent(stream: string): Map<string, number> {
    const watch = this.#streams.get(stream)
    const shares = new Map<string, number>()
    for (const [at, { column }] of (watch?.known ?? []).entries()) {
      const count = watch?.absent[at] ?? 0
      if (watch !== undefined && count > 0) shares.set(column, count / watch.sightings)
    }
    return shares
  }

  /**
   * Attributes and relationships that records of a stream carried, null included, as the source
   * calls them.
   */
  carried(stream: string): ReadonlySet<string> {
    const watch = this.#streams.get(stream)
    if (watch === undefined) return new Set()
    const { known, absent, sightings, unmapped } = watch
    const carried = known.filter((_, at) => (absent[at] ?? 0) < sightings)
    return new Set([...carried.map(({ name }) => name), ...unmapped])
  }

  #noticeType(sighting: Sighting): void {
    const type = valueIn(sighting, 'resource_type') ?? ''
    if (!NAMED_TYPES.has(type)) addBounded(this.#types, type)
  }

  #noticeRecord(sighting: Sighting): void {
    const watch = this.#watchOf(sighting.resource)
    for (const name of sighting.unmappedNames) addBounded(watch.unmapped, name)
    for (const name of sighting.unknownMembers) addBounded(watch.members, name)
    for (const { attribute, value } of sighting.unknownValues) {
      addBounded(watch.values, `${attribute}: ${value}`)
    }
    if (!sighting.isComplete) return
    watch.sightings += 1
    const { absent } = watch
    watch.known.forEach(({ columnIndex }, at) => {
      if (sighting.values[columnIndex] === undefined) absent[at] = (absent[at] ?? 0) + 1
    })
  }

  #watchOf(resource: Resource): StreamWatch {
    let watch = this.#streams.get(resource.stream)
    if (watch === undefined) {
      const known = knownAttributes(resource)
      const [unmapped, members, values] = [new Set<string>(), new Set<string>(), new Set<string>()]
      watch = { sightings: 0, known, absent: known.map(() => 0), unmapped, members, values }
      this.#streams.set(resource.stream, watch)
    }
    return watch
  }
}

function knownAttributes(resource: Resource): KnownAttribute[] {
  const indexOf = (column: string): number => resource.columnIndex.get(column) ?? -1
  const attributes = [...resource.attributes.keys()].map((name) => {
    return { name, column: name, columnIndex: indexOf(name) }
  })
  const relationships = [...resource.relationships].map(([name, spec]) => {
    const column = spec.kind === 'many' ? spec.column : `${name}_id`
    return { name: `relationships.${name}`, column, columnIndex: indexOf(column) }
  })
  return [...attributes, ...relationships]
}

function addBounded(names: Set<string>, name: string): void {
  const shown = name.length > SHOWN_LENGTH ? name.slice(0, SHOWN_LENGTH) : name
  if (names.size < NAMES_PER_STREAM) names.add(shown)
}

/** The attributes that a sighting carries, null or not: its columns, and names without a column. */
export function carriedBy({ resource, values, unmappedNames }: Sighting): string[] {
  const columns = resource.columns.filter((_, at) => values[at] !== undefined)
  return [...columns.map(({ name }) => name), ...unmappedNames]
}

/** Whether sightings of one type carry, between them, every attribute that the interface names. */
export function carryAll(sightings: readonly Sighting[]): boolean {
  const places = sightings[0]?.resource.plan.attributes.values() ?? []
  return [...places].every((place) => sightings.some(({ values }) => values[place] !== undefined))
}
