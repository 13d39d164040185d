import {
  ApiContractError,
  ApiNotFoundError,
  ConfigError,
  IncompleteRunError,
  isAboutOneRecord,
  toError,
  type ConfigProblem,
} from '../base/errors.js'
import { containers, shipments } from '../source/records/index.js'
import type { Resource } from '../source/records/resource.js'
import { fetchTransportEvents } from '../ingest/fetch-transport-events.js'
import { COMPLETE_WHEN_INCLUDED, mergeIntakes, shownKeys } from '../ingest/intake.js'
import { readById } from '../ingest/read-by-id.js'
import { readOptions } from './read-custom-fields.js'
import { readEventCatalogue, readQueued } from './read-unlisted.js'
import { attempt, executeRun, type RunReport, type SyncDependencies } from './run-sync.js'
import type { Run } from '../ingest/run.js'
import { ingestAnswer } from '../ingest/ingest-pages.js'
import { walkList } from './walk-lists.js'

/** The selection of a backfill; with all three empty it reads everything. */
export interface Narrowing {
  /** Streams with a list of their own. */
  readonly streams: readonly string[]
  readonly shipmentIds: readonly string[]
  readonly containerIds: readonly string[]
}

const WALKS = {
  shipments: (run) => walkList(run, 'shipments'),
  containers: (run) => walkList(run, 'containers'),
  tracking_requests: (run) => walkList(run, 'tracking_requests'),
  custom_field_definitions: (run) => walkList(run, 'custom_field_definitions'),
  custom_field_options: readOptions,
  custom_fields: (run) => walkList(run, 'custom_fields'),
  webhook_event_categories: readEventCatalogue,
} as const satisfies Record<string, (run: Run) => Promise<unknown>>

type WalkedStream = keyof typeof WALKS

/** Throws ConfigError for streams that cannot be read alone. */
export function checkNarrowing({ streams }: Narrowing): readonly WalkedStream[] {
  const walked = Object.keys(WALKS) as WalkedStream[]
  const problems = streams
    .filter((stream) => !walked.some((name) => name === stream))
    .map((stream): ConfigProblem => {
      const problem =
        `names no list; there are: ${walked.join(', ')}. Transport events come with their ` +
        'containers, ports, terminals and vessels with what points to them'
      return { setting: `--stream ${stream}`, problem }
    })
  if (problems.length > 0) throw new ConfigError(problems)
  return walked.filter((name) => streams.includes(name))
}

/**
 * Reads some lists, or some shipments and containers by id with their transport events, even if the
 * warehouse has them; then the queue, as in every run. An unknown id makes the run incomplete; the
 * others are stored. Throws ConfigError before the first request for an unknown stream.
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
      for (const stream of streams) await attempt<unknown>(run, stream, () => WALKS[stream](run))
      for (const id of shipmentIds) await readOne(run, shipments, id)
      for (const id of containerIds) await readOne(run, containers, id)
      await attempt(run, 'references', () => readQueued(run))
    },
  )
}

/** Stores a record, the containers that it links and their transport events. */
async function readOne(run: Run, { stream, type }: Resource, id: string): Promise<void> {
  run.source.signal.throwIfAborted()
  try {
    const { intake } = await readById(run, { type, id }, COMPLETE_WHEN_INCLUDED)
    if (!shownKeys(intake, stream).includes(id)) {
      throw new ApiContractError('the answer does not hold the record', { pointer: '/data' })
    }
    const intakes = [intake]
    for (const linked of intake.containerIds.get(id) ?? []) {
      const container = { type: containers.type, id: linked }
      intakes.push((await readById(run, container, COMPLETE_WHEN_INCLUDED)).intake)
    }
    const keys = new Set(intakes.flatMap((one) => shownKeys(one, containers.stream)))
    for (const events of await fetchTransportEvents(run, [...keys])) {
      intakes.push(events.intake)
    }
    await ingestAnswer(run, mergeIntakes(intakes))
  } catch (thrown) {
    if (run.source.signal.aborted || !isAboutOneRecord(thrown)) throw thrown
    const message =
      thrown instanceof ApiNotFoundError
        ? `the service has no ${type} ${id}: check the id, or whether it was deleted`
        : `the service does not show ${type} ${id}: ${toError(thrown).message}`
    const error = new IncompleteRunError(message, { cause: thrown })
    run.notes.ledger.failures.push({ stream, error })
  }
}
