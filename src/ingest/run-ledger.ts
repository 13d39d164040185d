import { ApiUnavailableError, IncompleteRunError, type ApiAuthError } from '../base/errors.js'
import type { RecordIdentity } from '../source/jsonapi/raw-record.js'
import {
  createStreamCounts,
  type ShownBy,
  type StreamCounts,
  type StreamState,
} from '../warehouse/bookkeeping/sync-runs.js'
import type { StreamOutcome } from '../warehouse/connection/tables.js'
import type { ListedTypes } from '../warehouse/bookkeeping/checkpoints.js'

/** So many bad answers in a row to reads of one record each are not the fault of the records. */
const SEVERAL = 3

export type CountsDelta = Partial<StreamCounts>

/** A stream or step that did not end complete, and why. */
export interface StreamFailure {
  readonly stream: string
  readonly error: Error
}

/**
 * The counts and outcomes of a run, per stream. A batch asks for the states as they will be
 * (`preview`) and writes them in its transaction; only after the commit are they added, so that the
 * ledger never says more than the database.
 */
export class RunLedger {
  readonly #streams = new Map<
    string,
    { counts: StreamCounts; outcome: StreamOutcome; detail: string | null; shownBy?: ShownBy }
  >()

  /** They make the run incomplete or failed. */
  readonly failures: StreamFailure[] = []

  /** Records that passes over whole lists showed, by stream; not of a resumed one. */
  readonly wholePasses = new Map<string, number>()

  readonly #listed = new Map<string, { pages: number; types: ListedTypes | undefined }>()

  /**
   * The reason why the account may not see the positions of vessels, once the service has given it:
   * they are not requested again.
   */
  positionsRefusal: ApiAuthError | undefined

  #unavailableInARow = 0

  /**
   * Notes how a read of one record ended; one record that fails is not an outage. Returns true
   * with the one that makes it look like one.
   */
  noteRead(thrown?: unknown): boolean {
    this.#unavailableInARow =
      thrown instanceof ApiUnavailableError ? this.#unavailableInARow + 1 : 0
    return this.#unavailableInARow === SEVERAL
  }

  /** So many records in a row could not be read that the service itself must be in trouble. */
  get isServiceFailing(): boolean {
    return this.#unavailableInARow >= SEVERAL
  }

  /** Streams that are not to be trusted although they are read to their end, and why. */
  readonly distrusted: { readonly stream: string; readonly why: string }[] = []

  distrust(stream: string, why: string): void {
    const isNoted = this.distrusted.some((one) => one.stream === stream && one.why === why)
    if (!isNoted) this.distrusted.push({ stream, why })
  }

  add(deltas: ReadonlyMap<string, CountsDelta>): void {
    for (const [stream, delta] of deltas) this.count(stream, delta)
  }

  count(stream: string, delta: CountsDelta): void {
    Object.assign(this.#entry(stream).counts, this.#sum(stream, delta))
  }

  preview(deltas: ReadonlyMap<string, CountsDelta>): StreamState[] {
    return [...deltas].map(([stream, delta]) => {
      return { stream, ...this.#entry(stream), counts: this.#sum(stream, delta) }
    })
  }

  /** The mutable counts of a stream, for the API client to count requests in. */
  counter(stream: string): StreamCounts {
    return this.#entry(stream).counts
  }

  conclude(stream: string, outcome: StreamOutcome, detail: string | null = null): void {
    Object.assign(this.#entry(stream), { outcome, detail })
  }

  /** Notes the complete pass that showed a stream. */
  shown(stream: string, shownBy: ShownBy): void {
    this.#entry(stream).shownBy = shownBy
  }

  /** Whether a complete pass over the whole list of a stream was made. */
  isShownWhole(stream: string): boolean {
    return this.#streams.get(stream)?.shownBy?.scope === 'whole'
  }

  /** The pass over one stream showed all of another, too. */
  concludeAs(stream: string, shownWith: string): void {
    const { outcome, detail, shownBy } = this.#entry(shownWith)
    this.conclude(stream, outcome, detail)
    if (shownBy !== undefined) this.shown(stream, shownBy)
  }

  /**
   * Notes the types that the records of an answer give, for a stream that is not read as one list.
   */
  listed(stream: string, records: readonly RecordIdentity[], ownType: string): void {
    const { pages, types } = this.#listed.get(stream) ?? { pages: 0, types: undefined }
    const added = addListedTypes(types, records, ownType)
    this.#listed.set(stream, { pages: pages + 1, types: added })
  }

  /** The types noted by `listed`, per stream of which several pages were read. */
  listedTypes(): ReadonlyMap<string, ListedTypes> {
    return new Map(
      [...this.#listed].flatMap(([stream, { pages, types }]) =>
        types === undefined || pages < SEVERAL ? [] : [[stream, types] as const],
      ),
    )
  }

  /**
   * Streams that took part only through included records take the outcome of the run, and of its
   * passes the one that began first.
   */
  concludeRest(outcome: StreamOutcome): void {
    const entries = [...this.#streams.values()]
    const [first] = entries
      .flatMap(({ shownBy }) => shownBy ?? [])
      .sort((one, two) => Date.parse(one.beganAt) - Date.parse(two.beganAt))
    for (const entry of entries) {
      if (entry.outcome !== 'running') continue
      entry.outcome = outcome
      if (first !== undefined) entry.shownBy ??= first
    }
  }

  /** Whether most records of a stream that the run has fetched so far had no row. */
  isLoading(stream: string): boolean {
    const counts = this.#streams.get(stream)?.counts
    return counts !== undefined && counts.inserted * 2 > counts.fetched
  }

  states(): StreamState[] {
    return [...this.#streams]
      .map(([stream, entry]) => ({ stream, ...entry, counts: { ...entry.counts } }))
      .sort((one, two) => (one.stream < two.stream ? -1 : 1))
  }

  requests(): number {
    return this.states().reduce((sum, { counts }) => sum + counts.requests, 0)
  }

  #entry(stream: string) {
    let entry = this.#streams.get(stream)
    if (entry === undefined) {
      entry = { counts: createStreamCounts(), outcome: 'running', detail: null }
      this.#streams.set(stream, entry)
    }
    return entry
  }

  #sum(stream: string, delta: CountsDelta): StreamCounts {
    const sum = { ...this.#entry(stream).counts }
    for (const [name, count] of Object.entries(delta) as [keyof StreamCounts, number][]) {
      sum[name] += count
    }
    return sum
  }
}

/** Adds to the delta of one stream. */
export function addToDelta(
  deltas: Map<string, CountsDelta>,
  stream: string,
  delta: CountsDelta,
): void {
  const sum: Record<string, number> = { ...deltas.get(stream) }
  for (const [name, count] of Object.entries(delta)) sum[name] = (sum[name] ?? 0) + count
  deltas.set(stream, sum)
}

const NONE: ListedTypes = { isOwnTypeSeen: false, foreign: [] }
const TYPES_NAMED = 3
const SHOWN_LENGTH = 60

/** Adds the types of more records. Records that name no type are left to the quarantine. */
export function addListedTypes(
  before: ListedTypes = NONE,
  records: readonly RecordIdentity[],
  ownType: string,
): ListedTypes {
  const types = records.map(({ type }) => type).filter((type) => typeof type === 'string')
  const foreign = types
    .filter((type) => type !== ownType)
    .map((type) => type.slice(0, SHOWN_LENGTH))
  return {
    isOwnTypeSeen: before.isOwnTypeSeen || types.includes(ownType),
    foreign: [...new Set([...before.foreign, ...foreign])].slice(0, TYPES_NAMED),
  }
}

/**
 * The error for a stream whose records are all of another type, as after a renaming at the service;
 * undefined otherwise. Such a stream proves nothing about our rows, although its answers were good.
 */
export function foreignStreamError(
  stream: string,
  { isOwnTypeSeen, foreign }: ListedTypes,
): IncompleteRunError | undefined {
  if (isOwnTypeSeen || foreign.length === 0) return undefined
  const names = foreign.map((type) => JSON.stringify(type)).join(', ')
  return new IncompleteRunError(
    `every record that came as ${stream} is of another type, ${names}: they are kept, in ` +
      'other_resources where no table is theirs, and no other row was changed. ' +
      'See whether the service renamed the type and a newer version of this program knows it',
  )
}
