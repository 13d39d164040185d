import type { ResourceObject } from '../../src/source/jsonapi/document.js'
import type { World } from '../../src/extensions/simulator/world/world.js'
import {
  addDays,
  between,
  cents,
  currencyOfRule,
  daysOff,
  isUsualWeekend,
  lastFreeDay,
  narrowestFirst,
  pricesOf,
  weekday,
  type Rule,
  type Where,
  type WorkingCalendar,
} from './second-rules.js'

/**
 * Stays, exposure, charged days and exceptions worked out a second time: from the records of the
 * service as they are, in plain TypeScript, by the definitions in docs/questions.md and the headers
 * of the views. Nothing is taken from our tables, our SQL or the code that fills them. Instants are
 * milliseconds, days texts like 2026-11-08.
 */

const HOUR = 3_600_000
const DAY = 24 * HOUR

const PLACES = ['port', 'ramp'] as const
type Place = (typeof PLACES)[number]

interface Hold {
  readonly place: Place
  readonly name: string
  readonly status: string
  /** The last text, and since when it was so. */
  description: string | null
  since: number
}

/** A last free day as it was said, and the zone that was sent with it. */
interface SaidDay {
  readonly day: unknown
  readonly zone: string | undefined
}

interface Fee {
  readonly type: string | null
  readonly amount: unknown
  readonly currency_code: string | null
}

/** A value and the interval in which our looks found it. */
interface Stood<Value> {
  readonly value: Value
  readonly from: number
  to: number | undefined
}

interface Seen {
  readonly first: number
  /** The container as it was seen last, and since when, if not from the first look on. */
  said: string
  changed: number | undefined
  discharged: number | undefined
  readonly holds: Stood<Hold>[]
  readonly availability: Readonly<Record<Place, Stood<boolean | null>[]>>
  readonly fees: Readonly<Record<Place, Stood<readonly Fee[]>[]>>
  readonly deadlines: Stood<Readonly<Record<string, SaidDay>>>[]
}

interface SeenShipment {
  readonly eta: Stood<number | undefined>[]
  readonly vessel: Stood<{ imo: string | null; name: string | null }>[]
}

interface Look {
  readonly at: number
  readonly containers: readonly ResourceObject[]
  readonly shipments: ReadonlyMap<string, ResourceObject>
  /** When the newest event of a container was recorded. */
  readonly lastNews: ReadonlyMap<string, number>
}

interface Clock {
  readonly stay: Stay
  readonly place: 'port' | 'ramp' | 'out'
  readonly charge: Rule['charge']
  readonly source: string | undefined
  readonly rule: Rule | undefined
  readonly lastFree: string
  readonly daysOver: number
  /** Of each day over; none without a rule. See pricesOf. */
  readonly prices: readonly (number | undefined)[]
  /** A clock of the line from the port or ramp until the empty is back. */
  readonly isMerged: boolean
  /** Merged, and nobody tells whether the empty is back: counted up to the gate-out. */
  readonly isUnknown: boolean
  readonly isOff: (day: string) => boolean
  /** It has not ended. */
  readonly isOpen: boolean
}

/** The party that reports a last free day for a charge. */
const REPORTERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  port: { storage: 'terminal', demurrage: 'line' },
  ramp: { storage: 'rail' },
}

interface Stay {
  readonly container: ResourceObject
  readonly shipment: ResourceObject | undefined
  readonly place: 'port' | 'ramp'
  readonly zone: string | undefined
  /** Turns an instant at the place into wall time there. */
  readonly wallZone: string | undefined
  readonly isZoneKnown: boolean
  /** Nobody would tell that it left. */
  readonly isUntold: boolean
  readonly start: number | undefined
  readonly end: number | undefined
  readonly arrival: number | undefined
  readonly hasBegun: boolean
  readonly hasEnded: boolean
  readonly mode: 'truck' | 'rail'
  readonly days: Readonly<Record<string, string | undefined>>
  readonly binding: string | undefined
  readonly source: string | undefined
  /** The earliest day that is reported, and who says it. */
  readonly reported: readonly [string, string] | undefined
  readonly today: string | undefined
  readonly out: string | undefined
  readonly state: string
  /** The line's clock began at the port and goes on. */
  readonly isAfterMerged?: boolean
}

type Facts = Omit<Stay, 'binding' | 'source' | 'reported' | 'today' | 'out' | 'state'>

/** The narrowest rule, the day its clock starts, and its last free day. */
interface FoundRule {
  readonly rule: Rule
  readonly start: string | undefined
  readonly last: string | undefined
  readonly isOff: (day: string) => boolean
}

/** IANA name, and whether it was sent with the container. */
type Zone = readonly [string | undefined, boolean]

/** Looks at a world whenever it is told to, as a sync does, and says what the views should say. */
export class SecondImplementation {
  readonly #world: World
  readonly #rules: readonly Rule[]
  readonly #calendars: readonly WorkingCalendar[]
  readonly #containers = new Map<string, Seen>()
  readonly #shipments = new Map<string, SeenShipment>()
  #look: Look | undefined
  /** Rare behaviour of the service that a look has met, and of rules. */
  readonly met = new Set<string>()

  constructor(world: World, rules: readonly Rule[], calendars: readonly WorkingCalendar[]) {
    this.#world = world
    this.#rules = rules
    this.#calendars = calendars
  }

  look(now: Date): void {
    const at = now.getTime()
    const containers = [...this.#world.records('container', now)]
    const shipments = [...this.#world.records('shipment', now)]
    const lastNews = new Map<string, number>()
    for (const event of this.#world.records('transport_event', now)) {
      const id = linked(event, 'container')
      const created = past(event, 'created_at', at)
      const isEstimate = text(event, 'event')?.includes('.estimated.') ?? true
      if (!isEstimate && (moment(event, 'timestamp') ?? 0) > at) this.met.add('future-dated event')
      const isWithdrawn = past(event, 'invalidated_at', at) !== undefined
      if (id === undefined || created === undefined || isWithdrawn) continue
      lastNews.set(id, Math.max(lastNews.get(id) ?? 0, created))
    }
    this.#look = {
      at,
      containers,
      shipments: new Map(shipments.map((shipment) => [shipment.id, shipment])),
      lastNews,
    }
    for (const container of containers) this.#remember(container, at)
    for (const shipment of shipments) this.#rememberShipment(shipment, at)
  }

  /** One line a stay: which, state, binding day and its source, days left and over, ends. */
  stays(): string[] {
    return this.#stays().map((stay) =>
      line(
        stay.container.id,
        stay.place,
        stay.state,
        stay.binding,
        stay.source,
        isRunning(stay.state) ? between(stay.today, stay.binding) : undefined,
        daysOver(stay),
        instant(stay.start),
        instant(stay.end),
        stay.mode,
        stay.zone,
        stay.isZoneKnown,
        stay.today,
        stay.out,
        isInside(stay) ? isAvailableAt(stay) : undefined,
        blockingHolds(stay),
      ),
    )
  }

  /** One line a stay past its last free day: which, state, days over, fees, estimate. */
  exposure(): string[] {
    const clocks = new Map<string, Clock[]>()
    for (const clock of this.#clocks({ areUnknown: true })) {
      if (clock.rule === undefined || pricesAtPlace(clock).length === 0) continue
      const key = `${clock.stay.container.id} ${clock.place}`
      clocks.set(key, [...(clocks.get(key) ?? []), clock])
    }
    return this.#stays().flatMap((stay) => {
      if (!isExposed(stay)) return []
      const fees = this.#feesOfStay(stay)
      const sums = sumsOf(fees)
      const known = fees.filter(isCalculated)
      const [only, ...others] = new Set(known.map((fee) => currencyOf(fee, fees)))
      const isOne = stay.state !== 'unknown' && only !== undefined && others.length === 0
      const own = clocks.get(`${stay.container.id} ${stay.place}`) ?? []
      const days = own.flatMap((clock) => {
        const currency = currencyOfRule(clock.rule)
        const hasMore = pricesAtPlace(clock).length < clock.prices.length
        if (hasMore) this.met.add('estimate up to the gate-out')
        const prices = pricesAtPlace(clock)
        // A day off that is not charged costs nothing, and tells no rate of the others.
        const charged = prices.filter((_, nth) => isCharged(clock, nth))
        const isRated = charged.length === 0 || charged.some((price) => price !== undefined)
        return prices.map((price) => ({ currency, price, isRated }))
      })
      const hasEstimate = stay.state !== 'unknown' && own.length > 0
      const estimates = [...new Set(own.map(({ rule }) => currencyOfRule(rule)))]
        .sort()
        .flatMap((currency) => {
          const prices = days.flatMap((one) =>
            one.currency === currency && one.isRated && one.price !== undefined ? [one.price] : [],
          )
          return prices.length === 0 ? [] : [[currency, sum(prices)] as const]
        })
      const [estimate, ...more] = hasEstimate ? estimates : []
      const isOneEstimate = estimate !== undefined && more.length === 0
      return line(
        stay.container.id,
        stay.place,
        stay.state,
        daysOver(stay),
        sums.size === 0 ? undefined : Object.fromEntries([...sums].sort()),
        isOne ? sums.get(only) : undefined,
        isOne ? only : undefined,
        isTotalDifferent(fees),
        fees.filter(({ amount }) => typeof amount !== 'number').length,
        hasEstimate && estimates.length > 0 ? Object.fromEntries(estimates) : undefined,
        isOneEstimate ? estimate[1] : undefined,
        isOneEstimate ? estimate[0] : undefined,
        hasEstimate ? days.filter(({ price }) => price === undefined).length : undefined,
      )
    })
  }

  /** One line a day over: which, the day's number, price, availability, holds, working day. */
  chargeDays(): string[] {
    const lines: string[] = []
    for (const clock of this.#clocks()) {
      const { id } = clock.stay.container
      for (let over = 1; over <= clock.daysOver; over += 1) {
        const on = addDays(clock.lastFree, over)
        const price = clock.prices[over - 1]
        // Nothing is told of a day after it left the place, or that began nobody knows when.
        const { zone, out } = clock.stay
        const isGone = clock.isMerged && out !== undefined && on > out
        const [from, to] = zone === undefined ? [0, 0] : this.#span(on, zone)
        const isTold = clock.place !== 'out' && !isGone && zone !== undefined
        const place = isTold ? clock.place : undefined
        this.#meet(clock, on, price, isGone)
        lines.push(
          line(
            id,
            clock.place,
            clock.charge,
            on,
            over,
            clock.rule?.name,
            clock.rule && currencyOfRule(clock.rule),
            price,
            place && this.#wasAvailable(id, place, from, to),
            place ? this.#holdsIn(id, place, from, to) : [],
            !clock.isOff(on),
            clock.source,
            place ? this.#feesAt(id, place, to) : [],
            zone && this.#reportedAt(clock, to),
          ),
        )
      }
    }
    return lines
  }

  /** Notes what a day over proves of the rules. */
  #meet(clock: Clock, on: string, price: number | undefined, isGone: boolean): void {
    const { rule, isOff, isMerged } = clock
    if (rule === undefined) return
    const isHoliday = this.#calendars.some(
      ({ place, holidays }) => place !== undefined && holidays.includes(on),
    )
    const isFree = rule.charged === 'working' && price === 0 && isOff(on)
    const cases = {
      'day off without a charge': isFree,
      'holiday of a place without a charge': isFree && isHoliday,
      'weekend of a place': !isOff(on) && weekday(on) === 6,
      'merged clock past its gate-out': isMerged && isGone && price !== undefined && price > 0,
      'merged clock of a ramp': isMerged && clock.place === 'ramp',
      'least total': price !== undefined && price === rule.minimum,
      'cap reached': rule.cap !== undefined && price === 0 && !isFree,
      'period paid already': rule.per !== undefined && price === 0 && !isFree,
    }
    for (const [name, isSo] of Object.entries(cases)) if (isSo) this.met.add(name)
  }

  /** One line an exception: container, name, severity, since, cost. */
  exceptions(): string[] {
    return [...this.#ofStays(), ...this.#ofJourneys(), ...this.#ofHolds()]
  }

  /** Those of the place where the container is; at the ramp those of the port if it lists none. */
  #feesOfStay({ container, place }: Stay): readonly Fee[] {
    const { hasReachedRamp } = this.#portStay(container, this.#shipmentOf(container))
    if (place === 'port') return hasReachedRamp ? [] : feesOf(container, 'port')
    if (!hasReachedRamp) return feesOf(container, 'ramp')
    const own = feesOf(container, 'ramp')
    return own.some(isCalculated) ? own : [...own, ...feesOf(container, 'port')]
  }

  #current(): Look {
    if (this.#look === undefined) throw new Error('look first')
    return this.#look
  }

  #remember(container: ResourceObject, at: number): void {
    const seen = this.#containers.get(container.id) ?? {
      first: at,
      said: whatIsSaid(container),
      changed: undefined,
      discharged: undefined,
      holds: [],
      availability: { port: [], ramp: [] },
      fees: { port: [], ramp: [] },
      deadlines: [],
    }
    this.#containers.set(container.id, seen)
    if (seen.said !== whatIsSaid(container)) seen.changed = at
    seen.said = whatIsSaid(container)
    const discharged = moment(container, 'pod_discharged_at')
    const before = seen.discharged
    if (before !== undefined && discharged !== undefined && before !== discharged) {
      this.met.add('corrected discharge')
    }
    seen.discharged = discharged
    // A hold is the one of its name, status and text; then the one of its name and status whose
    // text was edited, the oldest text first. There can be several of all three.
    const fresh = PLACES.flatMap((place) =>
      holdsOf(container, place).map(({ name, status, description }): Hold => ({
        place,
        name,
        status,
        description: description ?? null,
        since: at,
      })),
    )
    const isSame = (one: Hold, other: Hold) =>
      one.place === other.place && one.name === other.name && one.status === other.status
    const isSameText = (one: Hold, other: Hold) =>
      isSame(one, other) && one.description === other.description
    let open = seen.holds
      .filter(({ to }) => to === undefined)
      .sort((one, other) => one.value.since - other.value.since)
    for (const isIt of [isSameText, isSame]) {
      open = open.filter(({ value }) => {
        const place = fresh.findIndex((hold) => isIt(hold, value))
        const [found] = place === -1 ? [] : fresh.splice(place, 1)
        if (found === undefined) return true
        if (found.description !== value.description) {
          value.since = at
          this.met.add('edited hold text')
        }
        value.description = found.description
        return false
      })
    }
    for (const stood of open) stood.to = at
    for (const value of fresh) seen.holds.push({ value, from: at, to: undefined })
    for (const place of PLACES) {
      follow(seen.availability[place], reportedAt({ container, place }) ?? null, at)
      follow(seen.fees[place], feesOf(container, place), at)
    }
    const said = (kind: string, zone: string) => ({
      day: deadline(container, kind),
      zone: text(container, zone),
    })
    const terminal = said('pickup_lfd_terminal', 'pod_timezone')
    const line = said('pickup_lfd_line', 'pod_timezone')
    const rail = said('pickup_lfd_rail', 'final_destination_timezone')
    follow(seen.deadlines, { terminal, line, rail }, at)
  }

  #rememberShipment(shipment: ResourceObject, at: number): void {
    const seen = this.#shipments.get(shipment.id) ?? { eta: [], vessel: [] }
    this.#shipments.set(shipment.id, seen)
    follow(seen.eta, moment(shipment, 'pod_eta_at'), at)
    const [imo, name] = ['pod_vessel_imo', 'pod_vessel_name'].map((key) => text(shipment, key))
    follow(seen.vessel, { imo: imo ?? null, name: name ?? null }, at)
    const reason = text(shipment, 'line_tracking_stopped_reason')
    if (reason === 'booking_cancelled') this.met.add('cancelled booking')
  }

  #stays(): Stay[] {
    return this.#current().containers.flatMap((container) => {
      const shipment = this.#shipmentOf(container)
      const port = this.#portStay(container, shipment)
      return port.isByRail
        ? [port.stay, this.#rampStay(container, shipment, port.stay)]
        : [port.stay]
    })
  }

  #shipmentOf(container: ResourceObject): ResourceObject | undefined {
    return this.#current().shipments.get(linked(container, 'shipment') ?? '')
  }

  #portStay(container: ResourceObject, shipment: ResourceObject | undefined) {
    const { at } = this.#current()
    const it = (name: string) => past(container, name, at)
    const said = (name: string) => isSaid(container, name)
    const status = text(container, 'current_status') ?? ''
    const out = it('pod_full_out_at')
    const byTrain = it('pod_rail_departed_at')
    const end = earliest(out, byTrain)
    const atRamp = earliest(it('ind_ata_at'), it('ind_rail_unloaded_at'))
    const isDelivered = this.#isDelivered(container)
    const wasSeenOnTrain =
      said('pod_rail_departed_at') ||
      said('ind_ata_at') ||
      said('ind_rail_unloaded_at') ||
      said('final_destination_full_out_at')
    const isByRail =
      wasSeenOnTrain ||
      (out === undefined &&
        (said('pod_rail_loaded_at') ||
          said('pod_rail_carrier_scac') ||
          said('ind_rail_carrier_scac') ||
          said('ind_eta_at') ||
          deadline(container, 'pickup_lfd_rail') !== undefined ||
          ['on_rail', 'awaiting_inland_transfer'].includes(status)))
    const [zone, isZoneKnown] = this.#portZone(container, shipment)
    const checked = it('terminal_checked_at')
    const isFresh = checked !== undefined && checked > at - 2 * DAY
    const mode = end === undefined ? (isByRail ? 'rail' : 'truck') : end === out ? 'truck' : 'rail'
    const sent = text(container, 'pod_timezone')
    const days = {
      terminal: this.#saidOf(container, 'terminal', end),
      line: this.#saidOf(container, 'line', end),
    }
    const hasOwn = days.terminal !== undefined || days.line !== undefined
    const isDaySaid =
      hasOwn ||
      ['pickup_lfd_terminal', 'pickup_lfd_line'].some(
        (name) => deadline(container, name) !== undefined,
      )
    const hasRail =
      deadline(container, 'pickup_lfd_rail') !== undefined ||
      this.#saidOf(container, 'rail', it('final_destination_full_out_at')) !== undefined
    const service =
      !isDaySaid && !hasRail ? this.#dayOf(attribute(container, 'pickup_lfd'), sent) : undefined
    const stay = this.#finish({
      container,
      shipment,
      place: 'port',
      zone,
      wallZone: sent === undefined ? 'UTC' : zone,
      isZoneKnown,
      isUntold: isTrackingStopped(shipment, at) && !isFresh,
      start: it('pod_discharged_at'),
      end,
      arrival: it('pod_arrived_at'),
      mode,
      days: hasOwn ? days : { service },
      isUnread:
        (deadline(container, 'pickup_lfd_terminal') !== undefined && !days.terminal) ||
        (deadline(container, 'pickup_lfd_line') !== undefined && !days.line),
      hasDay: isDaySaid || (!hasRail && isSaid(container, 'pickup_lfd')),
      hasBegun:
        it('pod_discharged_at') !== undefined ||
        end !== undefined ||
        it('pod_rail_loaded_at') !== undefined ||
        atRamp !== undefined ||
        isDelivered ||
        [
          'available',
          'not_available',
          'grounded',
          'off_dock',
          'awaiting_inland_transfer',
          'on_rail',
        ].includes(status),
      hasEnded:
        end !== undefined ||
        atRamp !== undefined ||
        isDelivered ||
        (status === 'on_rail' && !said('pod_rail_loaded_at') && !said('pod_rail_departed_at')),
    })
    const hasReachedRamp = isByRail && (atRamp !== undefined || isDelivered)
    return { stay, isByRail, wasSeenOnTrain, hasReachedRamp }
  }

  #rampStay(container: ResourceObject, shipment: ResourceObject | undefined, port: Stay): Stay {
    const { at } = this.#current()
    const it = (name: string) => past(container, name, at)
    const left = earliest(it('pod_full_out_at'), it('pod_rail_departed_at'))
    const atRamp = earliest(it('ind_ata_at'), it('ind_rail_unloaded_at'))
    const start =
      atRamp !== undefined && (left === undefined || atRamp >= left) ? atRamp : undefined
    const [zone, isZoneKnown] = this.#rampZone(container, shipment)
    const end = it('final_destination_full_out_at')
    const rail = this.#saidOf(container, 'rail', end)
    return this.#finish({
      container,
      shipment,
      place: 'ramp',
      zone,
      wallZone: isSaid(container, 'final_destination_timezone') ? zone : 'UTC',
      isZoneKnown,
      isUntold: isTrackingStopped(shipment, at),
      start,
      arrival: start,
      end,
      mode: 'truck',
      days: { rail },
      isUnread: false,
      hasDay: rail !== undefined || deadline(container, 'pickup_lfd_rail') !== undefined,
      hasBegun: atRamp !== undefined || this.#isDelivered(container),
      hasEnded: this.#isDelivered(container),
      isAfterMerged: this.#isMerged(port),
    })
  }

  /** At the end of its journey: out at the destination, returned, or a status says so. */
  #isDelivered(container: ResourceObject): boolean {
    const { at } = this.#current()
    const isSaidByStatus =
      !isSaid(container, 'pod_full_out_at') &&
      !isSaid(container, 'final_destination_full_out_at') &&
      ['picked_up', 'delivered', 'dropped', 'empty_returned'].includes(
        text(container, 'current_status') ?? '',
      )
    return (
      past(container, 'final_destination_full_out_at', at) !== undefined ||
      past(container, 'empty_terminated_at', at) !== undefined ||
      isSaidByStatus
    )
  }

  #finish(facts: Facts & { readonly isUnread: boolean; readonly hasDay: boolean }): Stay {
    const { isUnread, hasDay: isReported, ...stay } = facts
    const { at } = this.#current()
    const today = stay.zone === undefined ? undefined : localDay(at, stay.zone)
    const out = wallDay(stay, stay.end)
    const [reported] = earliestDays(stay.days)
    const [first] = earliestDays(this.#bindingDays(stay))
    const [source, binding] = first ?? []
    const hasDay = isReported || binding !== undefined
    const isStopped = stay.isUntold
    const state = ((): string => {
      if (stay.hasEnded && !hasDay) return 'none'
      if (isUnread && (stay.hasBegun || stay.hasEnded)) return 'unknown'
      if (out !== undefined && binding !== undefined) {
        return out > binding ? 'out_late' : 'out_in_time'
      }
      if (stay.hasEnded || isStopped) return 'unknown'
      if (!stay.hasBegun) return 'not_started'
      if (!hasDay) return 'none'
      if (today === undefined || binding === undefined) return 'unknown'
      return today < binding ? 'upcoming' : today === binding ? 'due_today' : 'overdue'
    })()
    return { ...stay, source, binding, reported, today, out, state }
  }

  /** Of storage and demurrage the days that count, and the service's own, by who says them. */
  #bindingDays(stay: Facts): Days {
    const days: Record<string, string | undefined> = { ...stay.days }
    for (const charge of ['storage', 'demurrage'] as const) {
      const by = REPORTERS[stay.place]![charge]
      const said = by === undefined ? undefined : stay.days[by]
      const isOfPort = charge === 'demurrage' && stay.isAfterMerged
      const isRuled = stay.hasBegun && !isOfPort
      const found = isRuled ? this.#ruleOf(stay, stay.place, charge) : undefined
      const counts = dayThatCounts(said, found)
      if (counts === said && found?.rule.reported !== 'ignored') continue
      if (by !== undefined) days[by] = undefined
      days.rule = earliestDays({ one: days.rule, other: counts })[0]?.[1]
    }
    return days
  }

  /** Whether one clock of the line runs from this stay until the empty is back. */
  #isMerged(stay: Stay): boolean {
    if (!stay.hasBegun || stay.isAfterMerged) return false
    return this.#ruleOf(stay, stay.place, 'demurrage')?.rule.until === 'empty_return'
  }

  /** The zone as sent, and whether there is such a one; not sent: that of the place itself. */
  #portZone(container: ResourceObject, shipment: ResourceObject | undefined): Zone {
    const terminal = this.#record('terminal', linked(container, 'pod_terminal'))
    const own =
      this.#zoneOf('port', terminal && linked(terminal, 'port')) ??
      this.#zoneOf('port', shipment && linked(shipment, 'port_of_discharge'))
    return zoneOf(text(container, 'pod_timezone'), own)
  }

  #rampZone(container: ResourceObject, shipment: ResourceObject | undefined): Zone {
    const place = shipment && linked(shipment, 'destination')
    const at = shipment && linked(shipment, 'destination_terminal')
    const terminal = this.#record('rail_terminal', at)
    const own =
      this.#zoneOf('port', terminal && linked(terminal, 'port')) ??
      this.#zoneOf('metro_area', terminal && linked(terminal, 'metro_area')) ??
      this.#zoneOf('port', place) ??
      this.#zoneOf('metro_area', place)
    return zoneOf(text(container, 'final_destination_timezone'), own)
  }

  #zoneOf(type: 'port' | 'metro_area', id: string | undefined): string | undefined {
    const place = this.#record(type, id)
    return usableZone(place && text(place, 'time_zone'))
  }

  #record(type: Parameters<World['record']>[0], id: string | undefined) {
    return id === undefined ? undefined : this.#world.record(type, id, new Date(this.#current().at))
  }

  /**
   * A bare date is the day it names, an instant the day of the zone that was sent for it. Without a
   * zone it is wall time marked as UTC.
   */
  #dayOf(sent: unknown, zone: string | undefined): string | undefined {
    if (typeof sent !== 'string') return undefined
    if (/^\d{4}-\d\d-\d\d$/.test(sent)) return sent
    const clock = zone === undefined ? 'UTC' : usableZone(zone)
    return clock === undefined ? undefined : localDay(Date.parse(sent), clock)
  }

  /** From midnight to midnight at a place, to now at most, and now is seen. */
  #span(on: string, zone: string): [number, number] {
    return [midnight(on, zone), Math.min(midnight(addDays(on, 1), zone), this.#current().at + 1)]
  }

  #wasAvailable(id: string, place: Place, from: number, to: number): boolean | undefined {
    const said = during(this.#containers.get(id)!.availability[place], from, to)
    const values = said.filter((value) => value !== null)
    return values.length === 0 ? undefined : values.includes(true)
  }

  #holdsIn(id: string, place: Place, from: number, to: number): string[] {
    const names = during(this.#containers.get(id)!.holds, from, to)
      .filter((hold) => isListedAt(hold.place, place) && hold.status !== 'pending')
      .map(({ name }) => name)
    return [...new Set(names)].sort()
  }

  /** The fees listed last before an instant. */
  #feesAt(id: string, place: Place, to: number): string[] {
    const lists = this.#containers.get(id)!.fees
    const fees = PLACES.filter((list) => isListedAt(list, place))
      .flatMap((list) => justBefore(lists[list], to) ?? [])
      .map(({ type, amount, currency_code }) => [type, numeric(amount), currency_code])
      .map((cells) => cells.filter((cell) => (cell ?? null) !== null).join(' '))
    return [...new Set(fees)].sort()
  }

  /** A last free day as said now; of a container that left, also one withdrawn since it did. */
  #saidOf(
    container: ResourceObject,
    by: 'terminal' | 'line' | 'rail',
    left: number | undefined,
  ): string | undefined {
    const zone = by === 'rail' ? 'final_destination_timezone' : 'pod_timezone'
    const now = deadline(container, `pickup_lfd_${by}`)
    if (now !== undefined) return this.#dayOf(now, text(container, zone))
    const { deadlines } = this.#containers.get(container.id)!
    const then = left === undefined ? undefined : standing(deadlines, left)?.value[by]
    if (then?.day !== undefined) this.met.add('a day that was withdrawn after it left')
    return then && this.#dayOf(then.day, then.zone)
  }

  /** The day that the charging party reported last before an instant. */
  #reportedAt({ place, charge, stay }: Clock, to: number): string | undefined {
    const by = REPORTERS[place]?.[charge]
    const days = justBefore(this.#containers.get(stay.container.id)!.deadlines, to)
    const said = by === undefined ? undefined : days?.[by]
    return said && this.#dayOf(said.day, said.zone)
  }

  *#clocks({ areUnknown = false } = {}): Generator<Clock> {
    for (const container of this.#current().containers) {
      const shipment = this.#shipmentOf(container)
      const { stay: port, isByRail, wasSeenOnTrain } = this.#portStay(container, shipment)
      const stays = isByRail ? [port, this.#rampStay(container, shipment, port)] : [port]
      const hasMerged = stays.some((stay) => this.#isMerged(stay))
      for (const stay of stays) {
        const isPort = stay.place === 'port'
        if (stay.hasBegun) {
          for (const charge of ['demurrage', 'storage'] as const) {
            if (charge === 'demurrage' && stay.isAfterMerged) continue
            const { terminal, line, rail } = stay.days
            const [ofStorage, ofLine] = isPort ? [terminal, line] : [rail, undefined]
            const reported = charge === 'storage' ? ofStorage : ofLine
            const clock = this.#clock(stay, stay.place, charge, reported)
            if (clock !== undefined && (areUnknown || !clock.isUnknown)) yield clock
          }
        }
        const isOut = stay.hasEnded && stay.mode === 'truck' && !(isPort && wasSeenOnTrain)
        if (!isOut || hasMerged) continue
        const clock = this.#clock(stay, 'out', 'detention', undefined)
        if (clock !== undefined) yield clock
      }
    }
  }

  #clock(
    stay: Stay,
    place: 'port' | 'ramp' | 'out',
    charge: Rule['charge'],
    reported: string | undefined,
  ): Clock | undefined {
    const { at } = this.#current()
    const found = this.#ruleOf(stay, place, charge)
    const empty = past(stay.container, 'empty_terminated_at', at)
    const depot = text(stay.container, 'empty_terminated_timezone')
    const emptyZone = depot === undefined ? 'UTC' : usableZone(depot)
    const returned =
      empty === undefined || emptyZone === undefined ? undefined : localDay(empty, emptyZone)
    const isMerged = place !== 'out' && found?.rule.until === 'empty_return'
    const isToEmpty = place === 'out' || isMerged
    const ended = isToEmpty ? returned : stay.out
    const isOver = isToEmpty
      ? empty !== undefined ||
        (!isSaid(stay.container, 'empty_terminated_at') &&
          text(stay.container, 'current_status') === 'empty_returned')
      : stay.hasEnded
    const counts = dayThatCounts(reported, found)
    const isIgnored = found?.rule.reported === 'ignored'
    // The terminal would tell that it left, but not that its empty is back.
    const isUntold =
      place === 'out' || (isMerged && stay.hasEnded)
        ? isTrackingStopped(stay.shipment, at)
        : stay.isUntold
    const others = place === 'out' || isIgnored ? undefined : stay.reported
    const last = counts ?? others?.[1]
    if (last === undefined) return undefined
    if (found === undefined && reported === undefined && charge !== 'detention') return undefined
    // Nobody tells its end; the days at the place are known all the same.
    const isUnknown = ended === undefined && (isOver || isUntold)
    const lastThere = stay.out ?? (stay.hasEnded ? undefined : stay.today)
    const to = ended ?? (isUnknown ? lastThere : stay.today)
    if (isUnknown && (!isMerged || to === undefined)) return undefined
    const over = Math.max(between(last, to) ?? 0, 0)
    const source =
      counts === undefined
        ? others?.[0]
        : counts === reported && !isIgnored
          ? REPORTERS[place]![charge]
          : 'rule'
    const isOpen = ended === undefined && !isUnknown && stay.today !== undefined
    const prices = found ? pricesOf(found.rule, found.start, last, over, found.isOff) : []
    return {
      stay,
      place,
      charge,
      source,
      rule: found?.rule,
      lastFree: last,
      daysOver: over,
      prices,
      isMerged,
      isUnknown,
      isOff: found?.isOff ?? isUsualWeekend,
      isOpen,
    }
  }

  /** The narrowest rule that holds, and the last free day by it. */
  #ruleOf(
    stay: Facts & Partial<Stay>,
    place: 'port' | 'ramp' | 'out',
    charge: Rule['charge'],
  ): FoundRule | undefined {
    const started = place === 'out' ? stay.out : wallDay(stay, stay.start)
    const arrived = place === 'out' ? stay.out : wallDay(stay, stay.arrival)
    const has = (wanted: unknown, is: unknown) => wanted === undefined || wanted === is
    const where = this.#whereIs(stay)
    const { locode, terminal } = where
    const tags = (stay.shipment && attribute(stay.shipment, 'tags')) ?? []
    const holding = this.#rules.flatMap((rule) => {
      const from = rule.startsWith === 'arrival' ? arrived : started
      const isMeant =
        rule.charge === charge &&
        has(rule.place, place) &&
        has(rule.line, stay.shipment && text(stay.shipment, 'shipping_line_scac')) &&
        (rule.terminal === undefined || terminal.includes(rule.terminal)) &&
        has(rule.locode, locode) &&
        has(rule.equipmentType, text(stay.container, 'equipment_type')) &&
        has(rule.equipmentLength, attribute(stay.container, 'equipment_length')) &&
        has(rule.equipmentHeight, text(stay.container, 'equipment_height')) &&
        has(rule.customer, stay.shipment && text(stay.shipment, 'customer_name')) &&
        (rule.tag === undefined || (tags as readonly string[]).includes(rule.tag)) &&
        (rule.validFrom === undefined || (from !== undefined && rule.validFrom <= from)) &&
        (rule.validTo === undefined || (from !== undefined && rule.validTo >= from))
      return isMeant ? [{ rule, from }] : []
    })
    const [best] = holding.sort((one, other) => narrowestFirst(one.rule, other.rule))
    if (best === undefined) return undefined
    const { rule, from: start } = best
    const isOff = daysOff(this.#calendars, rule, where)
    const last = start === undefined ? undefined : lastFreeDay(rule, start, isOff)
    return { rule, start, last, isOff }
  }

  /** The UN/LOCODE, and id and names of the terminal of a stay. */
  #whereIs({ container, shipment, place }: Facts): Where {
    const name = place === 'port' ? 'port_of_discharge_locode' : 'destination_locode'
    const locode = shipment && text(shipment, name)
    // At the ramp where it is fetched, if that is said.
    const port = linked(container, 'pod_terminal')
    const facility = linked(container, 'pickup_facility')
    const ramp = facility !== undefined && facility !== port ? facility : undefined
    const id =
      place === 'port' ? port : (ramp ?? (shipment && linked(shipment, 'destination_terminal')))
    const record = this.#record('terminal', id) ?? this.#record('rail_terminal', id)
    const names = ['firms_code', 'nickname', 'name'].map((name) => record && text(record, name))
    return { locode, terminal: [id, ...names].filter((name) => name !== undefined) }
  }

  *#ofStays(): Generator<string> {
    const { at } = this.#current()
    const costs = new Map(
      this.exposure().map((exposed) => {
        const cells = JSON.parse(exposed) as [string, string, ...unknown[]]
        const [id, place, , , , fee, currency, , , , estimate, inCurrency] = cells
        const cost = fee !== null ? [fee, currency] : [estimate, inCurrency]
        return [`${id} ${place}`, cost]
      }),
    )
    const usual = this.#usualStays()
    for (const stay of this.#stays()) {
      if (!stay.hasBegun || stay.hasEnded) continue
      const { container, place, state } = stay
      const { binding, zone, start } = stay
      if (state === 'none' && start !== undefined) {
        const length = usual.get(whereOf(stay) ?? '')
        if (length !== undefined && at - start > length) {
          yield exception(container, 'long_there', 'medium', start)
        }
      }
      if (state === 'unknown' && !stay.isUntold) {
        yield exception(container, 'day_unknown', 'medium', start)
      }
      if (state === 'overdue') {
        const [amount, currency] = costs.get(`${container.id} ${place}`) ?? []
        const since = midnight(addDays(binding!, 1), zone!)
        yield exception(container, 'overdue', 'high', since, amount, currency)
      }
      const left = between(stay.today, binding)
      const isNear = ['upcoming', 'due_today'].includes(state) && left !== undefined && left <= 2
      if (isNear && (isAvailableAt(stay) !== true || blockingHolds(stay).length > 0)) {
        yield exception(container, 'last_free_day_near', 'high', start)
      }
      const appointment = moment(container, 'pickup_appointment_at')
      if (
        isRunning(state) &&
        place === 'port' &&
        appointment !== undefined &&
        appointment > at &&
        wallDay(stay, appointment)! > binding!
      ) {
        yield exception(container, 'appointment_late', 'high', start)
      }
      if (place === 'port' && !stay.isUntold && appointment !== undefined && appointment < at) {
        yield exception(container, 'appointment_missed', 'medium', appointment)
      }
    }
  }

  /** By terminal of the port and mode, and by destination: how long four in five lasted at most. */
  #usualStays(): Map<string, number> {
    const lengths = new Map<string, number[]>()
    for (const stay of this.#stays()) {
      const where = whereOf(stay)
      const { start, end } = stay
      if (where === undefined || start === undefined || end === undefined || end < start) continue
      lengths.set(where, [...(lengths.get(where) ?? []), end - start])
    }
    return new Map([...lengths].map(([where, all]) => [where, percentile(all, 0.8)]))
  }

  *#ofJourneys(): Generator<string> {
    const { at, containers, lastNews } = this.#current()
    const empties = new Map<string, Clock>()
    for (const clock of this.#clocks()) {
      const isByRule = clock.charge === 'detention' && clock.source === 'rule'
      if ((isByRule || clock.isMerged) && clock.isOpen) empties.set(clock.stay.container.id, clock)
    }
    for (const container of containers) {
      const shipment = this.#shipmentOf(container)
      if (shipment === undefined) continue
      const it = (name: string) => past(container, name, at)
      const say = (name: string, severity: string, since: number | undefined) =>
        exception(container, name, severity, since)
      const { stay, wasSeenOnTrain } = this.#portStay(container, shipment)
      const atPort = wasSeenOnTrain ? undefined : it('pod_full_out_at')
      const fullOut = it('final_destination_full_out_at') ?? atPort
      const empty = it('empty_terminated_at')
      const isDelivered = this.#isDelivered(container)
      const isGone = atPort !== undefined || isDelivered
      if (isTrackingStopped(shipment, at)) {
        const isCancelled = text(shipment, 'line_tracking_stopped_reason') === 'booking_cancelled'
        if (!isGone && !isCancelled)
          yield say('tracking_stopped', 'medium', moment(shipment, 'line_tracking_stopped_at'))
        continue
      }
      const clock = empties.get(container.id)
      if (fullOut !== undefined && empty === undefined) {
        if (clock === undefined) {
          const isLong = at - fullOut > 10 * DAY
          if (isLong) yield say('empty_not_returned', 'medium', fullOut + 10 * DAY)
        } else if (clock.daysOver > 0) {
          const since = midnight(addDays(clock.lastFree, 1), clock.stay.zone!)
          const amount = sum(clock.prices.map((price) => price ?? 0))
          const cost = [amount, currencyOfRule(clock.rule)]
          if (clock.isMerged) this.met.add('empty of a merged clock')
          yield exception(container, 'empty_not_returned', 'high', since, ...cost)
        }
      }
      const arrived = past(shipment, 'pod_ata_at', at)
      const isHere = stay.hasBegun || it('pod_arrived_at') !== undefined
      const hasArrived = arrived !== undefined || isHere
      if (!isHere && arrived !== undefined && arrived <= at - 2 * DAY) {
        yield say('left_behind', 'medium', arrived)
      }
      const seen = this.#shipments.get(shipment.id)!
      const eta = moment(shipment, 'pod_eta_at')
      if (!hasArrived && eta !== undefined) {
        const before = standing(seen.eta, at - DAY)?.value
        if (before !== undefined && eta - before > DAY) {
          yield say('eta_slipped', 'medium', at - DAY)
        }
        if (eta < at) yield say('eta_passed', 'medium', eta)
      }
      const was = standing(seen.vessel, at - 3 * DAY)?.value
      const is = standing(seen.vessel, at)?.value
      if (!hasArrived && isAnother(was, is)) yield say('rolled', 'medium', at - 3 * DAY)
      const isOnRail =
        it('pod_rail_departed_at') !== undefined &&
        it('ind_ata_at') === undefined &&
        it('ind_rail_unloaded_at') === undefined &&
        !isDelivered
      const created = moment(container, 'created_at')
      const left = moment(shipment, 'pol_atd_at') ?? moment(shipment, 'pol_etd_at') ?? created
      const hasLeft = left !== undefined && left <= at
      const event = latest(lastNews.get(container.id), this.#containers.get(container.id)!.changed)
      if (isGone) continue
      if (isOnRail && event !== undefined && at - event > 3 * DAY) {
        yield say('rail_silent', 'medium', event)
      }
      const news = event ?? created
      if (!isOnRail && hasLeft && news !== undefined && at - news > 21 * DAY) {
        yield say('no_news', 'low', news)
      }
    }
  }

  *#ofHolds(): Generator<string> {
    const { at, containers } = this.#current()
    for (const container of containers) {
      const { first, holds } = this.#containers.get(container.id)!
      const { stay, hasReachedRamp } = this.#portStay(container, this.#shipmentOf(container))
      const blocking = holds.filter(({ value }) => value.status !== 'pending')
      for (const { from, to } of blocking) {
        const isNew = to === undefined && from > first && from > at - DAY
        if (isNew) yield exception(container, 'hold_new', 'medium', from)
      }
      // At the ramp both lists are of it.
      const placeOf = ({ value }: Stood<Hold>) => (hasReachedRamp ? 'ramp' : value.place)
      for (const place of PLACES) {
        const own = blocking.filter((hold) => placeOf(hold) === place)
        const hasLeft = place === 'ramp' ? this.#isDelivered(container) : stay.hasEnded
        if (hasLeft || own.some(({ to }) => to === undefined)) continue
        const cleared = own.flatMap(({ to }) => (to !== undefined && to > at - DAY ? [to] : []))
        if (cleared.length > 0) {
          yield exception(container, 'hold_cleared', 'low', Math.max(...cleared))
        }
      }
    }
  }
}

function exception(
  container: ResourceObject,
  name: string,
  severity: string,
  since: number | undefined,
  ...cost: readonly unknown[]
): string {
  const [amount, currency] = cost
  return line(container.id, name, severity, instant(since), amount, currency)
}

function isInside({ hasBegun, hasEnded }: Stay): boolean {
  return hasBegun && !hasEnded
}

/**
 * The stays with which one without a last free day is compared: of its terminal in the same way, or
 * of its destination.
 */
function whereOf({ place, container, shipment, mode }: Stay): string | undefined {
  const terminal = linked(container, 'pod_terminal')
  if (place === 'port') return terminal && `${mode} from ${terminal}`
  const locode = shipment && text(shipment, 'destination_locode')
  return locode && `to ${locode}`
}

/** The reported day, that of the rule, or the earlier or later of both, as the rule says. */
function dayThatCounts(said: string | undefined, found: FoundRule | undefined): string | undefined {
  const both = earliestDays({ said, last: found?.last }).map(([, day]) => day)
  const counts = {
    binds: said ?? found?.last,
    ignored: found?.last,
    earlier: both[0],
    later: both.at(-1),
  }
  return counts[found?.rule.reported ?? 'binds']
}

/** Of the days up to the one on which it went out; a merged clock runs on from there. */
function pricesAtPlace({ prices, isMerged, lastFree, stay }: Clock) {
  const days = isMerged ? between(lastFree, stay.out) : undefined
  return days === undefined ? prices : prices.slice(0, Math.max(days, 0))
}

type WhereItIs = Pick<Stay, 'container' | 'place'>

function isCharged({ rule, isOff, lastFree }: Clock, nth: number): boolean {
  return rule?.charged !== 'working' || !isOff(addDays(lastFree, nth + 1))
}

/** At the port what the terminal says, at the ramp its no, else what the status says. */
function isAvailableAt({ container, place }: WhereItIs): boolean | undefined {
  return terminalSays(container) === false ? false : reportedAt({ container, place })
}

function terminalSays(container: ResourceObject): boolean | undefined {
  if (attribute(container, 'availability_known') === false) return undefined
  return (attribute(container, 'available_for_pickup') ?? undefined) as boolean | undefined
}

/** Disputes money: at the port the terminal's word, at the ramp the status. */
function reportedAt({ container, place }: WhereItIs): boolean | undefined {
  if (place === 'port') return terminalSays(container)
  const status = text(container, 'current_status') ?? ''
  if (status === 'available') return true
  return ['not_available', 'grounded'].includes(status) ? false : undefined
}

/** The service fills the list of the port's terminal wherever the container is. */
function isListedAt(list: Place, place: Place): boolean {
  return list === 'port' || list === place
}

function blockingHolds(stay: Stay): string[] {
  if (!isInside(stay)) return []
  const blocking = PLACES.filter((list) => isListedAt(list, stay.place))
    .flatMap((list) => holdsOf(stay.container, list))
    .filter(({ status }) => status !== 'pending')
  return [...new Set(blocking.map(({ name }) => name))].sort()
}

type Days = Readonly<Record<string, string | undefined>>

/** By day, those of one day in the order in which they are named. */
function earliestDays(days: Days): (readonly [string, string])[] {
  return Object.entries(days)
    .filter((entry): entry is [string, string] => entry[1] !== undefined)
    .sort(([, one], [, other]) => (one < other ? -1 : one > other ? 1 : 0))
}

/** The day of an instant at the place of a stay. */
function wallDay({ wallZone }: Pick<Stay, 'wallZone'>, time: number | undefined) {
  return time === undefined || wallZone === undefined ? undefined : localDay(time, wallZone)
}

/** Of a container all but when somebody was asked. */
function whatIsSaid({ attributes, relationships }: ResourceObject): string {
  const said = Object.entries(attributes ?? {}).filter(
    ([name]) => !/^(?:terminal_checked_at|\w+_last_tracking_request_at)$/.test(name),
  )
  const links = ['shipment', 'pod_terminal', 'pickup_facility'].map((name) => relationships?.[name])
  return JSON.stringify([said, links])
}

/** Past its last free day; unknown if it may still be there. */
function isExposed(stay: Stay): boolean {
  const { state, binding, today } = stay
  if (state === 'overdue' || state === 'out_late') return true
  const isPast = binding !== undefined && today !== undefined && binding < today
  return state === 'unknown' && isInside(stay) && isPast
}

/** The service lists 0 before it has calculated an amount. */
function isCalculated({ amount }: Fee): boolean {
  return amount !== 0
}

/** Its own, else the one that the other fees name where it is only one, else `local`. */
function currencyOf(fee: Fee, fees: readonly Fee[]): string {
  if (fee.currency_code !== null) return fee.currency_code
  const [only, ...others] = currenciesOf(fees)
  return only !== undefined && others.length === 0 ? only : 'local'
}

function currenciesOf(fees: readonly Fee[]): string[] {
  return [...new Set(fees.flatMap(({ currency_code }) => currency_code ?? []))]
}

/** A total that says no currency over lines in several. */
function isUnplaced({ type, currency_code }: Fee, fees: readonly Fee[]): boolean {
  return type === 'total' && currency_code === null && currenciesOf(fees).length > 1
}

type LinesAndTotal = readonly [number | undefined, number | undefined]

/** By currency the sum of the lines and the greatest total, of what can be read. */
function linesAndTotals(fees: readonly Fee[]): Map<string, LinesAndTotal> {
  const found = new Map<string, LinesAndTotal>()
  for (const fee of fees) {
    if (typeof fee.amount !== 'number' || !isCalculated(fee) || isUnplaced(fee, fees)) continue
    const [lines, total] = found.get(currencyOf(fee, fees)) ?? [undefined, undefined]
    found.set(
      currencyOf(fee, fees),
      fee.type === 'total'
        ? [lines, Math.max(total ?? -Infinity, fee.amount)]
        : [sum([lines ?? 0, fee.amount]), total],
    )
  }
  return found
}

function sumsOf(fees: readonly Fee[]): Map<string, number> {
  const amounts = [...linesAndTotals(fees)].map(
    ([currency, [lines, total]]) =>
      [currency, Math.max(lines ?? -Infinity, total ?? -Infinity)] as const,
  )
  return new Map(amounts)
}

function isTotalDifferent(fees: readonly Fee[]): boolean {
  const differ = [...linesAndTotals(fees).values()].some(
    ([lines, total]) => lines !== undefined && total !== undefined && lines !== total,
  )
  return differ || fees.some((fee) => isCalculated(fee) && isUnplaced(fee, fees))
}

/** To the cent. */
function sum(amounts: readonly number[]): number {
  return cents(amounts.reduce((one, other) => one + other, 0))
}

/** Between two values as far as the share is between their places. */
function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other)
  const place = share * (sorted.length - 1)
  const low = sorted[Math.floor(place)]!
  return low + (sorted[Math.ceil(place)]! - low) * (place - Math.floor(place))
}

function numeric(amount: unknown): string | undefined {
  return typeof amount === 'number' ? String(amount) : undefined
}

function isAnother(
  was: { imo: string | null; name: string | null } | undefined,
  is: { imo: string | null; name: string | null } | undefined,
): boolean {
  if (was === undefined || is === undefined) return false
  if (was.imo !== null && is.imo !== null) return was.imo !== is.imo
  if (was.name === null || is.name === null) return false
  return was.name.trim().toUpperCase() !== is.name.trim().toUpperCase()
}

function isTrackingStopped(shipment: ResourceObject | undefined, at: number): boolean {
  if (shipment === undefined) return false
  const hasReason = isSaid(shipment, 'line_tracking_stopped_reason')
  return hasReason || past(shipment, 'line_tracking_stopped_at', at) !== undefined
}

function isRunning(state: string): boolean {
  return ['upcoming', 'due_today', 'overdue'].includes(state)
}

function daysOver({ state, binding, out, today }: Stay): number | undefined {
  if (state === 'out_late') return between(binding, out)
  if (state === 'overdue') return between(binding, today)
  return undefined
}

/** Adds the present value, and ends the previous one if it differs. */
function follow<Value>(stood: Stood<Value>[], value: Value, at: number): void {
  const last = stood.at(-1)
  if (last !== undefined && JSON.stringify(last.value) === JSON.stringify(value)) return
  if (last !== undefined) last.to = at
  stood.push({ value, from: at, to: undefined })
}

function justBefore<Value>(stood: readonly Stood<Value>[], at: number): Value | undefined {
  return stood.find(({ from, to }) => from < at && (to === undefined || to >= at))?.value
}

function during<Value>(stood: readonly Stood<Value>[], from: number, to: number): Value[] {
  return stood
    .filter((one) => one.from < to && (one.to ?? Infinity) > from)
    .map(({ value }) => value)
}

function standing<Value>(stood: readonly Stood<Value>[], at: number): Stood<Value> | undefined {
  return stood.find(({ from, to }) => from <= at && (to === undefined || to > at))
}

function attribute({ attributes }: ResourceObject, name: string): unknown {
  return attributes?.[name]
}

function isSaid(record: ResourceObject, name: string): boolean {
  return (attribute(record, name) ?? null) !== null
}

function text(record: ResourceObject, name: string): string | undefined {
  const value = attribute(record, name)
  return typeof value === 'string' ? value : undefined
}

function moment(record: ResourceObject, name: string): number | undefined {
  const value = text(record, name)
  return value === undefined ? undefined : Date.parse(value)
}

/** An instant that is not after now: what is announced has not happened. */
function past(record: ResourceObject, name: string, at: number): number | undefined {
  const value = moment(record, name)
  return value !== undefined && value <= at ? value : undefined
}

type SentHold = Pick<Hold, 'name' | 'status' | 'description'>

function holdsOf(container: ResourceObject, place: Place): readonly SentHold[] {
  const name = place === 'port' ? 'holds_at_pod_terminal' : 'ind_facility_holds'
  return (attribute(container, name) ?? []) as readonly SentHold[]
}

function feesOf(container: ResourceObject, place: Place): readonly Fee[] {
  const name = place === 'port' ? 'fees_at_pod_terminal' : 'ind_facility_fees'
  return (attribute(container, name) ?? []) as readonly Fee[]
}

/** The older name of a day, which counts where the newer one is not sent. */
const OLDER_NAMES: Readonly<Record<string, string>> = {
  pickup_lfd_line: 'ssl_lfd',
  pickup_lfd_rail: 'ind_facility_lfd_on',
}

function deadline(container: ResourceObject, name: string): unknown {
  const all = attribute(container, 'import_deadlines') as Record<string, unknown> | null | undefined
  const said = all?.[name] ?? attribute(container, OLDER_NAMES[name] ?? name) ?? undefined
  // An object in place of a date: its latest word.
  return typeof said === 'object' ? (said as { current: unknown }).current : said
}

function linked({ relationships }: ResourceObject, name: string): string | undefined {
  const data = (relationships?.[name] as { data?: { id: string } | null } | undefined)?.data
  return data?.id
}

function earliest(...times: readonly (number | undefined)[]): number | undefined {
  return times.filter((time) => time !== undefined).sort((one, other) => one - other)[0]
}

function latest(...times: readonly (number | undefined)[]): number | undefined {
  return times.filter((time) => time !== undefined).sort((one, other) => other - one)[0]
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** The zone that was sent, and whether there is such a one; else that of the place itself. */
function zoneOf(sent: string | undefined, own: string | undefined): Zone {
  return sent === undefined ? [own, false] : [usableZone(sent), usableZone(sent) !== undefined]
}

/** The name, where there is such a zone. */
function usableZone(name: string | undefined): string | undefined {
  if (name === undefined) return undefined
  try {
    localParts(0, name)
    return name
  } catch {
    return undefined
  }
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  let format = formats.get(timeZone)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
    formats.set(timeZone, format)
  }
  return format
}

/** Counts the days of a zone by the clock of another one: for zone data that are too old. */
export function countLike(timeZone: string, other: string): void {
  formats.set(timeZone, formatOf(other))
}

/** Of the calendar and the clock at a place. */
function localParts(time: number, timeZone: string): string {
  return formatOf(timeZone).format(time)
}

function localDay(time: number, timeZone: string): string {
  return localParts(time, timeZone).slice(0, 10)
}

/** The first instant of a day at a place: found from its offset at the midnight of UTC. */
function midnight(day: string, timeZone: string): number {
  const wall = Date.parse(`${day}T00:00:00Z`)
  const offsetAt = (time: number) =>
    Date.parse(`${localParts(time, timeZone).replace(' ', 'T')}Z`) - time
  const near = wall - offsetAt(wall)
  return wall - offsetAt(near)
}

function instant(time: number | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString()
}

function line(...cells: readonly unknown[]): string {
  return JSON.stringify(cells.map((cell) => cell ?? null))
}
