import type { IncomingMessage } from 'node:http'
import { describe, expect, test } from 'vitest'
import {
  listPages,
  type ListPagesOptions,
  type RawPage,
} from '../../../src/source/client/list-pages.js'
import { readRawRecords } from '../../../src/ingest/intake.js'
import { createTrackingService } from '../../../src/source/client/endpoints.js'
import { listWebhookRecords } from '../../../src/webhooks/manage/own-webhooks.js'
import { container, failureOf, reply, useServices, type Answer } from './fake-service.js'

const services = useServices()

type Body = Readonly<Record<string, unknown>>
type Script = (url: URL, count: number) => Body | Answer

/** Serves what the script makes of each request's address. */
async function start(script: Script) {
  let count = 0
  const { service, client } = await services.start((request: IncomingMessage, response) => {
    count += 1
    const made = script(new URL(request.url ?? '', 'http://x'), count)
    const answer = typeof made === 'function' ? made : reply(200, made)
    answer(request, response)
  })
  const pages: RawPage[] = []
  const walk = async (options: Partial<ListPagesOptions> = {}): Promise<RawPage[]> => {
    for await (const page of listPages(client, { path: '/containers', pageSize: 10, ...options })) {
      pages.push(page)
    }
    return pages
  }
  return { service, client, walk, pages }
}

const pageOf = (url: URL): number => Number(url.searchParams.get('page[number]'))
const sizeOf = (url: URL): number => Number(url.searchParams.get('page[size]'))

function rows(from: number, to: number) {
  const count = Math.max(0, to - from)
  return Array.from({ length: count }, (_, index) => container(`c${from + index}`))
}

function idsOf(pages: readonly RawPage[]): unknown[] {
  return pages.flatMap((page) => page.document.primary).map((row) => (row as { id: string }).id)
}

/** A well-behaved list of `count` rows. */
function serveRows(count: number, more: (url: URL) => Body = () => ({})): Script {
  return (url) => {
    const [number, size] = [pageOf(url), sizeOf(url)]
    const isLast = number * size >= count
    const next = isLast ? null : `?page[number]=${number + 1}&page[size]=${size}`
    const data = rows((number - 1) * size, Math.min(count, number * size))
    return { data, links: { next }, meta: { total: count, size }, ...more(url) }
  }
}

test('a record that is no JSON costs itself on a page', { tags: ['JC8'] }, async () => {
  const text = '{"data":[{"id":"a","type":"x","attributes":{"n":tru}},{"id":"b","type":"x"}]}'
  const { walk, service, client } = await start(() => reply(200, text))
  const [page] = await walk()
  const { document, observedAt } = page!
  const options = { stream: 'containers', source: '/containers', observedAt }
  const { sightings, quarantined } = readRawRecords(document, options)
  expect([...sightings.values()].flat().map(({ key }) => key)).toEqual(['x b'])
  expect(quarantined).toMatchObject([{ recordId: 'a', reason: 'the record is no JSON' }])
  expect(quarantined[0]?.payload).toContain('tru}')
  // As `webhooks list`, `check` and `webhooks create` read theirs.
  const webhooks = await listWebhookRecords(createTrackingService(client))
  expect(webhooks.map(({ webhookId }) => webhookId)).toEqual(['a', 'b'])
  expect(service.requests).toHaveLength(2)
})

describe('where a walk ends', () => {
  test.each([
    [0, 1],
    [1, 1],
    [9, 1],
    [10, 1],
    [11, 2],
    [20, 2],
  ])('%d rows take %d pages', { tags: ['P1'] }, async (count, pageCount) => {
    const { walk, service } = await start(serveRows(count))
    const pages = await walk()
    expect(idsOf(pages)).toEqual(idsOf(pages).slice(0, count))
    expect(new Set(idsOf(pages)).size).toBe(count)
    expect(service.requests).toHaveLength(pageCount)
    expect(pages.map((page) => page.number)).toEqual(pages.map((_, index) => index + 1))
    expect(pages.at(-1)).toMatchObject({ isLast: true, isShort: false, total: count })
  })

  test.each([null, undefined, '', '  ', 7, { href: null }])(
    'a next link of %j is none',
    { tags: ['P1'] },
    async (next) => {
      const { walk } = await start(() => ({ data: rows(0, 3), links: { next } }))
      expect(await walk()).toHaveLength(1)
    },
  )

  test.each([
    ['with a total, at once', { total: 20 }, 3],
    ['without one, after one page more', {}, 4],
  ])('an empty page with a next ends it %s', { tags: ['P1'] }, async (_name, meta, requests) => {
    const { walk, service } = await start((url) => {
      const number = pageOf(url)
      const next = number > 3 ? null : `?page[number]=${number + 1}`
      return { data: rows((number - 1) * 10, Math.min(20, number * 10)), links: { next }, meta }
    })
    const pages = await walk()
    expect(idsOf(pages)).toHaveLength(20)
    expect(service.requests).toHaveLength(requests)
    expect(pages.at(-1)?.isLast).toBe(true)
  })

  test('a full page without a successor is the last one, and says that rows are missing', async () => {
    const { walk } = await start(() => ({ data: rows(0, 10), meta: { total: 500 } }))
    const pages = await walk()
    expect(pages).toHaveLength(1)
    expect(pages[0]).toMatchObject({ isLast: true, isShort: true, rowsSoFar: 10, total: 500 })
  })

  describe('a page that answers 500 for good', { tags: ['JC10'] }, () => {
    const without = (...numbers: number[]): Script => {
      const serve = serveRows(35)
      return (url, count) => (numbers.includes(pageOf(url)) ? reply(500, '') : serve(url, count))
    }

    test.each([
      ['the first', [1], 1],
      ['the last', [4], 4],
      ['two in a row', [2, 3], 3],
    ])('%s: nothing is behind it', async (_what, numbers, requests) => {
      const { walk, service } = await start(without(...numbers))
      const { message } = await failureOf(walk())
      expect(message).toMatch(/If this page alone fails in every run.* on it\.$/)
      expect(new Set(service.requests).size).toBe(requests)
    })
  })

  test('a walk that goes on from a checkpoint knows its place', { tags: ['P14'] }, async () => {
    const { walk, service } = await start(serveRows(53))
    const pages = await walk({ startPage: 5 })
    expect(service.requests[0]).toContain('page[number]=5')
    expect(pages.map(({ number, rowsSoFar }) => [number, rowsSoFar])).toEqual([
      [5, 50],
      [6, 53],
    ])
    expect(pages.at(-1)?.isShort).toBe(false)
    const lastOnly = await (await start(serveRows(53))).walk({ startPage: 6 })
    expect(lastOnly[0]).toMatchObject({ rowsSoFar: 53, isShort: false })
  })
})

describe('totals and sizes', () => {
  test.each([
    ['with', { total: 14 }],
    ['without', {}],
  ])('%s a total the size that arrives is believed', { tags: ['P13'] }, async (_, meta) => {
    const { walk, service } = await start((url) => {
      const size = Math.min(3, sizeOf(url))
      const number = pageOf(url)
      const next = number * size >= 14 ? null : `?page[number]=${number + 1}&page[size]=${size}`
      const data = rows((number - 1) * size, Math.min(14, number * size))
      return { data, links: { next }, meta: { ...meta, size } }
    })
    const pages = await walk({ pageSize: 100 })
    expect(new Set(idsOf(pages)).size).toBe(14)
    expect(pages.at(-1)).toMatchObject({ isShort: false, number: 5 })
    expect(service.requests[1]).toContain('page[size]=3')
  })
})

describe('links', () => {
  test('what a link drops of our query is put back', { tags: ['P10'] }, async () => {
    const { walk, service } = await start((url) => ({
      data: rows(pageOf(url), pageOf(url) + 1),
      links: { next: pageOf(url) === 1 ? '/v2/containers?page[number]=2' : null },
    }))
    await walk({ includes: ['shipment'], query: { 'filter[status]': 'a b' }, pageSize: 7 })
    const second = new URL(service.requests[1]!.slice('GET '.length), 'http://x')
    expect(Object.fromEntries(second.searchParams)).toEqual({
      'page[number]': '2',
      'page[size]': '7',
      include: 'shipment',
      'filter[status]': 'a b',
    })
  })
})
