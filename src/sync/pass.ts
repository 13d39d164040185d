import { hash } from 'node:crypto'
import type { Page } from '../api/list-pages.js'
import { completePass, loadPassRemains, type Checkpoint } from '../warehouse/checkpoints.js'
import { retryWarehouse } from './retry-warehouse.js'
import type { Run } from './run.js'
import { SeenKeys } from './seen-keys.js'

/** In `Pass.seen`: the containers of which a page held transport events, whether or not it held the container. */
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
 * Only a pass that one run made whole may look for rows it did not show: a resumed one has seen its first part through another
 * run's eyes.
 */
export class Pass {
  readonly stream: string
  /** Keys shown so far, per stream; whole only when the pass was not resumed. */
  readonly seen = new Map<string, SeenKeys>()
  readonly startPage: number
  readonly isResumed: boolean
  /** What later steps of the run want to know. */
  readonly findings: Record<string, unknown>
  readonly #pageSize: number
  readonly #expected: ReadonlySet<string> | undefined
  #passStartedAt: Date | undefined

  private constructor(stream: string, pageSize: number, resumed: Checkpoint | undefined) {
    this.stream = stream
    this.#pageSize = pageSize
    this.isResumed = resumed !== undefined
    this.startPage = resumed?.position.page ?? 1
    this.findings = { ...resumed?.position.findings }
    this.#passStartedAt = resumed?.passStartedAt
    this.#expected = resumed === undefined ? undefined : new Set(resumed.position.signposts)
  }

  /** A pass from the first page. */
  static start(stream: string, pageSize: number): Pass {
    return new Pass(stream, pageSize, undefined)
  }

  /** A pass that goes on where a killed or stopped run left it. */
  static resume(checkpoint: Checkpoint, pageSize: number): Pass {
    return new Pass(checkpoint.stream, pageSize, checkpoint)
  }

  /** On the source's clock; undefined before the first page. */
  get startedAt(): Date | undefined {
    return this.#passStartedAt
  }

  /** False when the first page after a resumption shows nothing of what stood there: the pass must start over. */
  isContiguous(page: Page): boolean {
    if (page.number !== this.startPage || this.#expected === undefined) return true
    // The end of a list that shrank, or an empty one, has no record to recognise.
    return page.document.data.some((record) => this.#expected?.has(digest(record)))
  }

  /** Where the pass stands once `page` is in the warehouse. */
  checkpointAfter(page: Page): Checkpoint {
    this.#passStartedAt ??= page.observedAt
    return {
      stream: this.stream,
      passStartedAt: this.#passStartedAt,
      position: {
        page: page.number,
        pageSize: this.#pageSize,
        signposts: signposts(page),
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

/** What a killed or stopped run left to do of a stream: nothing, the rest of a pass, or all of it. */
export async function openPass(
  run: Run,
  stream: string,
): Promise<Pass | { readonly findings: Readonly<Record<string, unknown>> }> {
  const { pageSize } = run.settings
  const remains = await retryWarehouse(run, () => loadPassRemains(run.warehouse, stream, pageSize))
  switch (remains.kind) {
    case 'none':
      return Pass.start(stream, pageSize)
    case 'unfinished':
      run.logger.info('going on where a run was cut off', {
        stream,
        page: remains.checkpoint.position.page,
      })
      return Pass.resume(remains.checkpoint, pageSize)
    case 'complete':
      run.logger.info('a run that was cut off had completed this stream', { stream })
      return { findings: remains.findings }
    default:
      return remains satisfies never
  }
}

/** Notes the end of a pass. */
export async function closePass(run: Run, checkpoint: Checkpoint): Promise<void> {
  await retryWarehouse(run, () =>
    run.warehouse.transaction('complete a pass', (session) =>
      completePass(session, run.syncRunId, checkpoint),
    ),
  )
}

/** A checkpoint is written with every page, so it names only some of its records, and those by a digest. */
const SIGNPOSTS = 8

/** Digests of some records of a page, its first and last among them: one of these stays on the page when fewer rows than it holds move. */
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
