import { WarehouseDataError } from '../base/errors.js'
import { stringifyExactJson } from '../jsonapi/exact-json.js'
import type { ResourceIdentifier } from '../jsonapi/document.js'
import { resourceOfType } from '../resources/index.js'
import type { FlatRecord } from '../resources/resource.js'
import type { Checkpoint } from '../warehouse/bookkeeping/checkpoints.js'
import type { QuarantinedRecord } from '../warehouse/bookkeeping/quarantined-records.js'
import {
  EVENT_LIST_ENTRY,
  postponeRefetch,
  type ClaimedRefetch,
} from '../warehouse/bookkeeping/refetch-queue.js'
import type { Sighting } from '../warehouse/rows/sighting.js'
import type { TransportEventList } from '../warehouse/rows/transport-event-lists.js'
import {
  writeBatch,
  type BatchCounts,
  type ComparedSighting,
} from '../warehouse/rows/write-batch.js'
import { isMetOften } from './fingerprint-memory.js'
import { retryWarehouse } from './retry-warehouse.js'
import type { Run } from './run.js'
import { addToDelta, type CountsDelta } from './run-ledger.js'

/** What is to be written in one transaction, and its counts so far. */
export interface Draft {
  readonly compared: ComparedSighting[]
  readonly doubtful: readonly ResourceIdentifier[]
  readonly eventLists: TransportEventList[]
  readonly quarantined: QuarantinedRecord[]
  readonly deltas: Map<string, CountsDelta>
  readonly occasion: Occasion
}

/**
 * What it takes to store an answer: a run, or a worker beside the runs, which has no run row and
 * writes for the webhooks.
 */
export interface StoringRun extends Omit<Run, 'syncRunId' | 'onProgress'> {
  readonly syncRunId: number | null
  /** What told us, for the histories; `sync` unless told otherwise. */
  readonly source?: 'sync' | 'webhook'
}

type Refetched = ResourceIdentifier & Partial<ClaimedRefetch>

/** What else the last transaction of an intake settles. */
export interface Occasion {
  /** Entries of the refetch queue that are answered. */
  readonly refetched?: readonly Refetched[]
  /** Complete lists of transport events that the answer holds. */
  readonly eventLists?: readonly TransportEventList[]
  /** Where the pass stands then. */
  readonly checkpoint?: Checkpoint
}

/**
 * Writes a draft in one transaction, and nothing at all when there is nothing in it. A record that
 * PostgreSQL refuses is set aside, and everything else lands: then in several transactions, of
 * which the last one settles the occasion; but each answered entry of the refetch queue goes with
 * its record.
 */
export async function writeDraft(run: StoringRun, draft: Draft): Promise<void> {
  const again = answeredInDoubt(draft)
  if (again.length > 0) {
    await writeDraft(run, withoutAnswers(draft, again))
    for (const { type } of again) run.ledger.distrust(streamOf(type), OLDER_THAN_ROWS)
    // The same clock would put it in doubt again at once.
    for (const entry of again) {
      await retryWarehouse(run, () =>
        postponeRefetch(run.warehouse, entry, OLDER_THAN_ROWS, LATER_MS),
      )
    }
    return
  }
  const { compared, eventLists, quarantined, deltas, occasion, doubtful } = draft
  const isNothingNew =
    compared.length === 0 &&
    doubtful.length === 0 &&
    eventLists.length === 0 &&
    quarantined.length === 0
  if (isNothingNew && Object.keys(occasion).length === 0) {
    run.ledger.add(deltas)
    return
  }
  const references = run.memory.unknownReferences(
    compared.flatMap(({ sighting }) => sighting.record.references),
  )
  const { syncRunId } = run
  try {
    const batch = {
      syncRunId,
      source: run.source ?? 'sync',
      isConfirming: run.source === 'webhook',
      isThorough: run.isThorough === true,
      sightings: compared,
      doubtful,
      eventLists,
      quarantined,
      references,
      reachFailpoint: run.reachFailpoint,
      ...occasion,
    }
    const written = await retryWarehouse(run, () =>
      // A batch that only moves the checkpoint leaves the counts to the end of the run.
      writeBatch(run.warehouse, batch, (counts) =>
        isNothingNew ? [] : run.ledger.preview(withWritten(deltas, counts, compared)),
      ),
    )
    run.ledger.add(withWritten(deltas, written, compared))
    run.reachFailpoint('after_commit')
  } catch (thrown) {
    if (!(thrown instanceof WarehouseDataError) || compared.length === 0) throw thrown
    await writeAround(run, draft, thrown)
    return
  }
  run.memory.rememberReferences(references)
  run.memory.remember(
    recordsOf(compared.map(({ sighting }) => sighting)).filter(({ resource }) =>
      isMetOften(resource.stream),
    ),
  )
}

/**
 * Why a stream is not to be trusted whose records are older than the rows that they differ from.
 */
export const OLDER_THAN_ROWS =
  'records differ from rows that are stamped later than they were read: a clock was wrong. Check the clocks of the database and of this machine, then run `tracking-sync backfill`'
const LATER_MS = 600_000

/** Entries of the refetch queue whose answer differs from its row and is older. */
function answeredInDoubt({ doubtful, occasion: { refetched = [] } }: Draft): Refetched[] {
  return refetched.filter((entry) =>
    doubtful.some(({ type, id }) => type === entry.type && id === entry.id),
  )
}

function streamOf(type: string): string {
  return type === EVENT_LIST_ENTRY ? 'transport_events' : resourceOfType(type).stream
}

function withoutAnswers(draft: Draft, entries: readonly Refetched[]): Draft {
  const isIn = (one: ResourceIdentifier): boolean =>
    entries.some(({ type, id }) => type === one.type && id === one.id)
  const { refetched = [], ...occasion } = draft.occasion
  return {
    ...draft,
    doubtful: draft.doubtful.filter((one) => !isIn(one)),
    occasion: { ...occasion, refetched: refetched.filter((one) => !isIn(one)) },
  }
}

/**
 * PostgreSQL refused a value that our own rules let through. The batch is halved until the record
 * that holds it is found and set aside; all others land.
 */
async function writeAround(
  run: StoringRun,
  draft: Draft,
  refusal: WarehouseDataError,
): Promise<void> {
  const { compared } = draft
  const [culprit] = compared
  if (compared.length === 1 && culprit !== undefined) {
    const { record } = culprit.sighting
    const { stream, type } = record.resource
    const deltas = new Map(draft.deltas)
    addToDelta(deltas, stream, { quarantined: 1 })
    const quarantined = [
      ...draft.quarantined,
      {
        stream,
        resourceType: type,
        recordId: record.key,
        reason: refusal.message,
        pointer: '',
        payload: stringifyExactJson({ values: record.values, unmapped: record.unmapped }),
        source: 'refused by the database',
      },
    ]
    const { refetched = [], ...occasion } = draft.occasion
    const isRefused = isOf(record)
    const answered = refetched.filter((entry) => !isRefused(entry))
    const rest = { ...occasion, ...(answered.length === 0 ? {} : { refetched: answered }) }
    await writeDraft(run, { ...draft, compared: [], deltas, quarantined, occasion: rest })
    for (const entry of refetched.filter(isRefused)) {
      await postponeRefetch(run.warehouse, entry, refusal.message)
    }
    return
  }
  const middle = Math.ceil(compared.length / 2)
  const rest = {
    doubtful: [],
    eventLists: [],
    quarantined: [],
    deltas: new Map<string, CountsDelta>(),
    occasion: {},
  }
  const first = compared.slice(0, middle)
  // Each entry of the queue goes with its record.
  const { refetched, ...occasion } = draft.occasion
  const isInFirst = (entry: Refetched): boolean =>
    first.some(({ sighting }) => isOf(sighting.record)(entry))
  const ofFirst = refetched?.filter(isInFirst)
  const ofSecond = refetched?.filter((entry) => !isInFirst(entry))
  await writeDraft(run, {
    ...rest,
    compared: first,
    occasion: ofFirst === undefined ? {} : { refetched: ofFirst },
  })
  await writeDraft(run, {
    ...draft,
    compared: compared.slice(middle),
    occasion: ofSecond === undefined ? occasion : { ...occasion, refetched: ofSecond },
  })
}

function isOf({ resource, key }: FlatRecord): (entry: Refetched) => boolean {
  return ({ type, id }) => type === resource.type && id === key
}

function withWritten(
  deltas: ReadonlyMap<string, CountsDelta>,
  written: ReadonlyMap<string, BatchCounts>,
  compared: readonly ComparedSighting[],
): Map<string, CountsDelta> {
  const sum = new Map(deltas)
  for (const [stream, counts] of written) addToDelta(sum, stream, { ...counts })
  for (const { resource, coercions } of recordsOf(compared.map(({ sighting }) => sighting))) {
    if (coercions !== null) addToDelta(sum, resource.stream, { coerced: 1 })
  }
  return sum
}

export function recordsOf(sightings: readonly Sighting[]): FlatRecord[] {
  return sightings.map(({ record }) => record)
}
