import { hash } from 'node:crypto'
import type { Page } from '../api/list-pages.js'
import {
  abandonPass,
  completePass,
  loadPassHistory,
  loadPassRemains,
  type Checkpoint,
  type PassHistory,
  type PassList,
  type PassPosition,
} from '../warehouse/bookkeeping/checkpoints.js'
import { ListTally } from './list-tally.js'
import { retryWarehouse } from '../ingest/retry-warehouse.js'
import type { Run } from '../ingest/run.js'
import { SeenKeys } from './seen-keys.js'

/**
 * In `Pass.seen`: the containers of which a page held transport events, whether or not it held the
 * container.
 */
export const CONTAINERS_WITH_EVENTS = 'containers with transport events'

/**
 * One pass over a list, from its first page to its last.
 *
 *   begin ──► page … page ──► end: complete
 *     │          │ run cut off
 *     │          ▼
 *     └── resumed at the last page that is stored, within half an hour; that page is read again and must show a record it
 *         showed before, else rows have moved too far and the pass starts over
 *
 * Only a pass that one run made whole may look for rows it did not show: a resumed one has seen its
 * first part through another run's eyes.
 */
export class Pass {
  readonly list: PassList
  /** Just before the first request, on the database's clock. */
  readonly beganAt: string
  /** Keys shown so far, per stream; whole only when the pass was not resumed. */
  readonly seen = new Map<string, SeenKeys>()
  readonly startPage: number
  readonly isResumed: boolean
  /** What later steps of the run want to know. */
  readonly findings: Record<string, unknown>
  /** Of the records of the list itself, not of what they include. */
  readonly tally: ListTally
  readonly #pageSize: number
  readonly #expected: ReadonlySet<string> | undefined
  #passStartedAt: Date | undefined

  private constructor(list: PassList, beganAt: string, pageSize: number, resumed?: Checkpoint) {
    this.list = list
    this.beganAt = beganAt
    this.#pageSize = pageSize
    this.isResumed = resumed !== undefined
    this.startPage = resumed?.position.page ?? 1
    this.findings = { ...resumed?.position.findings }
    this.tally = new ListTally(resumed?.position.tallyBefore)
    this.#passStartedAt = resumed?.passStartedAt
    this.#expected = resumed === undefined ? undefined : new Set(resumed.position.signposts)
  }

  /**
   * A pass from the first page. `now`: on the database's clock, and not after the first request.
   */
  static start(list: PassList, now: string, pageSize: number): Pass {
    return new Pass(list, now, pageSize)
  }

  /** A pass that goes on where a killed or stopped run left it. */
  static resume(checkpoint: Checkpoint, pageSize: number): Pass {
    const { stream, scope, position } = checkpoint
    const list = { stream, scope, query: position.query }
    return new Pass(list, position.beganAt, pageSize, checkpoint)
  }

  get stream(): string {
    return this.list.stream
  }

  /** On the source's clock; undefined before the first page. */
  get startedAt(): Date | undefined {
    return this.#passStartedAt
  }

  /**
   * False when the first page after a resumption shows nothing of what stood there: the pass must
   * start over.
   */
  isContiguous(page: Page): boolean {
    if (page.number !== this.startPage || this.#expected === undefined) return true
    // The end of a list that shrank, or an empty one, has no record to recognise.
    return page.document.data.some((record) => this.#expected?.has(digest(record)))
  }

  /** Where the pass stands once `page` is in the warehouse. To be called once for each page. */
  checkpointAfter(page: Page): Checkpoint {
    this.#passStartedAt ??= page.observedAt
    // A pass that resumes reads this page again and counts it then.
    const tallyBefore = this.tally.state
    this.tally.add(page)
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
        tallyBefore,
        findings: this.findings,
      },
    }
  }

  see(stream: string, key: string): void {
    let keys = this.seen.get(stream)
    if (keys === undefined) {
      keys = new SeenKeys()
      this.seen.set(stream, keys)
    }
    keys.add(key)
  }
}

/** A pass that a run which was cut off had completed: there is nothing to do. */
export type CompletePass = Pick<PassPosition, 'findings' | 'beganAt'> & Pick<PassList, 'scope'>

/**
 * What there is to do of a stream: the rest of a pass that a run which was cut off left, nothing if
 * it had completed it, or a new pass. That is one over the whole list, unless `chooseChanging`
 * names a part of it.
 */
export async function openPass(
  run: Run,
  stream: string,
  chooseChanging: (history: PassHistory) => Promise<PassList | undefined>,
): Promise<Pass | CompletePass> {
  const { warehouse } = run
  const whole = wholeList(stream)
  const remains = await resumePass(run, whole)
  if (remains !== undefined) return remains
  const history = await retryWarehouse(run, () =>
    loadPassHistory(warehouse, warehouse.names, stream),
  )
  const changing = await chooseChanging(history)
  const left = changing && (await resumePass(run, changing))
  return left ?? Pass.start(changing ?? whole, history.now, run.settings.pageSize)
}

export function wholeList(stream: string): PassList {
  return { stream, scope: 'whole', query: {} }
}

async function resumePass(
  run: Run,
  { stream, scope }: PassList,
): Promise<Pass | CompletePass | undefined> {
  const { pageSize } = run.settings
  const remains = await retryWarehouse(run, () =>
    loadPassRemains(run.warehouse, { stream, scope }, pageSize),
  )
  switch (remains.kind) {
    case 'none':
      return undefined
    case 'unfinished':
      run.logger.info('going on where a run was cut off', {
        stream,
        page: remains.checkpoint.position.page,
      })
      return Pass.resume(remains.checkpoint, pageSize)
    case 'complete':
      run.logger.info('a run that was cut off had completed this stream', { stream })
      return { ...remains.position, scope }
    default:
      return remains satisfies never
  }
}

/** A new pass, from the first page. */
export async function startPass(run: Run, list: PassList): Promise<Pass> {
  const { warehouse } = run
  const { now } = await retryWarehouse(run, () =>
    loadPassHistory(warehouse, warehouse.names, list.stream),
  )
  return Pass.start(list, now, run.settings.pageSize)
}

/** Notes the end of a pass. */
export async function closePass(run: Run, checkpoint: Checkpoint): Promise<void> {
  await retryWarehouse(run, () =>
    run.warehouse.transaction('complete a pass', (session) =>
      completePass(session, run.syncRunId, checkpoint),
    ),
  )
}

/**
 * Forgets where a pass stands that came to the end of its list and is not complete: the next run
 * starts over.
 */
export async function dropPass(run: Run, { list }: Pass): Promise<void> {
  await retryWarehouse(run, () =>
    run.warehouse.transaction('abandon a pass', (session) => abandonPass(session, list)),
  )
}

/**
 * A checkpoint is written with every page, so it names only some of its records, and those by a
 * digest.
 */
const SIGNPOSTS = 8

/**
 * Digests of some records of a page, its first and last among them: one of these stays on the page
 * when fewer rows than it holds move.
 */
function signposts(page: Page): string[] {
  const { data } = page.document
  const step = Math.max(1, (data.length - 1) / (SIGNPOSTS - 1))
  const places = new Set(Array.from({ length: SIGNPOSTS }, (_, at) => Math.round(at * step)))
  return [...places].flatMap((place) => data.slice(place, place + 1)).map(digest)
}

function digest(record: unknown): string {
  const id = (record as { id?: unknown } | null)?.id
  return hash('sha1', JSON.stringify(id ?? null), 'base64url').slice(0, 10)
}
