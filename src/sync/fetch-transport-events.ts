import pLimit from 'p-limit'
import { ApiNotFoundError } from '../errors.js'
import type { TransportEventList } from '../warehouse/transport-event-lists.js'
import { takeIn, type Intake } from './intake.js'
import type { Run } from './run.js'

/** The transport events of one container; `list` is undefined when the answer cannot prove which events are gone. */
export interface FetchedEvents {
  readonly containerId: string
  /** Undefined when the container is gone at the source. */
  readonly intake: readonly Intake[] | undefined
  readonly list: TransportEventList | undefined
}

const NOTHING_COMPLETE: ReadonlySet<string> = new Set()

/** Reads the transport events of several containers, a few at a time: at least one request each. */
export async function fetchTransportEvents(
  run: Run,
  containerIds: readonly string[],
): Promise<FetchedEvents[]> {
  const limit = pLimit(run.settings.eventConcurrency)
  return Promise.all(containerIds.map((id) => limit(() => fetchOfContainer(run, id))))
}

async function fetchOfContainer(run: Run, containerId: string): Promise<FetchedEvents> {
  const intake: Intake[] = []
  const transportEventIds: string[] = []
  let observedAt: Date | undefined
  let isShort = false
  const pages = run.service.listTransportEvents(containerId, {
    signal: run.signal,
    counter: run.ledger.counter('transport_events'),
    pageSize: run.settings.pageSize,
  })
  try {
    for await (const page of pages) {
      observedAt ??= page.observedAt
      isShort = page.isShort
      const source = `/containers/${containerId}/transport_events`
      const taken = takeIn(page.document, {
        stream: 'transport_events',
        source,
        observedAt: page.observedAt,
        completeTypes: NOTHING_COMPLETE,
        context: { containerId },
      })
      intake.push(taken)
      for (const { record } of taken.sightings.get('transport_events') ?? []) {
        transportEventIds.push(record.key.slice(containerId.length + 1))
      }
    }
  } catch (thrown) {
    if (thrown instanceof ApiNotFoundError)
      return { containerId, intake: undefined, list: undefined }
    throw thrown
  }
  if (observedAt === undefined || isShort) return { containerId, intake, list: undefined }
  return { containerId, intake, list: { containerId, transportEventIds, observedAt } }
}
