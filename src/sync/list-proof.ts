import { SeenKeys } from '../base/seen-keys.js'
import type { RawPage } from '../source/client/list-pages.js'
import type { Intake } from '../ingest/intake.js'
import { valueIn } from '../source/records/resource.js'
import type { PassList, TallyState } from '../warehouse/bookkeeping/checkpoints.js'

const EMPTY_TALLY: TallyState = {
  pages: 0,
  rows: 0,
  distinct: 0,
  moves: 0,
  firstTotal: null,
  lastTotal: null,
  isTotalSteady: true,
  firstRows: 0,
  lastRows: 0,
  isEven: true,
}

/** Most walks over a list until it is proven to be shown whole. */
const MOST_WALKS = 3

/** When records entered a list, on the source's clock, in ms; by id, if a page tells it. */
export interface Dates {
  /** The latest time at which the record entered the list. */
  readonly born: ReadonlyMap<string, number>
  /** When it last changed, and so may have moved. */
  readonly changed: ReadonlyMap<string, number>
}

/**
 * The dates of the records of a page. A record that was recognized by its bytes is older than the
 * walk. A list of changes gains a record when it changes.
 */
export function datesOf(
  { sightings }: Pick<Intake, 'sightings'>,
  { stream, scope }: Pick<PassList, 'stream' | 'scope'>,
): Dates {
  const created = new Map<string, number>()
  const changed = new Map<string, number>()
  for (const sighting of sightings.get(stream) ?? []) {
    const { key } = sighting
    const [createdAt = NaN, updatedAt = NaN] = ['created_at', 'updated_at'].map((column) =>
      Date.parse(valueIn(sighting, column) ?? ''),
    )
    if (!Number.isNaN(createdAt)) created.set(key, createdAt)
    const changedAt = Number.isNaN(updatedAt) ? createdAt : updatedAt
    if (!Number.isNaN(changedAt)) changed.set(key, changedAt)
  }
  return { born: scope === 'changing' ? changed : created, changed }
}

type ProofPage = Pick<RawPage, 'rows' | 'fresh' | 'total' | 'observedAt' | 'number'>

export type Verdict =
  /** This walk and later ones have shown every record that was on the list when it began. */
  | { readonly kind: 'whole'; readonly walk: number }
  | { readonly kind: 'again' }
  | {
      readonly kind: 'short'
      readonly tally: TallyState
      readonly walks: number
      /** The last two walks showed the same records, equally often. */
      readonly isAlike: boolean
      /** And the same total: the list does not move; it is this short. */
      readonly isQuiet: boolean
    }

/** The shortfall of a list that a person has accepted. */
export interface AcceptedShortfall {
  readonly missing: number
  /** The total changes all the time: only the pages count. */
  readonly isTotalIgnored: boolean
}

/** An instant with a known length of the list, or a possible one. */
interface Instant {
  readonly at: number
  length: number | undefined
  /** Records shown since. */
  readonly seen: SeenKeys
  /** How many of these were certainly on the list at this instant. */
  there: number
}

/**
 * Proves that the walks over a list have shown all of it, however it moved in between.
 *
 * A walk alone proves little: a record that leaves shifts another one past us, and one that arrives
 * makes the count right again. So we count records that were on the list at a known instant: they
 * were created before it, or shown before and after it. Once as many have been shown since as the
 * list was long at that instant, every record that stayed on the list has been shown.
 *
 * Two instants have a known length. The first page tells a total; it is believed if the total of
 * the last page equals the rows of that walk. And at the end of a walk the list is as long as its
 * pages: that needs another walk, but no total.
 */
export class ListProof {
  readonly #instants: Instant[] = []
  readonly #tallies: TallyState[] = []
  #resumedAt: number | undefined
  /** Records that only the present walk has shown. */
  #news = 0
  #lastPageAt = -Infinity

  /** Of an interrupted walk its beginning and its tally are known, but not the keys it showed. */
  beginWalk({
    startedAt,
    tallyBefore = EMPTY_TALLY,
  }: {
    readonly startedAt?: Date | undefined
    readonly tallyBefore?: TallyState | undefined
  } = {}): void {
    // A walk that was cut off within its first page begins again.
    this.#resumedAt = tallyBefore.pages === 0 ? undefined : startedAt?.getTime()
    this.#news = 0
    this.#tallies.push(tallyBefore)
  }

  /** A resumed walk did not fit: the list is read from its first page. */
  discardWalk(): void {
    this.#tallies.pop()
    this.#instants.length = Math.min(this.#instants.length, this.#tallies.length)
  }

  /** The page at which a walk was resumed has changed: earlier records may have moved. */
  noteMove(): void {
    const { tally } = this
    this.#tallies[this.#tallies.length - 1] = { ...tally, moves: tally.moves + 1 }
  }

  get tally(): TallyState {
    return this.#tallies.at(-1) ?? EMPTY_TALLY
  }

  addPage(page: ProofPage, { born, changed }: Dates): void {
    const walk = this.#tallies.length - 1
    const before = this.tally
    if (this.#instants.length <= walk) this.#beginInstant(page, walk)
    const began = this.#resumedAt ?? this.#instants[0]?.at ?? -Infinity
    let moves = 0
    for (const [at, { type, id }] of page.rows.entries()) {
      const isNamed = typeof id === 'string'
      // A record without an id goes to the quarantine: only its place is known.
      const key = isNamed ? `${String(type)} ${id}` : `${page.number} ${at}`
      if (isNamed && (changed.get(id) ?? -Infinity) > began) moves += 1
      this.#show(key, isNamed ? born.get(id) : undefined)
    }
    this.#lastPageAt = page.observedAt.getTime()
    this.#tallies[walk] = tally(before, page, moves)
  }

  judge(accepted?: AcceptedShortfall): Verdict {
    const walks = this.#tallies.length
    const { rows, lastTotal } = this.tally
    this.#learnFirstTotal()
    if (this.#isAccepted(accepted)) return { kind: 'whole', walk: walks - 1 }
    const walk = this.#provenWalk()
    // The total promises more than the pages hold: the list was cut off, or its total is wrong.
    const isPromised = lastTotal !== null && lastTotal > rows
    if (walk !== undefined && !isPromised) return { kind: 'whole', walk }
    const isAlike = this.#isAlike()
    const isQuiet = isAlike && this.#isTotalSame()
    if (walks < MOST_WALKS && !isQuiet) return { kind: 'again' }
    return { kind: 'short', tally: this.tally, walks, isAlike, isQuiet }
  }

  #beginInstant({ observedAt }: ProofPage, walk: number): void {
    // The end of the previous walk: nothing was read since, so all of this walk comes after it.
    const at = walk === 0 ? observedAt.getTime() : this.#lastPageAt
    const ended = this.#tallies[walk - 1]
    const length = ended?.isEven === true ? ended.rows : undefined
    this.#instants.push({ at, length, seen: new SeenKeys(), there: 0 })
  }

  #show(key: string, bornAt: number | undefined): void {
    for (let index = this.#instants.length - 1; index >= 0; index -= 1) {
      const instant = this.#instants[index]
      if (instant?.seen.add(key) !== true) continue
      if (index === 0) this.#news += 1
      const wasShownBefore = this.#instants[index - 1]?.seen.has(key) === true
      if (wasShownBefore || bornAt === undefined || bornAt <= instant.at) instant.there += 1
    }
  }

  /** The total of the first page, once the last page of the first walk has confirmed it. */
  #learnFirstTotal(): void {
    const [first] = this.#instants
    if (this.#tallies.length !== 1 || first === undefined) return
    if (this.#resumedAt !== undefined) return
    const { pages, rows, firstTotal, lastTotal } = this.tally
    // One page is the list at one instant.
    if (pages === 1) first.length = rows
    else if (firstTotal !== null && lastTotal === rows) first.length = firstTotal
  }

  #provenWalk(): number | undefined {
    if (this.#resumedAt !== undefined) return this.#isResumedWhole() ? 0 : undefined
    const { pages } = this.tally
    if (pages === 1) return this.#tallies.length - 1
    const index = this.#instants.findLastIndex(
      ({ length, there }) => length !== undefined && there >= length,
    )
    return index < 0 ? undefined : index
  }

  /**
   * The keys of its first part are unknown, so the list must not have moved at all: the same total
   * throughout, no repeats, no change of a shown record since the pass began.
   */
  #isResumedWhole(): boolean {
    const { rows, distinct, moves, lastTotal, isTotalSteady } = this.tally
    return isTotalSteady && lastTotal === rows && distinct === rows && moves === 0
  }

  #isAccepted(accepted: AcceptedShortfall | undefined): boolean {
    if (accepted === undefined) return false
    const { missing, isTotalIgnored } = accepted
    if (missingOf(this.tally, isTotalIgnored) !== missing) return false
    return !isTotalIgnored || this.#isAlike()
  }

  #isAlike(): boolean {
    const [last, before] = [this.#tallies.at(-1), this.#tallies.at(-2)]
    if (last === undefined || before === undefined || this.#news > 0) return false
    return last.rows === before.rows && last.distinct === before.distinct
  }

  #isTotalSame(): boolean {
    const { lastTotal, isTotalSteady } = this.tally
    return isTotalSteady && this.#tallies.at(-2)?.lastTotal === lastTotal
  }
}

/** Records that a walk lacks of the promised number. */
export function missingOf(
  { rows, distinct, lastTotal }: TallyState,
  isTotalIgnored: boolean,
): number {
  return Math.max(isTotalIgnored ? 0 : (lastTotal ?? 0), rows) - distinct
}

/** Counts one more page of a walk. */
function tally(
  before: TallyState,
  { rows, fresh, total: named }: Pick<RawPage, 'rows' | 'fresh' | 'total'>,
  moves = 0,
): TallyState {
  const isFirst = before.pages === 0
  const total = named ?? null
  const firstRows = isFirst ? rows.length : before.firstRows
  return {
    pages: before.pages + 1,
    rows: before.rows + rows.length,
    distinct: before.distinct + fresh,
    moves: before.moves + moves,
    firstTotal: isFirst ? total : before.firstTotal,
    lastTotal: total,
    isTotalSteady: isFirst || (before.isTotalSteady && before.lastTotal === total),
    firstRows,
    lastRows: rows.length,
    // Only the last page may be shorter than the first: then the rows are the length of the list.
    isEven: isFirst || (before.isEven && before.lastRows === firstRows && rows.length <= firstRows),
  }
}
