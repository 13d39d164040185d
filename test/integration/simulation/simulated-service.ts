import {
  startSimulator,
  type Simulator,
  type SimulatorOptions,
} from '../../../src/extensions/simulator/server.js'
import type { ResourceIdentifier, ResourceObject } from '../../../src/source/jsonapi/document.js'
import { DEFAULT_INCLUDES } from '../../../src/extensions/simulator/interface/included-records.js'
import { notification } from '../webhooks/process-scene.js'
import type { Tombstone } from './simulated-database.js'
import type { Scheduler } from './scheduler.js'
import type { Change, Storm } from './storm.js'

/** When a record was not at the source, by the true time. */
interface Absence extends ResourceIdentifier {
  readonly from: number
  until: number
}

/** More missing rows than ten would count as a fault of the source. */
const MOST_GONE_CONTAINERS = 8

/** Each change brings a value that was never there, and greater than all before it. */
const NAMES = { shipment: 'customer_name', container: 'seal_number' } as const

export interface MadeNotification {
  readonly id: string
  readonly about: ResourceIdentifier
  readonly body: unknown
  readonly included: readonly ResourceObject[]
  arrivals: number
}

/** The service: a world that changes by hand, and the notifications that it makes. */
export class SimulatedService {
  readonly simulator: Simulator
  readonly made: MadeNotification[] = []
  readonly #scheduler: Scheduler
  readonly #absences: Absence[] = []
  /** Instants of the world, and since when each was the present one by the true time. */
  readonly #stands: { readonly since: number; readonly world: Date }[]
  #changes = 0

  constructor(simulator: Simulator, scheduler: Scheduler) {
    this.simulator = simulator
    this.#scheduler = scheduler
    this.#stands = [{ since: scheduler.now, world: simulator.clock.now() }]
  }

  static start({ world }: Storm, startAt: Date): Promise<Simulator> {
    const options: SimulatorOptions = {
      seed: world.seed,
      shipments: world.shipments,
      startAt,
      speed: 0,
      rateLimitPerMinute: null,
      extras: false,
      acceptedIncludes: {
        shipment: world.includes,
        container: world.containerIncludes ?? DEFAULT_INCLUDES.container!,
      },
    }
    return startSimulator(options)
  }

  advance(ms: number): void {
    const { clock } = this.simulator
    clock.advance(ms)
    this.#scheduler.advance(ms)
    this.#stands.push({ since: this.#scheduler.now, world: clock.now() })
  }

  change(change: Change): void {
    const { edits } = this.simulator
    switch (change.do) {
      case 'change':
      case 'clear': {
        const record = this.#pick(change.type, change.at)
        if (record === undefined) return
        this.#changes += 1
        const value = change.do === 'clear' ? null : `value ${this.#changes}`
        edits.change(change.type, record.id, { [NAMES[change.type]]: value })
        return
      }
      case 'delete':
        this.#delete(change.type, change.at)
        return
      case 'revive': {
        const gone = this.#absences.filter(
          ({ type, until }) => until === Infinity && type !== 'transport_event',
        )
        const back = gone[change.at % Math.max(1, gone.length)]
        if (back === undefined) return
        back.until = this.#scheduler.now
        edits.revive(back.type, back.id)
        return
      }
      case 'withdraw': {
        const event = this.#pickEvent(change)
        if (event === undefined) return
        edits.withdrawEvent(event.containerId, event.id)
        this.#note('transport_event', event.id)
        return
      }
      case 'changeEvent': {
        const event = this.#pickEvent(change)
        // Its id stays, so only a check finds it, and finished containers are not checked.
        if (event === undefined || event.isFinished) return
        this.#changes += 1
        edits.change('transport_event', event.id, { voyage_number: `V${this.#changes}` })
        return
      }
      case 'hold':
      case 'release': {
        const container = this.#pick('container', change.at)
        if (container === undefined) return
        const { name } = change
        if (change.do === 'release') edits.clearHold(container.id, name)
        else edits.addHold(container.id, { name, status: 'hold', description: null })
        return
      }
      case 'insert':
        edits.insertShipments(change.shipments)
        return
      case 'advance':
        this.advance(change.seconds * 1_000)
        return
      default:
        change satisfies never
    }
  }

  /** Made now, about a container as it is now; by its shape with all, some or none of its records. */
  tell(at: number, shape: number): void {
    const container = this.#pick('container', at)
    if (container === undefined) return
    const { world, clock } = this.simulator
    const events = world.transportEventsOf(container.id, clock.now())
    const shapes = [
      [container],
      [container, ...events],
      [container, ...events.slice(0, 1)],
      [],
      events.slice(0, 1),
    ]
    const included = shapes[shape % shapes.length]!
    const about = { type: 'container', id: container.id }
    const id = `notification-${this.made.length}`
    // The service writes whole seconds.
    const createdAt = new Date(Math.floor(this.#scheduler.now / 1_000) * 1_000)
    const body = notification({ id, createdAt, about, included })
    this.made.push({ id, about, body, included, arrivals: 0 })
  }

  /** False only for a record that was there from the begin of a run until it was marked as gone. */
  wasGone({ type, id, parent, markedAt, runStartedAt }: Tombstone): boolean {
    const from = runStartedAt ?? 0
    const isAbsent = this.#absences.some(
      (absence) =>
        absence.type === type &&
        absence.id === id &&
        absence.from <= markedAt &&
        absence.until >= from,
    )
    if (isAbsent) return true
    const { world } = this.simulator
    const stands = this.#stands.filter(
      ({ since }, at) => since <= markedAt && (this.#stands[at + 1]?.since ?? Infinity) >= from,
    )
    return stands.some(({ world: instant }) =>
      parent === null
        ? world.record(type, id, instant) === undefined
        : !world.transportEventsOf(parent, instant).some((event) => event.id === id),
    )
  }

  #delete(type: string, at: number): void {
    const { world, clock, edits } = this.simulator
    const record = this.#pick(type, at)
    if (record === undefined) return
    const now = clock.now()
    const containers =
      type === 'shipment'
        ? world.containersOf(record.id, now)
        : type === 'container'
          ? [record]
          : []
    const gone = this.#absences.filter(
      (one) => one.type === 'container' && one.until === Infinity,
    ).length
    if (gone + containers.length > MOST_GONE_CONTAINERS) return
    const events = containers.flatMap(({ id }) => world.transportEventsOf(id, now))
    edits.delete(type, record.id)
    for (const one of [record, ...containers, ...events]) this.#note(one.type, one.id)
  }

  #note(type: string, id: string): void {
    this.#absences.push({ type, id, from: this.#scheduler.now, until: Infinity })
  }

  #pick(type: string, at: number): ResourceObject | undefined {
    const { world, clock } = this.simulator
    const records = [...world.records(type as 'shipment', clock.now())]
    return records[at % Math.max(1, records.length)]
  }

  #pickEvent({ at, event }: { readonly at: number; readonly event: number }) {
    const container = this.#pick('container', at)
    if (container === undefined) return undefined
    const { world, clock } = this.simulator
    const events = world.transportEventsOf(container.id, clock.now())
    const found = events[event % Math.max(1, events.length)]
    const isFinished = (container.attributes?.empty_terminated_at ?? null) !== null
    return found && { id: found.id, containerId: container.id, isFinished }
  }
}
