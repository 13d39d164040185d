import pLimit from 'p-limit'
import { ApiNotFoundError } from '../errors.js'
import type { TransportEventList } from '../warehouse/transport-event-lists.js'
import { takeIn, type Intake } from './intake.js'
import type { Run } from './run.js'

/**
 * The transport events of one container. `list` is undefined when the pages cannot prove which events there are: the list was short,
 * rows moved from page to page while it was read, or a record was set aside or of another type.
 */
export interface FetchedEvents {
  readonly containerId: string
  /** Undefined when the container is gone at the source. */
  readonly intake: readonly Intake[] | undefined
  readonly list: TransportEventList | undefined
}

type Reader = Pick<Run, 'service' | 'ledger' | 'settings' | 'signal' | 'purpose'>

const NOTHING_COMPLETE: ReadonlySet<string> = new Set()

/** Reads the transport events of several containers, a few at a time: at least one request each. */
export async function fetchTransportEvents(
  run: Reader,
  containerIds: readonly string[],
): Promise<FetchedEvents[]> {
  const limit = pLimit(run.settings.eventConcurrency)
  return Promise.all(containerIds.map((id) => limit(() => fetchOfContainer(run, id))))
}

async function fetchOfContainer(run: Reader, containerId: string): Promise<FetchedEvents> {
  const intake: Intake[] = []
  const transportEventIds = new Set<string>()
  let observedAt: Date | undefined
  let isDoubtful = false
  const pages = run.service.listTransportEvents(containerId, {
    signal: run.signal,
    purpose: run.purpose,
    counter: run.ledger.counter('transport_events'),
    pageSize: run.settings.pageSize,
  })
  try {
    for await (const page of pages) {
      observedAt ??= page.observedAt
      const source = `/containers/${containerId}/transport_events`
      const taken = takeIn(page.document, {
        stream: 'transport_events',
        source,
        observedAt: page.observedAt,
        completeTypes: NOTHING_COMPLETE,
        context: { containerId },
      })
      intake.push(taken)
      const ids = new Set(
        (taken.sightings.get('transport_events') ?? []).map(({ record }) =>
          record.key.slice(containerId.length + 1),
        ),
      )
      const { data } = page.document
      run.ledger.listed('transport_events', data, 'transport_event')
      // What is of another type, as after a renaming, may be one of ours: then the list does not tell which are gone.
      const isWhole = taken.quarantined.length === 0 && data.every(isTransportEvent)
      // A row on two pages has pushed another off both.
      const hasMoved = [...ids].some((id) => transportEventIds.has(id))
      isDoubtful ||= page.isShort || hasMoved || !isWhole
      for (const id of ids) transportEventIds.add(id)
    }
  } catch (thrown) {
    if (thrown instanceof ApiNotFoundError)
      return { containerId, intake: undefined, list: undefined }
    throw thrown
  }
  if (observedAt === undefined || isDoubtful) return { containerId, intake, list: undefined }
  const list = { containerId, transportEventIds: [...transportEventIds], observedAt }
  return { containerId, intake, list }
}

function isTransportEvent(record: unknown): boolean {
  return (record as { readonly type?: unknown } | null)?.type === 'transport_event'
}
