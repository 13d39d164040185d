import type { Page } from '../api/list-pages.js'
import { shownKeys, takeIn, type Intake, type IntakeOptions } from '../ingest/intake.js'
import { RecognizedRecord } from '../ingest/recognized-record.js'
import type { RecordRecognizer } from './recognize-records.js'

/** Included containers and their events are whole; other included records may be a subset of their attributes. */
export const COMPLETE_WHEN_INCLUDED: ReadonlySet<string> = new Set(['container', 'transport_event'])

/** A page of a list and everything in it, flattened. */
export interface TakenPage {
  /** Of its records only type and id are left, except on the first page of a walk, by which includes are judged. */
  readonly page: Page
  readonly intake: Intake
  /** See `hasAllContainers`. */
  readonly areContainersIncluded: boolean
  /** See `hasAllTransportEvents`. */
  readonly areTransportEventsIncluded: boolean
}

/**
 * The pages of a walk, each flattened as soon as it has come: its document, the largest thing that a run holds, is let go at once and not when the page is
 * stored. That is also why this is no generator, whose frame would hold on to a page until the next one is there.
 */
export function takePages(
  stream: string,
  pages: AsyncIterable<Page>,
  recognizer?: RecordRecognizer,
): AsyncIterable<TakenPage> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = pages[Symbol.asyncIterator]()
      let isFirst = true
      return {
        async next() {
          const result = await iterator.next()
          if (result.done === true) return { done: true, value: undefined }
          const value = take(stream, result.value, isFirst)
          isFirst = false
          recognizer?.start()
          return { done: false, value }
        },
        async return() {
          await iterator.return?.()
          return { done: true, value: undefined }
        },
      }
    },
  }
}

function take(stream: string, page: Page, isKeptWhole: boolean): TakenPage {
  const intake = takeIn(page.document, pageOptions(stream, page))
  return {
    page: isKeptWhole ? page : withoutRecords(page),
    intake,
    areContainersIncluded: hasAllContainers(page, intake),
    areTransportEventsIncluded: hasAllTransportEvents(intake),
  }
}

/** How the records of a page are taken in. */
export function pageOptions(stream: string, page: Pick<Page, 'observedAt'>): IntakeOptions {
  return {
    stream,
    source: `/${stream}`,
    observedAt: page.observedAt,
    completeTypes: COMPLETE_WHEN_INCLUDED,
  }
}

function withoutRecords(page: Page): Page {
  const data = page.document.data.map((record) => {
    const { type, id } = (record ?? {}) as { readonly type?: unknown; readonly id?: unknown }
    return { type, id }
  })
  return { ...page, document: { ...page.document, data, included: [] } }
}

/** True when every shipment of the page lists its containers and all of them came included. */
export function hasAllContainers(page: Page, intake: Intake): boolean {
  const included = new Set(shownKeys(intake, 'containers'))
  return page.document.data.every((shipment) => {
    const linkage = linkedContainers(shipment)
    if (!Array.isArray(linkage)) return false
    return (linkage as readonly { id?: unknown }[]).every(
      ({ id }) => typeof id === 'string' && included.has(id),
    )
  })
}

/** True when every container of the page lists its transport events and all of them came included. */
export function hasAllTransportEvents(intake: Intake): boolean {
  const included = new Set(shownKeys(intake, 'transport_events'))
  return shownKeys(intake, 'containers').every((key) => {
    const listed = intake.transportEventIds.get(key)
    return listed?.every((id) => included.has(`${key} ${id}`)) === true
  })
}

function linkedContainers(shipment: unknown): unknown {
  if (shipment instanceof RecognizedRecord) return shipment.raw.linkage('containers')
  return (shipment as { relationships?: { containers?: { data?: unknown } } } | null)?.relationships
    ?.containers?.data
}
