import type { ApiAnswer } from '../api/call-runner.js'
import { ApiAuthError, ApiContractError, ApiNotFoundError } from '../errors.js'
import type { ResourceIdentifier } from '../jsonapi/document.js'
import { loadDueRefetches, postponeRefetch } from '../warehouse/refetch-queue.js'
import { loadLiveKeys } from '../warehouse/live-keys.js'
import { resourceOfType, vessels } from '../resources/index.js'
import { takeIn } from './intake.js'
import { readById } from './read-by-id.js'
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
  const { stream } = resourceOfType(entry.type)
  const intake = takeIn(answer.document, {
    stream,
    source: `/${stream}/${entry.id}`,
    observedAt: answer.observedAt,
    completeTypes: NOTHING_COMPLETE,
  })
  const sightings = intake.sightings.get(stream) ?? []
  if (sightings.some(({ record }) => record.key === entry.id)) {
    await storeIntake(run, intake, { refetched: entry })
    return
  }
  // The record was set aside, or another one came. Nothing points to it anew, so only the queue remembers that it is missing.
  await storeIntake(run, intake)
  await postponeRefetch(run.warehouse, entry, 'the answer does not hold the record, see quarantine')
}

async function readOrPostpone(run: Run, entry: ResourceIdentifier): Promise<ApiAnswer | undefined> {
  try {
    return await readById(run, entry)
  } catch (thrown) {
    const isGone = thrown instanceof ApiNotFoundError || thrown instanceof ApiContractError
    const isForbidden = thrown instanceof ApiAuthError && thrown.context.status === 403
    if (!isGone && !isForbidden) throw thrown
    await postponeRefetch(run.warehouse, entry, thrown.message)
    run.logger.warn('a reference cannot be read', { ...entry, error: thrown })
    return undefined
  }
}
