import type { TrackingService } from '../api/endpoints.js'
import type { ListOptions, Page } from '../api/list-pages.js'
import type { Run } from '../ingest/run.js'

/** The streams whose list a run walks. */
export type ListStream = 'shipments' | 'containers' | 'tracking_requests'

/** The list of a stream, page by page. */
export function listOf(
  service: TrackingService,
  stream: ListStream,
  options: ListOptions,
): AsyncIterable<Page> {
  switch (stream) {
    case 'shipments':
      return service.listShipments(options)
    case 'containers':
      return service.listContainers(options)
    case 'tracking_requests':
      return service.listTrackingRequests(options)
    default:
      return stream satisfies never
  }
}

/** One page of a list, the first unless `startPage` says otherwise: one request. */
export async function readPage(
  { service, settings, signal, ledger }: Pick<Run, 'service' | 'settings' | 'signal' | 'ledger'>,
  stream: ListStream,
  options: Pick<ListOptions, 'includes' | 'query' | 'startPage'> = {},
): Promise<Page> {
  const { pageSize } = settings
  const counter = ledger.counter(stream)
  const pages = listOf(service, stream, { ...options, pageSize, signal, counter })
  for await (const page of pages) return page
  throw new Error('a list has at least one page, or throws')
}
