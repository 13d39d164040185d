import type { Page } from '../api/list-pages.js'
import { takeIn, type Intake } from './intake.js'

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
export function takePages(stream: string, pages: AsyncIterable<Page>): AsyncIterable<TakenPage> {
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
  const intake = takeIn(page.document, {
    stream,
    source: `/${stream}`,
    observedAt: page.observedAt,
    completeTypes: COMPLETE_WHEN_INCLUDED,
  })
  return {
    page: isKeptWhole ? page : withoutRecords(page),
    intake,
    areContainersIncluded: hasAllContainers(page, intake),
    areTransportEventsIncluded: hasAllTransportEvents(intake),
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
  const included = new Set(
    (intake.sightings.get('containers') ?? []).map(({ record }) => record.key),
  )
  return page.document.data.every((shipment) => {
    const linkage = (shipment as { relationships?: { containers?: { data?: unknown } } } | null)
      ?.relationships?.containers?.data
    if (!Array.isArray(linkage)) return false
    return (linkage as readonly { id?: unknown }[]).every(
      ({ id }) => typeof id === 'string' && included.has(id),
    )
  })
}

/** True when every container of the page lists its transport events and all of them came included. */
export function hasAllTransportEvents(intake: Intake): boolean {
  const included = new Set(
    (intake.sightings.get('transport_events') ?? []).map(({ record }) => record.key),
  )
  return (intake.sightings.get('containers') ?? []).every(({ record: { key } }) => {
    const listed = intake.transportEventIds.get(key)
    return listed?.every((id) => included.has(`${key} ${id}`)) === true
  })
}
