import type { Fault, FaultRequest } from '../../../src/extensions/simulator/faults/faults.js'

/** Another record than the one that was asked for; in a list also of another type. */
function another(document: unknown): unknown {
  const { data } = document as { data?: object | object[] }
  if (data === undefined) return document
  const change = (record: object): object => {
    const { id = '' } = record as { id?: string }
    return { ...record, id: `not ${id}`, ...(Array.isArray(data) ? { type: 'another' } : {}) }
  }
  return { ...(document as object), data: Array.isArray(data) ? data.map(change) : change(data) }
}

/** Of every header that the client reads; others are in test/unit/api/single-headers.test.ts. */
const TWICE = ['Mon, 02 Mar 2026 08:00:00 GMT', 'application/json']
const READ = ['date', 'retry-after', 'content-type', 'etag', 'link', 'x-ratelimit-remaining']

/** More than an error should show, and a colour for the terminal. */
const WRONG_CALL = JSON.stringify({
  errors: [
    {
      status: '400',
      title: 'Bad Request',
      detail: `page[size] may not be\n\u001b[31m100 ${'x'.repeat(2_000)}`,
    },
  ],
})

export const pageOf = ({ query }: Pick<FaultRequest, 'query'>): number =>
  Number(query.get('page[number]') ?? 1)

/** Leads from a page somewhere else than to the next one, and says nothing of a total. */
const link = (url: (page: number) => string): readonly Fault[] => [
  { kind: 'nextLink', url: (request) => url(pageOf(request)) },
  { kind: 'wrongTotal' },
]

const ELSEWHERE = '127.0.0.1:9/v2/shipments'

/**
 * Answers of the service as long as they last: one of each kind that the client tells apart
 * (test/unit/api has every form of each).
 */
export const HTTP_FAULTS = {
  'refused key (401)': { kind: 'status', status: 401 },
  'refused (403)': { kind: 'status', status: 403 },
  'not found (404)': { kind: 'status', status: 404 },
  'gone (410)': { kind: 'status', status: 410 },
  'called wrong (400)': { kind: 'status', status: 400, body: WRONG_CALL },
  '429 for good': { kind: 'status', status: 429 },
  'an hour to wait': { kind: 'status', status: 503, headers: { 'retry-after': '3600' } },
  '500 for good': { kind: 'status', status: 500 },
  '503 for good': { kind: 'status', status: 503 },
  'a web page': { kind: 'html' },
  garbage: { kind: 'status', status: 200, body: '{"data":', contentType: 'text/json' },
  'errors under 200': { kind: 'errorsUnder200' },
  'half an answer': { kind: 'cut', afterBytes: 200 },
  'a bomb of 33 MiB': { kind: 'gzipBomb', mebibytes: 33 },
  'a redirect': { kind: 'redirect', status: 302, location: 'http://127.0.0.1:9/v2/shipments' },
  'another record': { kind: 'transform', apply: another },
  'doubled headers': {
    kind: 'headers',
    set: Object.fromEntries(READ.map((name) => [name, TWICE])),
  },
  'links in a circle': link((page) => `?page[number]=${(page % 4) + 1}`),
  'links that climb for ever': link((page) => `?page[number]=${page + 1}`),
  'new links to the same page': [
    { kind: 'repeatPage', page: 1 },
    ...link((page) => `?page[number]=${page + 1}`),
  ],
  'a link to another host': link(() => `//${ELSEWHERE}`),
  'a link with backslashes': link(() => `http:\\\\${ELSEWHERE.replaceAll('/', '\\')}`),
  'a link with a login': link(() => `http://service@${ELSEWHERE}`),
  'a link to another path': link(() => '/v2/shipments/../webhooks'),
  'a link with a line break': link(() => '/v2/shipments\r\nhost: 127.0.0.1:9'),
  'an end before the total': { kind: 'nextLink', url: null },
  'the page before it once more': { kind: 'repeatPage', page: 2 },
} as const satisfies Record<string, Fault | readonly Fault[]>

export type HttpFault = keyof typeof HTTP_FAULTS
