import {
  ApiNotFoundError,
  ConfigError,
  IncompleteRunError,
  type ConfigProblem,
} from '../base/errors.js'
import type { ResourceIdentifier } from '../jsonapi/document.js'
import { containers, shipments } from '../resources/index.js'
import { linkedIds } from '../resources/flatten.js'
import type { Resource } from '../resources/resource.js'
import { fetchTransportEvents } from '../ingest/fetch-transport-events.js'
import { mergeIntakes, takeIn, type Intake } from '../ingest/intake.js'
import { readById } from '../ingest/read-by-id.js'
import { readEventCatalogue, readQueued } from './read-unlisted.js'
import { attempt, executeRun, type RunReport, type SyncDependencies } from './run-sync.js'
import type { Run } from '../ingest/run.js'
import { storeIntake } from '../ingest/store-intake.js'
import { COMPLETE_WHEN_INCLUDED } from './take-pages.js'
import { walkContainers, walkShipments, walkTrackingRequests } from './walk-lists.js'

/** What a backfill is narrowed to; with all three empty it is not narrowed. */
export interface Narrowing {
  /** Streams with a list of their own. */
  readonly streams: readonly string[]
  readonly shipmentIds: readonly string[]
  readonly containerIds: readonly string[]
}

const WALKS = {
  shipments: walkShipments,
  containers: walkContainers,
  tracking_requests: walkTrackingRequests,
  webhook_event_categories: readEventCatalogue,
} as const satisfies Record<string, (run: Run) => Promise<unknown>>

type WalkedStream = keyof typeof WALKS

/** Throws ConfigError for streams that cannot be walked alone. */
export function checkNarrowing({ streams }: Narrowing): readonly WalkedStream[] {
  const walked = Object.keys(WALKS) as WalkedStream[]
  const problems = streams
    .filter((stream) => !walked.some((name) => name === stream))
    .map((stream): ConfigProblem => {
      const problem = `names no list; there are: ${walked.join(', ')}. Transport events come with their containers, ports, terminals and vessels with what points to them`
      return { setting: `--stream ${stream}`, problem }
    })
  if (problems.length > 0) throw new ConfigError(problems)
  return walked.filter((name) => streams.includes(name))
}

/**
 * Reads some lists, or some shipments and containers by id, with their transport events, whatever the warehouse has of them. Missing
 * references are read at the end, as in every run. An id that the service does not have makes the run incomplete; the others land. Throws
 * ConfigError before anything is asked when a stream is unknown.
 */
export async function runNarrowedBackfill(
  narrowing: Narrowing,
  dependencies: SyncDependencies,
): Promise<RunReport> {
  const streams = checkNarrowing(narrowing)
  const { shipmentIds, containerIds } = narrowing
  return executeRun(
    { command: 'backfill', narrowing: { narrowing } },
    dependencies,
    async (run) => {
      for (const stream of streams) {
        await attempt<unknown>(run, stream, () => WALKS[stream](run))
      }
      for (const id of shipmentIds) await readRecord(run, shipments, id)
      for (const id of containerIds) await readRecord(run, containers, id)
      await attempt(run, 'references', () => readQueued(run))
    },
  )
}

async function readRecord(run: Run, resource: Resource, id: string): Promise<void> {
  run.signal.throwIfAborted()
  const { stream, type } = resource
  try {
    const intakes = [await readIntake(run, { type, id })]
    for (const containerId of linkedContainerIds(intakes[0])) {
      intakes.push(await readIntake(run, { type: 'container', id: containerId }))
    }
    const read = mergeIntakes(intakes)
    const containerKeys = (read.sightings.get(containers.stream) ?? []).map(
      ({ record }) => record.key,
    )
    const fetched = await fetchTransportEvents(run, [...new Set(containerKeys)])
    await storeIntake(run, mergeIntakes([read, ...fetched.flatMap(({ intake }) => intake ?? [])]))
  } catch (thrown) {
    if (!(thrown instanceof ApiNotFoundError)) throw thrown
    const message = `the service has no ${type} ${id}: check the id, or see whether it was deleted there`
    run.ledger.failures.push({ stream, error: new IncompleteRunError(message, { cause: thrown }) })
  }
}

interface ReadIntake extends Intake {
  readonly linkedContainerIds: readonly string[]
}

async function readIntake(run: Run, { type, id }: ResourceIdentifier): Promise<ReadIntake> {
  const { document, observedAt } = await readById(run, { type, id })
  const stream = type === 'shipment' ? shipments.stream : containers.stream
  const intake = takeIn(document, {
    stream,
    source: `/${stream}/${id}`,
    observedAt,
    completeTypes: COMPLETE_WHEN_INCLUDED,
  })
  const [record] = document.data as readonly {
    relationships?: { containers?: { data?: unknown } }
  }[]
  return { ...intake, linkedContainerIds: linkedIds(record?.relationships?.containers?.data) ?? [] }
}

function linkedContainerIds(shipment: ReadIntake | undefined): readonly string[] {
  return shipment?.linkedContainerIds ?? []
}
