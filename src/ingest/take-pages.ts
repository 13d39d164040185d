import type { Page } from '../source/client/list-pages.js'
import type { RawRecord } from '../source/jsonapi/raw-record.js'
import type { FieldDefinitions } from '../source/records/resource.js'
import {
  COMPLETE_WHEN_INCLUDED,
  hasRead,
  shownKeys,
  takeInRaw,
  type Intake,
  type IntakeOptions,
} from './intake.js'
import { RecordRecognizer } from './recognize-records.js'
import type { Run } from './run.js'

/** A page of a list and its content. */
type Taken = readonly [page: Page, intake: Intake]

const NOTHING_RECOGNIZED: ReadonlyMap<RawRecord, string> = new Map()

/**
 * The pages of a walk and their content. The next page is read and flattened while the caller
 * stores the last one; a page that reaches the caller has only its rows left, except the first one.
 *
 * Records whose bytes are known are not parsed. The first page is read whole all the same: it shows
 * which includes the service sends, and its content beyond the interface.
 */
export function takePages(
  run: Run,
  stream: string,
  pages: AsyncIterable<Page>,
  fieldDefinitions?: FieldDefinitions,
): AsyncIterable<Taken> {
  const recognizer = new RecordRecognizer(run)
  let before: Intake | undefined
  const take = async (page: Page): Promise<Taken> => {
    const { data, included } = page.document
    // The rows of the page before may be written while this one is recognized.
    const recognized =
      before === undefined
        ? NOTHING_RECOGNIZED
        : await recognizer.recognize([...included, ...data], hasRead(before))
    const isFirst = before === undefined
    const options = { ...pageOptions(stream, page), fieldDefinitions }
    before = await takeInRaw(page.document, options, recognized)
    return [isFirst ? page : withoutRecords(page), before]
  }
  return readAhead(mapped(pages, take))
}

/** The options for taking in the records of a page. */
export function pageOptions(
  stream: string,
  { observedAt }: Pick<Page, 'observedAt'>,
): IntakeOptions {
  return { stream, source: `/${stream}`, observedAt, completeTypes: COMPLETE_WHEN_INCLUDED }
}

/** The document is the largest thing that a run holds. */
function withoutRecords(page: Page): Page {
  return { ...page, document: { ...page.document, data: [], included: [] } }
}

/** Not a generator: its frame would hold on to a page until the next one is there. */
function mapped<Item, Result>(
  items: AsyncIterable<Item>,
  change: (item: Item) => Promise<Result>,
): AsyncIterable<Result> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = items[Symbol.asyncIterator]()
      return {
        async next() {
          const result = await iterator.next()
          if (result.done === true) return { done: true, value: undefined }
          return { done: false, value: await change(result.value) }
        },
        async return() {
          await iterator.return?.()
          return { done: true, value: undefined }
        },
      }
    },
  }
}

/**
 * The same items; the next one is fetched while the caller works on the last. When the caller stops
 * or fails, the item under way is awaited, so that no rejection is left without a handler.
 */
export async function* readAhead<Item>(source: AsyncIterable<Item>): AsyncGenerator<Item, void> {
  const iterator = source[Symbol.asyncIterator]()
  let next = iterator.next()
  try {
    for (;;) {
      const result = await next
      if (result.done === true) return
      next = iterator.next()
      // It is awaited above or below; until then a failure must not count as unhandled.
      next.catch(() => undefined)
      yield result.value
    }
  } finally {
    await next.catch(() => undefined)
    await iterator.return?.()
  }
}

/** True when every shipment of the page lists its containers and all of them came included. */
export function hasAllContainers({ rows }: Page, intake: Intake): boolean {
  const included = new Set(shownKeys(intake, 'containers'))
  return rows.every(
    ({ id }) => intake.containerIds.get(String(id))?.every((key) => included.has(key)) === true,
  )
}

/** True when every container lists its transport events and all of them came included. */
export function hasAllTransportEvents(intake: Intake): boolean {
  const included = new Set(shownKeys(intake, 'transport_events'))
  return shownKeys(intake, 'containers').every((key) => {
    const listed = intake.transportEventIds.get(key)
    return listed?.every((id) => included.has(`${key} ${id}`)) === true
  })
}
