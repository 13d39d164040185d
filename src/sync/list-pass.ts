import { hash } from 'node:crypto'
import type { ListStream } from '../source/client/endpoints.js'
import type { ListOptions, RawPage } from '../source/client/list-pages.js'
import { SeenKeys } from '../base/seen-keys.js'
import type { RecordIdentity } from '../source/jsonapi/raw-record.js'
import type { Reading, Run } from '../ingest/run.js'
import {
  type Checkpoint,
  loadPassHistory,
  loadPassRemains,
  type PassFindings,
  type PassHistory,
  type PassList,
  type PassPosition,
  type TallyState,
} from '../warehouse/bookkeeping/checkpoints.js'

/**
 * In `ListPass.seen`: containers whose transport events a page showed, with or without the
 * container.
 */
export const CONTAINERS_WITH_EVENTS = 'containers with transport events'

/**
 * One pass over a list, from its first page to its last.
 *
 *   begin ──► page … page ──► end: complete
 *     │          │ run cut off
 *     │          ▼
 *     └── resumed within half an hour, at the last stored page: that page must show a record it
 *         showed before, else rows have moved too far and the pass starts over
 *
 * Only a pass that one run made whole may look for rows it did not show: a resumed one does not
 * know the keys of its first part.
 */
export class ListPass {
  readonly list: PassList
  /** Just before the first request, on the database's clock. */
  readonly beganAt: string
  /** Keys shown so far, by stream; complete unless the pass was resumed. */
  readonly seen: Map<string, SeenKeys>
  readonly startPage: number
  readonly isResumed: boolean
  readonly findings: PassFindings
  /** Counted before the first page of this run; undefined unless the pass was resumed. */
  readonly tallyBefore: TallyState | undefined
  readonly #pageSize: number
  readonly #expected: readonly string[] | undefined
  #passStartedAt: Date | undefined

  /**
   * `beganAt`: on the database's clock, not after the first request. `resumed`: the position at
   * which a killed or stopped run left the pass. `earlier`: a walk over the same list in this run
   * that proved too little; its keys are known.
   */
  constructor(
    list: PassList,
    beganAt: string,
    pageSize: number,
    { resumed, earlier }: { resumed?: Checkpoint; earlier?: ListPass | undefined } = {},
  ) {
    this.list = list
    this.beganAt = beganAt
    this.#pageSize = pageSize
    this.isResumed = resumed !== undefined
    this.startPage = resumed?.position.page ?? 1
    this.findings = earlier?.findings ?? { ...resumed?.position.findings }
    this.seen = earlier?.seen ?? new Map<string, SeenKeys>()
    this.tallyBefore = resumed?.position.tallyBefore
    this.#passStartedAt = resumed?.passStartedAt
    this.#expected = resumed?.position.signposts
  }

  get stream(): string {
    return this.list.stream
  }

  /** On the source's clock; undefined before the first page. */
  get startedAt(): Date | undefined {
    return this.#passStartedAt
  }

  /** False if the first page after a resumption shows none of its former records. */
  isContiguous(page: RawPage): boolean {
    if (page.number !== this.startPage || this.#expected === undefined) return true
    // An empty or shrunken list may lack a record to recognize.
    return page.rows.some((row) => this.#expected?.includes(digest(row)))
  }

  /** True if the page of a resumption has changed. */
  hasMoved(page: RawPage): boolean {
    if (page.number !== this.startPage || this.#expected === undefined) return false
    return signposts(page).join() !== this.#expected.join()
  }

  /**
   * The position of the pass once `page` is in the warehouse. `tallyBefore`: the tally of the pages
   * before it, because a resumed pass reads and counts this page again. It cannot know which rows
   * came on an earlier page, so repeats are noted.
   */
  checkpointAfter(page: RawPage, tallyBefore: TallyState): Checkpoint {
    this.#passStartedAt ??= page.observedAt
    const { stream, scope, query } = this.list
    return {
      stream,
      scope,
      passStartedAt: this.#passStartedAt,
      position: {
        page: page.number,
        pageSize: this.#pageSize,
        query,
        beganAt: this.beganAt,
        signposts: signposts(page),
        tallyBefore: { ...tallyBefore, moves: tallyBefore.moves + page.rows.length - page.fresh },
        findings: this.findings,
      },
    }
  }

  see(stream: string, key: string): void {
    const keys = this.seen.get(stream) ?? new SeenKeys()
    this.seen.set(stream, keys)
    keys.add(key)
  }
}

/** A pass that was complete before its run was cut off: nothing is left to read. */
export type CompletePass = Pick<PassPosition, 'findings' | 'beganAt'> & Pick<PassList, 'scope'>

/**
 * Opens the rest of a pass that an interrupted run left, returns it if it was complete, or opens a
 * new pass: over the whole list, unless `chooseChanging` names a part of it.
 */
export async function openPass(
  run: Run,
  stream: string,
  chooseChanging: (history: PassHistory) => Promise<PassList | undefined>,
): Promise<ListPass | CompletePass> {
  const whole = wholeList(stream)
  const remains = await resumePass(run, whole)
  if (remains !== undefined) return remains
  const history = await run.sink.retry((warehouse) => loadPassHistory(warehouse, stream))
  const changing = await chooseChanging(history)
  const left = changing && (await resumePass(run, changing))
  return left ?? new ListPass(changing ?? whole, history.now, run.source.settings.pageSize)
}

export function wholeList(stream: string): PassList {
  return { stream, scope: 'whole', query: {} }
}

async function resumePass(
  run: Run,
  { stream, scope }: PassList,
): Promise<ListPass | CompletePass | undefined> {
  const { pageSize } = run.source.settings
  const remains = await run.sink.retry((warehouse) =>
    loadPassRemains(warehouse, { stream, scope }, pageSize),
  )
  switch (remains.kind) {
    case 'none':
      return undefined
    case 'unfinished': {
      const { checkpoint } = remains
      const { page, query, beganAt } = checkpoint.position
      run.notes.logger.info('resuming where a run was cut off', { stream, page })
      return new ListPass({ stream, scope, query }, beganAt, pageSize, { resumed: checkpoint })
    }
    case 'complete':
      run.notes.logger.info('a run that was cut off had completed this stream', { stream })
      return { ...remains.position, scope }
    default:
      return remains satisfies never
  }
}

/** A new pass, from the first page. `earlier`: see `ListPass`. */
export async function startPass(run: Run, list: PassList, earlier?: ListPass): Promise<ListPass> {
  const { now } = await run.sink.retry((warehouse) => loadPassHistory(warehouse, list.stream))
  return new ListPass(list, now, run.source.settings.pageSize, { earlier })
}

/** A checkpoint is written with every page, so it names only some of its records. */
const SIGNPOSTS = 8

/** Digests of some records, first and last among them: one stays unless a whole page moves. */
function signposts(page: RawPage): string[] {
  const { rows } = page
  const step = Math.max(1, (rows.length - 1) / (SIGNPOSTS - 1))
  const places = new Set(Array.from({ length: SIGNPOSTS }, (_, at) => Math.round(at * step)))
  return [...places].flatMap((place) => rows.slice(place, place + 1)).map(digest)
}

function digest({ id }: RecordIdentity): string {
  return hash('sha1', JSON.stringify(id ?? null), 'base64url').slice(0, 10)
}

/**
 * Records by which a list of this length may shrink from one pass to the next: ten, or two per
 * cent. A larger loss makes the list suspect.
 */
export function mostMoving(records: number): number {
  return Math.max(10, Math.floor(records * 0.02))
}

/** Reads one page of a list, by default the first: one request. */
export async function readPage(
  { source: { service, settings, signal }, notes }: Reading,
  stream: ListStream,
  options: Pick<ListOptions, 'includes' | 'query' | 'startPage'> = {},
): Promise<RawPage> {
  const { pageSize } = settings
  const counter = notes.ledger.counter(stream)
  const pages = service.listRecords(stream, { ...options, pageSize, signal, counter })
  for await (const page of pages) return page
  throw new Error('a list has at least one page, or throws')
}
