import type { ApiAnswer } from '../api/call-runner.js'
import type { TrackingService } from '../api/endpoints.js'
import { ApiAuthError, ApiContractError, ApiNotFoundError } from '../errors.js'
import type { ResourceIdentifier } from '../jsonapi/document.js'
import { loadDueRefetches, postponeRefetch } from '../warehouse/refetch-queue.js'
import { loadLiveKeys } from '../warehouse/live-keys.js'
import { resourceOfType, vessels } from '../resources/index.js'
import { takeIn } from './intake.js'
import type { Run } from './run.js'
import { storeIntake } from './store-intake.js'

const NOTHING_COMPLETE: ReadonlySet<string> = new Set()
const ENTRIES_PER_LOAD = 100

/**
 * Reads by id what rows point to and the warehouse does not have: ports, terminals, vessels. An account knows a few hundred of them,
 * each is read once. One that is gone or not ours to see is asked for again no sooner than in a day.
 */
export async function readMissingReferences(run: Run): Promise<void> {
  for (;;) {
    const entries = await loadDueRefetches(run.warehouse, ENTRIES_PER_LOAD)
    if (entries.length === 0) return
    for (const entry of entries) {
      await readReference(run, entry)
      run.signal.throwIfAborted()
    }
  }
}

/** Reads the position history of every vessel: one request each. */
export async function readVesselPositions(run: Run): Promise<void> {
  for (const id of await loadLiveKeys(run.warehouse, vessels)) {
    await readReference(run, { type: 'vessel', id })
    run.signal.throwIfAborted()
  }
}

async function readReference(run: Run, entry: ResourceIdentifier): Promise<void> {
  const answer = await readOrPostpone(run, entry)
  if (answer === undefined) return
  const intake = takeIn(answer.document, {
    stream: streamOf(entry.type),
    source: `/${streamOf(entry.type)}/${entry.id}`,
    observedAt: answer.observedAt,
    completeTypes: NOTHING_COMPLETE,
  })
  const sightings = intake.sightings.get(streamOf(entry.type)) ?? []
  if (sightings.some(({ record }) => record.key === entry.id)) {
    await storeIntake(run, intake, entry)
    return
  }
  // The record was set aside, or another one came. Nothing points to it anew, so only the queue remembers that it is missing.
  await storeIntake(run, intake)
  await postponeRefetch(run.warehouse, entry, 'the answer does not hold the record, see quarantine')
}

async function readOrPostpone(run: Run, entry: ResourceIdentifier): Promise<ApiAnswer | undefined> {
  const counter = run.ledger.counter(streamOf(entry.type))
  const options = { signal: run.signal, counter }
  try {
    return await read(run.service, entry, options, run.settings.vesselPositions)
  } catch (thrown) {
    const isGone = thrown instanceof ApiNotFoundError || thrown instanceof ApiContractError
    const isForbidden = thrown instanceof ApiAuthError && thrown.context.status === 403
    if (!isGone && !isForbidden) throw thrown
    await postponeRefetch(run.warehouse, entry, thrown.message)
    run.logger.warn('a reference cannot be read', { ...entry, error: thrown })
    return undefined
  }
}

function read(
  service: TrackingService,
  { type, id }: ResourceIdentifier,
  options: { readonly signal: AbortSignal; readonly counter: { requests: number } },
  showPositions: boolean,
): Promise<ApiAnswer> {
  switch (type) {
    case 'port':
      return service.getPort(id, options)
    case 'metro_area':
      return service.getMetroArea(id, options)
    case 'terminal':
      return service.getTerminal(id, options)
    case 'rail_terminal':
      return service.getRailTerminal(id, options)
    case 'vessel':
      return service.getVessel(id, { ...options, showPositions })
    case 'shipment':
      return service.getShipment(id, options)
    case 'container':
      return service.getContainer(id, options)
    case 'tracking_request':
      return service.getTrackingRequest(id, options)
    default:
      throw new ApiContractError(`records of type ${type} cannot be read by id`, {
        pointer: '/type',
      })
  }
}

function streamOf(type: string): string {
  return resourceOfType(type).stream
}
