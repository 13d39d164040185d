import { noFailpoints } from '../../../src/base/failpoint.js'
import { silentLogger } from '../../../src/base/logger.js'
import { ingestAnswer, ingestPages } from '../../../src/ingest/ingest-pages.js'
import { readRawRecords, type IntakeOptions } from '../../../src/ingest/intake.js'
import { recognizeByBytes } from '../../../src/ingest/recognize-records.js'
import { openNotes, type Ingest, type Notes } from '../../../src/ingest/run.js'
import { Sink } from '../../../src/ingest/sink.js'
import { splitAnswer } from '../../../src/source/client/answer-document.js'
import type { TrackingService } from '../../../src/source/client/endpoints.js'
import type { RawPage } from '../../../src/source/client/list-pages.js'
import { stringifyExactJson } from '../../../src/source/jsonapi/exact-json.js'
import { resourceOfType } from '../../../src/source/records/index.js'
import { loadFieldDefinitions } from '../../../src/sync/read-custom-fields.js'
import type { Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { TEST_SETTINGS } from '../test-service.js'

export interface SentRecord {
  readonly id: string
  readonly type: string
  readonly attributes?: Readonly<Record<string, unknown>>
  readonly relationships?: Readonly<Record<string, unknown>>
  readonly links?: unknown
}

/** A page of a list, or of the records below one, as the service sends it. */
export interface Page extends Pick<IntakeOptions, 'containerId' | 'definitionId'> {
  readonly data: readonly unknown[]
  readonly included?: readonly unknown[]
}

export interface ApplyOptions {
  /** The start of every request on the service's clock; `SEEN_AT` unless given. */
  readonly at?: Date | string
}

export const SEEN_AT = '2026-03-02T08:00:00Z'

/**
 * Pages from their bytes to the commit, without HTTP: split, read, looked up, decided and written
 * by the way of every list (decision 55). Pages of one list that follow one another are one walk.
 * The transport events that a container names and no page includes are asked for as a run does, and
 * found among the records of all pages. Returns the notes of the walks: their ledger counts the
 * records.
 */
export async function applyPages(
  warehouse: Warehouse,
  pages: readonly Page[],
  { at = SEEN_AT }: ApplyOptions = {},
): Promise<Notes> {
  const observedAt = new Date(at)
  const tools = { signal: new AbortController().signal, sleep: () => Promise.resolve() }
  const notes = openNotes(silentLogger)
  const sink = new Sink({
    ...tools,
    warehouse,
    syncRunId: null,
    mode: 'sync',
    reachFailpoint: noFailpoints,
    logger: silentLogger,
  })
  const run: Ingest = {
    sink,
    notes,
    source: {
      service: serviceOf(pages, observedAt),
      settings: TEST_SETTINGS,
      signal: tools.signal,
      recognize: recognizeByBytes(sink, notes),
    },
  }
  for (const { list, walk } of walksOf(pages)) {
    const fieldDefinitions =
      list === 'custom_fields' ? await loadFieldDefinitions(warehouse, {}) : undefined
    const { containerId, definitionId } = walk[0]!
    const owner = {
      ...(containerId === undefined ? {} : { containerId }),
      ...(definitionId === undefined ? {} : { definitionId }),
    }
    if (Object.keys(owner).length === 0) {
      await ingestPages(run, {
        stream: list,
        pages: toRawPages(walk, observedAt),
        fieldDefinitions,
        admit: () => Promise.resolve({}),
        note: () => Promise.resolve(),
      })
      continue
    }
    for await (const { document } of toRawPages(walk, observedAt)) {
      await ingestAnswer(
        run,
        readRawRecords(document, { stream: list, source: `/${list}`, observedAt, ...owner }),
      )
    }
  }
  return notes
}

interface ListWalk {
  readonly list: string
  readonly walk: Page[]
}

/** Pages that follow one another and are of one list. */
function walksOf(pages: readonly Page[]): ListWalk[] {
  const walks: ListWalk[] = []
  for (const page of pages) {
    const [first] = page.data as readonly SentRecord[]
    const list = resourceOfType(first?.type ?? '').stream
    const before = walks.at(-1)
    const isBelow = page.containerId !== undefined || page.definitionId !== undefined
    if (before?.list === list && !isBelow) before.walk.push(page)
    else walks.push({ list, walk: [page] })
  }
  return walks
}

async function* toRawPages(pages: readonly Page[], observedAt: Date): AsyncGenerator<RawPage> {
  let rowsSoFar = 0
  for (const [at, { data, included = [] }] of pages.entries()) {
    const url = new URL(`http://service.test/v2/list?page[number]=${at + 1}`)
    const body = Buffer.from(stringifyExactJson({ data, included, links: {}, meta: {} }))
    const answer = { where: 'GET /list', url, status: 200, headers: {}, body, observedAt }
    const { document } = splitAnswer({ ...answer, redact: (text) => text })
    const rows = document.primary.map(({ identity }) => identity)
    rowsSoFar += rows.length
    const facts = { fresh: rows.length, rowsSoFar, isShort: false, isBehindGap: false }
    yield await Promise.resolve({
      ...facts,
      number: at + 1,
      url: url.href,
      document,
      rows,
      observedAt,
      bytes: body.length,
      total: undefined,
      isLast: at === pages.length - 1,
      includes: [],
    })
  }
}

/** Shows the transport events of the pages, and nothing else. */
function serviceOf(pages: readonly Page[], observedAt: Date): TrackingService {
  const records = pages.flatMap(({ data, included = [] }) => [...data, ...included])
  const isEventOf = (containerId: string) => (record: unknown) => {
    const { type, relationships } = record as SentRecord
    const { data } = (relationships?.container ?? {}) as { data?: { id?: unknown } | null }
    return type === 'transport_event' && data?.id === containerId
  }
  const listTransportEvents = (containerId: string) =>
    toRawPages([{ data: records.filter(isEventOf(containerId)) }], observedAt)
  return { listTransportEvents } as unknown as TrackingService
}
