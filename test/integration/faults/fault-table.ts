import type { HttpFault } from './http-faults.js'

/** End of a run, and of the next one, as long as the fault lasts. */
export interface Cell {
  readonly exitCode: number
  /** Of the stream whose list meets the fault. */
  readonly ends: string
  /** Requests that meet it. */
  readonly requests: number
  /** So many more may: of pages read ahead, or again because a connection was closed. */
  readonly more?: number
  readonly error: string | null
  /** The page behind which the next run would go on; not looked at unless told. */
  readonly resumesAt?: number
  /** The sentence that a person reads. */
  readonly says: RegExp
}

/** Of a record of a list, at the source. */
export const CHANGES = {
  shipment: { customer_name: 'Changed' },
  tracking_request: { request_number: 'Changed' },
} as const

export interface ListPhase {
  readonly name: string
  readonly stream: string
  /** Path of the requests that meet the fault. */
  readonly path: string
  readonly page?: number
  /**
   * Before the first cell: nothing, a backfill that this page kept from being whole, or a backfill
   * after which the source has changed a record of this list.
   */
  readonly warehouse: 'empty' | 'half-filled' | { readonly changed?: keyof typeof CHANGES }
  readonly pageSize?: number
  /** Of each cell, to see that they end alike; 1 unless told. */
  readonly runs?: number
  /** Rows of shipments, before and after every cell. */
  readonly shipments: number
  readonly cells: Partial<Record<HttpFault, Cell>>
}

const end = (
  exitCode: number,
  ends: string,
  requests: number,
  error: string | null,
  says: RegExp,
): Cell => ({ exitCode, ends, requests, error, says })

const GIVEN_UP = (seen: string): RegExp =>
  new RegExp(`: ${seen}.* Given up after 6 tries in \\d+ s\\.`)
const FINE = end(0, 'complete', 1, null, /^$/)
const LEFT_OUT = end(0, 'not_entitled', 1, null, /^$/)

/** Of the service itself, not of a list: no stream is read. */
const KEY = end(3, 'failed', 1, 'api_auth', /the service refused the API key \(401\)/)

/** Of a list that the warehouse needs. */
const NEEDED = {
  'refused key (401)': KEY,
  'refused (403)': end(3, 'not_entitled', 1, 'api_auth', /ask the owner of the account/),
  'not found (404)': end(2, 'failed', 1, 'api_request', /TRACKING_API_URL/),
  'gone (410)': end(2, 'failed', 1, 'api_request', /TRACKING_API_URL/),
  'called wrong (400)': end(2, 'failed', 1, 'api_request', /page\[size\] may not be/),
  '429 for good': end(
    4,
    'failed',
    12,
    'api_rate_limited',
    /rate-limited since 2026-03-\d\dT\d\d:\d\d:\d\d.000Z/,
  ),
  'an hour to wait': end(
    4,
    'failed',
    1,
    'api_unavailable',
    /asks to wait 3600 s, which is longer than this program/,
  ),
  '500 for good': end(4, 'failed', 6, 'api_unavailable', GIVEN_UP('the service answered 500')),
  'a web page': end(
    4,
    'failed',
    6,
    'api_unavailable',
    GIVEN_UP('the service answered 200 with a web page instead of data'),
  ),
  garbage: end(
    4,
    'failed',
    6,
    'api_unavailable',
    GIVEN_UP('the service answered 200 with a body that is not complete JSON'),
  ),
  'errors under 200': {
    ...end(4, 'failed', 6, 'api_unavailable', GIVEN_UP('the service answered')),
    more: 1,
  },
  'half an answer': {
    ...end(4, 'failed', 6, 'api_unavailable', GIVEN_UP('the connection was closed')),
    more: 2,
  },
  'a bomb of 33 MiB': end(6, 'incomplete', 1, 'api_refused', /larger than 33554432 bytes/),
  'a redirect': end(6, 'incomplete', 1, 'api_refused', /another host/),
} as const satisfies Partial<Record<HttpFault, Cell>>

/** Of a list that an account may lack: it is told so, once. */
const OPTIONAL = {
  'refused key (401)': KEY,
  'refused (403)': LEFT_OUT,
  'not found (404)': LEFT_OUT,
  'gone (410)': LEFT_OUT,
  '500 for good': NEEDED['500 for good'],
  'a bomb of 33 MiB': NEEDED['a bomb of 33 MiB'],
} as const satisfies Partial<Record<HttpFault, Cell>>

const FOREIGN = end(6, 'incomplete', 1, 'incomplete_run', /newer version of this program knows it/)

/** Only a page that is behind another can be passed over. */
const passedOver = (status: number): Cell => ({
  ...end(
    4,
    'failed',
    6,
    'api_unavailable',
    new RegExp(`the service answered ${status}\\. .* a smaller pageSize .* behind it are read`),
  ),
  // No further, although the pages behind it are stored.
  resumesAt: 1,
})

const untrusted = (requests: number, error: string, says: RegExp): Cell => ({
  ...end(6, 'incomplete', requests, error, says),
  // Read ahead.
  more: 10,
})

const LOOP = (words: string): RegExp =>
  new RegExp(`the paging does not end: ${words}.* nothing is marked as gone.* tell the service`)
const REFUSED = (words: string): RegExp =>
  new RegExp(`was refused: ${words}\\. No request was made\\.`)

export const LIST_PHASES: readonly ListPhase[] = [
  {
    name: 'the first request to the service',
    stream: 'shipments',
    path: '/shipments',
    page: 1,
    warehouse: 'empty',
    shipments: 0,
    cells: { 'refused key (401)': KEY },
  },
  {
    name: 'the first page of a first backfill',
    stream: 'shipments',
    path: '/shipments',
    page: 1,
    warehouse: 'half-filled',
    // Other lists are read all the same.
    shipments: 0,
    // The others end as in a later list, below.
    cells: {
      'refused (403)': NEEDED['refused (403)'],
      '500 for good': NEEDED['500 for good'],
      'a redirect': NEEDED['a redirect'],
    },
  },
  {
    name: 'a page in the middle of a first backfill',
    stream: 'shipments',
    path: '/shipments',
    page: 2,
    warehouse: 'half-filled',
    pageSize: 2,
    // The page before it and the two behind it, behind which no later run begins.
    shipments: 6,
    cells: {
      'refused key (401)': KEY,
      'errors under 200': NEEDED['errors under 200'],
      'half an answer': NEEDED['half an answer'],
      // Each include is left out in turn, for it may be what is wrong.
      'called wrong (400)': { ...NEEDED['called wrong (400)'], requests: 4 },
      '500 for good': passedOver(500),
      '503 for good': passedOver(503),
    },
  },
  {
    name: 'the first page of a later sync',
    stream: 'shipments',
    path: '/shipments',
    page: 1,
    warehouse: { changed: 'shipment' },
    runs: 2,
    shipments: 8,
    cells: {
      'refused key (401)': KEY,
      'a web page': NEEDED['a web page'],
      'another record': FOREIGN,
      'doubled headers': FINE,
      'empty headers': FINE,
      'absurd headers': FINE,
    },
  },
  {
    name: 'a list behind others',
    stream: 'tracking_requests',
    path: '/tracking_requests',
    warehouse: { changed: 'tracking_request' },
    shipments: 8,
    cells: NEEDED,
  },
  {
    name: 'a list that an account may lack',
    stream: 'custom_fields',
    path: '/custom_fields',
    warehouse: {},
    shipments: 8,
    cells: { ...OPTIONAL, 'another record': FOREIGN },
  },
  {
    name: 'the catalogue of events',
    stream: 'webhook_event_categories',
    path: '/webhooks/events',
    warehouse: {},
    shipments: 8,
    cells: OPTIONAL,
  },
  {
    name: 'the links of a list in four pages',
    stream: 'shipments',
    path: '/shipments',
    warehouse: {},
    pageSize: 2,
    shipments: 8,
    cells: {
      'links in a circle': untrusted(4, 'pagination_loop', LOOP('a link leads back')),
      'links that climb for ever': untrusted(5, 'pagination_loop', LOOP('4 pages in a row')),
      'new links to the same page': untrusted(5, 'pagination_loop', LOOP('4 pages in a row')),
      // Read at our own address, where it leads back.
      'a link to another host': untrusted(2, 'pagination_loop', LOOP('a link leads back')),
      'a link with backslashes': untrusted(1, 'api_refused', REFUSED('it contains characters .*')),
      'a link with a login': untrusted(1, 'api_refused', REFUSED('it holds a user name')),
      'a link to another path': untrusted(1, 'api_refused', REFUSED('its path is not .*')),
      'a link with a line break': untrusted(1, 'api_refused', REFUSED('it contains characters .*')),
    },
  },
  {
    name: 'the third of four pages',
    stream: 'shipments',
    path: '/shipments',
    page: 3,
    warehouse: {},
    pageSize: 2,
    shipments: 8,
    cells: {
      'an end before the total': untrusted(
        2,
        'incomplete_run',
        /ended after 6 of 8 records, walked 2 times alike; nothing is marked as gone\. Its total of 8 is/,
      ),
      'the page before it once more': untrusted(
        2,
        'incomplete_run',
        /shows 6 records in 8 places, walked 2 times alike/,
      ),
    },
  },
]
