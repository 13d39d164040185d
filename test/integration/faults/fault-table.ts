import { linesOf } from '../../support/tables.js'
import { HTTP_FAULTS, type HttpFault } from './http-faults.js'

/** End of a run, and of the next one, as long as the fault lasts. */
export interface Cell {
  readonly exitCode: number
  /** Of the stream whose list meets the fault. */
  readonly ends: string
  /**
   * Requests that meet it, at least and at most: of pages read ahead, or again because a
   * connection was closed.
   */
  readonly requests: readonly [number, number]
  readonly error: string | null
  /** The sentence that a person reads. */
  readonly says: RegExp
  /** The page behind which the next run would go on; not looked at unless told. */
  readonly resumesAt: number | undefined
}

type Cells = Readonly<Record<string, Cell>>

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
   * Before the first cell: a backfill that this page kept from being whole, or a backfill after
   * which the source has changed a record of this list.
   */
  readonly warehouse: 'half-filled' | { readonly changed?: keyof typeof CHANGES }
  readonly pageSize?: number
  /** Of each cell, to see that they end alike; 1 unless told. */
  readonly runs?: number
  /** Rows of shipments, before and after every cell. */
  readonly shipments: number
  readonly cells: Cells
}

/** A line a fault: exit code, end of the stream, requests, error, words, page to resume at. */
function cellsOf(table: string): Cells {
  return Object.fromEntries(
    linesOf(table).map(([fault = '', exitCode, ends = '', requests = '', error = '', says, at]) => {
      if (!(fault in HTTP_FAULTS)) throw new Error(`there is no fault "${fault}"`)
      const [least, most = least] = requests.split('-').map(Number)
      return [
        fault,
        {
          exitCode: Number(exitCode),
          ends,
          requests: [least!, most!],
          error: error === '-' ? null : error,
          says: new RegExp(says ?? ''),
          resumesAt: at === undefined ? undefined : Number(at),
        },
      ]
    }),
  )
}

function pick(cells: Cells, ...faults: readonly HttpFault[]): Cells {
  return Object.fromEntries(faults.map((fault) => [fault, cells[fault]!]))
}

const GIVEN_UP = String.raw`.* Given up after 6 tries in \d+ s\.`

/** Of a list that the warehouse needs; a refused key is of the service itself: no stream is read. */
const NEEDED = cellsOf(String.raw`
  refused key (401)  | 3 | failed       | 1   | api_auth         | the service refused the API key \(401\)
  refused (403)      | 3 | not_entitled | 1   | api_auth         | ask the owner of the account
  not found (404)    | 2 | failed       | 1   | api_request      | TRACKING_API_URL
  gone (410)         | 2 | failed       | 1   | api_request      | TRACKING_API_URL
  called wrong (400) | 2 | failed       | 1   | api_request      | page\[size\] may not be
  429 for good       | 4 | failed       | 12  | api_rate_limited | rate-limited since 2026-03-\d\dT\d\d:\d\d:\d\d.000Z
  an hour to wait    | 4 | failed       | 1   | api_unavailable  | asks to wait 3600 s, which is longer than this program
  500 for good       | 4 | failed       | 6   | api_unavailable  | : the service answered 500${GIVEN_UP}
  a web page         | 4 | failed       | 6   | api_unavailable  | : the service answered 200 with a web page instead of data${GIVEN_UP}
  garbage            | 4 | failed       | 6   | api_unavailable  | : the service answered 200 with a body that is not complete JSON${GIVEN_UP}
  errors under 200   | 4 | failed       | 6-7 | api_unavailable  | : the service answered${GIVEN_UP}
  half an answer     | 4 | failed       | 6-8 | api_unavailable  | : the connection was closed${GIVEN_UP}
  a bomb of 33 MiB   | 6 | incomplete   | 1   | api_refused      | larger than 33554432 bytes
  a redirect         | 6 | incomplete   | 1   | api_refused      | another host
`)

/** Of a list that an account may lack: it is told so, once. */
const OPTIONAL = {
  ...pick(NEEDED, 'refused key (401)', '500 for good', 'a bomb of 33 MiB'),
  ...cellsOf(`
    refused (403)   | 0 | not_entitled | 1 | - | ^$
    not found (404) | 0 | not_entitled | 1 | - | ^$
    gone (410)      | 0 | not_entitled | 1 | - | ^$
  `),
}

const FOREIGN = cellsOf(`
  another record | 6 | incomplete | 1 | incomplete_run | newer version of this program knows it
`)

const SHIPMENTS = { stream: 'shipments', path: '/shipments' }

export const LIST_PHASES: readonly ListPhase[] = [
  {
    name: 'the first page of a first backfill',
    ...SHIPMENTS,
    page: 1,
    warehouse: 'half-filled',
    // Other lists are read all the same.
    shipments: 0,
    // The others end as in a later list, below.
    cells: pick(NEEDED, 'refused key (401)', 'refused (403)', '500 for good', 'a redirect'),
  },
  {
    name: 'a page in the middle of a first backfill',
    ...SHIPMENTS,
    page: 2,
    warehouse: 'half-filled',
    pageSize: 2,
    // The page before it and the two behind it, behind which no later run begins.
    shipments: 6,
    cells: {
      ...pick(NEEDED, 'refused key (401)', 'errors under 200', 'half an answer'),
      // Each include is left out in turn, for it may be what is wrong. Only a page that is behind
      // another can be passed over: no further, although the pages behind it are stored.
      ...cellsOf(String.raw`
        called wrong (400) | 2 | failed | 4 | api_request     | page\[size\] may not be
        500 for good       | 4 | failed | 6 | api_unavailable | the service answered 500\. .* a smaller pageSize .* behind it are read | 1
        503 for good       | 4 | failed | 6 | api_unavailable | the service answered 503\. .* a smaller pageSize .* behind it are read | 1
      `),
    },
  },
  {
    name: 'the first page of a later sync',
    ...SHIPMENTS,
    page: 1,
    warehouse: { changed: 'shipment' },
    runs: 2,
    shipments: 8,
    cells: {
      ...pick(NEEDED, 'refused key (401)', 'a web page'),
      ...FOREIGN,
      ...cellsOf(`
        doubled headers | 0 | complete | 1 | - | ^$
      `),
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
    cells: { ...OPTIONAL, ...FOREIGN },
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
    ...SHIPMENTS,
    warehouse: {},
    pageSize: 2,
    shipments: 8,
    // Pages are read ahead. A link to another host is read at our own address, where it leads back.
    cells: cellsOf(String.raw`
      links in a circle          | 6 | incomplete | 4-14 | pagination_loop | ${loop('a link leads back')}
      links that climb for ever  | 6 | incomplete | 5-15 | pagination_loop | ${loop('4 pages in a row')}
      new links to the same page | 6 | incomplete | 5-15 | pagination_loop | ${loop('4 pages in a row')}
      a link to another host     | 6 | incomplete | 2-12 | pagination_loop | ${loop('a link leads back')}
      a link with backslashes    | 6 | incomplete | 1-11 | api_refused     | was refused: it contains characters .*\. No request was made\.
      a link with a login        | 6 | incomplete | 1-11 | api_refused     | was refused: it holds a user name\. No request was made\.
      a link to another path     | 6 | incomplete | 1-11 | api_refused     | was refused: its path is not .*\. No request was made\.
      a link with a line break   | 6 | incomplete | 1-11 | api_refused     | was refused: it contains characters .*\. No request was made\.
    `),
  },
  {
    name: 'the third of four pages',
    ...SHIPMENTS,
    page: 3,
    warehouse: {},
    pageSize: 2,
    shipments: 8,
    cells: cellsOf(String.raw`
      an end before the total      | 6 | incomplete | 2-12 | incomplete_run | ended after 6 of 8 records, walked 2 times alike; nothing is marked as gone\. Its total of 8 is
      the page before it once more | 6 | incomplete | 2-12 | incomplete_run | shows 6 records in 8 places, walked 2 times alike
    `),
  },
]

function loop(words: string): string {
  return `the paging does not end: ${words}.* nothing is marked as gone.* tell the service`
}
