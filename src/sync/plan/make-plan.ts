import { estimateDistinct } from './estimate-distinct.js'

/** What the first page of a list says about all of it. */
export interface ListObservation {
  readonly stream: string
  /** Pages there are; undefined when the service names neither a total nor a last page. */
  readonly pages: number | undefined
  readonly total: number | undefined
  /** Records the first page held: the size in force when more pages follow. */
  readonly pageSize: number
  /**
   * Pages of what can still change, where a sync reads no more than that; undefined where it reads
   * all.
   */
  readonly changingPages?: number | undefined
}

/**
 * Sampled containers without a row and with one, and how many of them need a read of their
 * transport events.
 */
export interface ContainerSample {
  readonly added: number
  readonly addedToFetch: number
  readonly known: number
  readonly knownToFetch: number
}

/** What there is to say about reading transport events one container at a time. */
export interface EventObservation {
  /** Containers at the source, and live in the warehouse. */
  readonly total: number
  readonly live: number
  /**
   * The containers of the first pages, where the newest are and most changes: they stand for
   * themselves only.
   */
  readonly firstPages: ContainerSample
  /** Others, which stand for all the rest. */
  readonly spread: ContainerSample
  /** Requests a read takes; above 1 where events fill several pages. */
  readonly requestsPerFetch: number
}

/**
 * References without a row that records to be written point to, per sampled shipment, as `type id`.
 */
export interface ReferenceSample {
  readonly units: readonly ReadonlySet<string>[]
  /** Shipments that a run would write, in all. */
  readonly unitsInAll: number
}

export interface PlanObservations {
  readonly lists: readonly ListObservation[]
  readonly areContainersIncluded: boolean
  readonly events: EventObservation
  /**
   * Containers whose transport events a sync reads again to be sure; 0 where events come included.
   */
  readonly transportEventChecks: number
  readonly referenceSamples: readonly ReferenceSample[]
  /** A sync reads the whole lists once in so many hours. */
  readonly fullSyncHours?: number
  /** Entries of the refetch queue that are due. */
  readonly dueRefetches: number
  /** Vessels whose positions are read; undefined when the setting is off. */
  readonly vesselsWithPositions: number | undefined
  readonly isWarehouseEmpty: boolean
  readonly ratePerMinute: number
  readonly requestsMade: number
}

export interface PlanStep {
  readonly step: string
  readonly backfill: number
  readonly sync: number
  readonly why: string
}

export interface Plan {
  readonly steps: readonly PlanStep[]
  readonly backfill: PlanTotal
  readonly sync: PlanTotal
  readonly ratePerMinute: number
  /** Requests that planning itself made. */
  readonly requestsMade: number
  /** What could not be known before the run. */
  readonly unknowns: readonly string[]
}

export interface PlanTotal {
  readonly requests: number
  /** At the configured rate; a run that fits into one minute's allowance takes less. */
  readonly minutes: number
}

/**
 * What a backfill and a sync cost, from what was observed. The lists are exact as long as nothing
 * arrives or goes; reads of single records are estimated from samples. Over a warehouse that has
 * rows already a backfill costs like a sync. Pure.
 */
export function estimatePlan(observations: PlanObservations): Plan {
  const { fullSyncHours } = observations
  const lists = observations.lists.map((list) => planList(list, fullSyncHours))
  const vessels = observations.vesselsWithPositions
  const steps = [
    ...lists,
    ...(observations.areContainersIncluded ? [CONTAINERS_INCLUDED] : []),
    planEvents(observations),
    ...planChecks(observations),
    { step: 'webhook_event_categories', backfill: 1, sync: 0, why: 'the catalogue, once' },
    planReferences(observations),
    ...(vessels === undefined ? [] : [planPositions(vessels)]),
  ]
  const total = (command: 'backfill' | 'sync'): PlanTotal => {
    const requests = steps.reduce((sum, step) => sum + step[command], 0)
    return { requests, minutes: Math.round((requests * 10) / observations.ratePerMinute) / 10 }
  }
  return {
    steps,
    backfill: total('backfill'),
    sync: total('sync'),
    ratePerMinute: observations.ratePerMinute,
    requestsMade: observations.requestsMade,
    unknowns: findUnknowns(observations),
  }
}

const CONTAINERS_INCLUDED: PlanStep = {
  step: 'containers',
  backfill: 0,
  sync: 0,
  why: 'they come included with their shipments',
}

function planList(list: ListObservation, fullSyncHours: number | undefined): PlanStep {
  const { stream, pages, total, pageSize, changingPages } = list
  const requests = pages ?? 1
  const size = `${pageSize} a page`
  const why =
    pages === undefined
      ? `at least: the service does not say how many there are, ${size}`
      : pages === 1
        ? 'all on one page'
        : `${total ?? 'an unknown number of'} records, ${size} as they arrive`
  const sync = changingPages ?? requests
  if (sync >= requests) return { step: stream, backfill: requests, sync: requests, why }
  const partly = `a sync reads those that can still change, and all of them every ${fullSyncHours} hours`
  return { step: stream, backfill: requests, sync, why: `${why}; ${partly}` }
}

function planEvents({ events, isWarehouseEmpty }: PlanObservations): PlanStep {
  const { total, live, firstPages: first, spread } = events
  const added = Math.max(0, total - live)
  const known = Math.min(total, live)
  const ofAdded =
    first.addedToFetch +
    Math.max(0, added - first.added) * shareOf(spread.addedToFetch, spread.added)
  const ofKnown =
    first.knownToFetch +
    Math.max(0, known - first.known) * shareOf(spread.knownToFetch, spread.known)
  const requests = Math.round((ofAdded + ofKnown) * events.requestsPerFetch)
  const why =
    requests === 0
      ? 'they come included, or no list of events differs in the sample'
      : `one read for each container whose list of events is new: about ${Math.round(ofAdded)} of ${added} new containers, ${Math.round(ofKnown)} of ${known} known ones`
  return {
    step: 'transport_events',
    backfill: requests,
    sync: isWarehouseEmpty ? 0 : requests,
    why,
  }
}

function planChecks({ transportEventChecks, events }: PlanObservations): PlanStep[] {
  const checked = Math.min(transportEventChecks, events.total)
  if (checked === 0) return []
  const why =
    'known containers whose events are read again to be sure: the setting TRACKING_EVENT_CHECKS_PER_SYNC'
  const sync = Math.round(checked * events.requestsPerFetch)
  return [{ step: 'transport event checks', backfill: 0, sync, why }]
}

function shareOf(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole
}

function planReferences(observations: PlanObservations): PlanStep {
  const { referenceSamples, dueRefetches, isWarehouseEmpty } = observations
  const seen = new Set(referenceSamples.flatMap(({ units }) => units.flatMap((unit) => [...unit])))
  const types = [...new Set([...seen].map(typeOf))].sort()
  let expected = 0
  for (const type of types) {
    const observed = [...seen].filter((reference) => typeOf(reference) === type).length
    const estimates = referenceSamples.map(({ units, unitsInAll }) => {
      const ofType = units.map((unit) => new Set([...unit].filter((one) => typeOf(one) === type)))
      return estimateDistinct(ofType, unitsInAll).expected
    })
    // Samples overlap: what one of them shows, another may have missed.
    expected += Math.max(observed, ...estimates)
  }
  const requests = Math.round(expected) + dueRefetches
  const kinds = types.length === 0 ? 'ports, terminals and vessels' : types.join(', ')
  const why =
    requests === 0
      ? 'every port, terminal and vessel of the sample is known or comes included'
      : `${kinds} without a row, each read once: ${seen.size} seen in the sample, the rest as the sample levels off${dueRefetches === 0 ? '' : `, ${dueRefetches} queued`}`
  return { step: 'references', backfill: requests, sync: isWarehouseEmpty ? 0 : requests, why }
}

function typeOf(reference: string): string {
  return reference.slice(0, reference.indexOf(' '))
}

function planPositions(vessels: number): PlanStep {
  const why = 'positions of every known vessel: the setting TRACKING_VESSEL_POSITIONS is on'
  return { step: 'vessel positions', backfill: vessels, sync: vessels, why }
}

function findUnknowns(observations: PlanObservations): string[] {
  const unknowns = observations.lists
    .filter(({ pages }) => pages === undefined)
    .map(({ stream }) => `how many ${stream} there are: the service does not say`)
  unknowns.push(
    'how many containers change until the run: each one whose list of transport events changes costs a request where events do not come included',
  )
  if (observations.isWarehouseEmpty) {
    unknowns.push(
      'the sync is one after the backfill over an unchanged account; a sync now would be a backfill',
    )
  }
  return unknowns
}
