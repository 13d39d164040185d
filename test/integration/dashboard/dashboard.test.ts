import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import axe from 'axe-core'
import { parse } from 'csv-parse/sync'
import { chromium, type Browser, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { silentLogger } from '../../../src/base/logger.js'
import { formatCsv } from '../../../src/extensions/answers/output/print-answer.js'
import { readTable } from '../../../src/extensions/answers/read-answer.js'
import { storeViews } from '../../../src/extensions/answers/store-views.js'
import { STORED_VIEWS } from '../../../src/extensions/answers/stored-views.js'
import {
  createDashboardRoutes,
  type DashboardOptions,
} from '../../../src/extensions/dashboard/dashboard-routes.js'
import { askAsReader } from '../../../src/extensions/dashboard/read-panels.js'
import { OVERVIEW_PANELS } from '../../../src/extensions/dashboard/panels/business-panels.js'
import { FIGURE_PANELS } from '../../../src/extensions/dashboard/panels/figure-panels.js'
import { LIST_PANELS } from '../../../src/extensions/dashboard/panels/list-panels.js'
import type { Panel } from '../../../src/extensions/dashboard/panels/panels.js'
import { OPERATIONS_PANELS } from '../../../src/extensions/dashboard/panels/operations-panels.js'
import { onListedHosts } from '../../../src/http/listed-hosts.js'
import { startHttpServer, type HttpServer } from '../../../src/http/http-server.js'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'
import { createWarehouse, type Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { describeStatus } from '../../../src/status/describe-status.js'
import { readStatus } from '../../../src/status/read-status.js'
import { findBrowser } from '../../support/browser.js'
import { isOnCitus } from '../../support/distributed-database.js'
import { readWorkbook } from '../../support/read-workbook.js'
import { borrowTestWarehouse } from '../../support/reused-warehouse.js'
import { importExamples } from '../../support/scenes/charges.js'
import { openLoadedWeek, type LoadedWeek } from '../../support/scenes/loaded-week.js'

/** A page that waits for what does not come is a failure, and no long wait. */
const LIMIT_MS = 30_000

const HOSTILE = `<script>alert("1")</script> O'Brien & Söhne`

/** Lists without a container twice. */
const ONE_ROW_A_BOX = ['overdue', 'due', 'arriving', 'pickups']

const LOGO = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 1"/>'

let scene: LoadedWeek
let server: HttpServer
/** With a title, a logo and pages of the service. */
let branded: HttpServer
/** Containers past their last free day: one of a hostile customer, one of another. */
let boxes: { container_id: string; number: string; customer: string; terminal: string }[]

beforeAll(async () => {
  scene = await openLoadedWeek()
  // Another file may have loaded it a while ago.
  await scene.sync()
  const settings = { DATABASE_URL: scene.url, TRACKING_LOG_LEVEL: 'silent' }
  await importExamples(settings, ['holidays', 'free-time-rules'])
  await scene.query(
    `update tracking.shipments set customer_name = $1
    where shipment_id = (
      select shipment_id from tracking_analytics.costs where state = 'overdue'
      order by cost_amount desc nulls last, shipment_id limit 1
    )`,
    HOSTILE,
  )
  boxes = await scene.query(
    `select distinct on (customer_name) container_id, container_number as number,
      customer_name as customer, pod_terminal_id as terminal
    from tracking_analytics.costs
    where state = 'overdue' and customer_name is not null and pod_terminal_id is not null
    order by customer_name, container_id`,
  )
  boxes.sort((one, other) => Number(other.customer === HOSTILE) - Number(one.customer === HOSTILE))
  server = await openDashboard(scene.warehouse)
  branded = await openDashboard(scene.warehouse, {
    title: 'Acme & Sons',
    logo: LOGO,
    pageOf: (number) => `https://service.example/?a="&q=${String(number)}`,
  })
})

afterAll(async () => {
  for (const one of [server, branded]) await one.stop(1_000)
  await scene.close()
})

/** The pages of a warehouse in this process, open to everybody. */
function openDashboard(
  warehouse: Warehouse,
  more: Partial<DashboardOptions> = {},
): Promise<HttpServer> {
  const routes = createDashboardRoutes({
    warehouse,
    readStatus: () => readStatus(warehouse),
    logger: silentLogger,
    formatCsv,
    guard: (open) => open,
    facts: () =>
      Promise.resolve({ slots: { cron: '*/15 * * * *', timeZone: 'UTC' }, isServing: true }),
    describe: (status) => describeStatus(status, 100),
    ...more,
  })
  return startHttpServer({
    httpPort: 0,
    routes: onListedHosts(routes, new Set()),
    logger: silentLogger,
  })
}

/** The same until the end of a test. */
async function openForTest(...given: Parameters<typeof openDashboard>): Promise<HttpServer> {
  const opened = await openDashboard(...given)
  onTestFinished(() => opened.stop(1_000))
  return opened
}

async function get(path: string, of = server) {
  const response = await fetch(`${of.url}${path}`)
  const { status, url, headers } = response
  return { status, url, text: await response.text(), said: (name: string) => headers.get(name) }
}

/** A page once nothing on it is still being read, after the redirects to it. */
async function getPage(path: string, of = branded) {
  let page = await get(path, of)
  const ask = async () => (page = await get(path, of)).said('refresh')
  if (page.said('refresh') !== null) await expect.poll(ask, { timeout: 20_000 }).toBe(null)
  return page
}

/** The same warehouse through connections of its own. */
function openAnother(options: { readonly statementTimeoutMs: number }): Warehouse {
  const own = { url: scene.url, schema: 'tracking', logger: silentLogger }
  const warehouse = createWarehouse({ ...own, ...options })
  onTestFinished(() => warehouse.close())
  return warehouse
}

/** Readers of the containers wait until it is released. */
async function lockContainers(): Promise<() => Promise<void>> {
  const { client } = await scene.warehouse.another('lock')
  await client.query('begin')
  await client.query('lock table tracking.containers in access exclusive mode')
  const release = (): Promise<void> => client.end()
  onTestFinished(release)
  return release
}

/** Counts the panels that are read: in all, and at once at most. */
function countReading(warehouse: Warehouse) {
  const read = { all: 0, underWay: 0, most: 0 }
  const another: Warehouse['another'] = async (action) => {
    read.all += 1
    read.underWay += 1
    read.most = Math.max(read.most, read.underWay)
    const connection = await warehouse.another(action)
    connection.client.once('end', () => (read.underWay -= 1))
    return connection
  }
  return { warehouse: { ...warehouse, another }, read }
}

const getWhole = async (of = server, path = '/'): Promise<string> => (await getPage(path, of)).text

/** Statements of the overview: one for all panels of the same rows, and the filters' choices. */
const READ_FOR_OVERVIEW =
  new Set(
    [...OVERVIEW_PANELS, ...Object.values(FIGURE_PANELS)].map(({ id, rows }: Panel) => rows ?? id),
  ).size + 1

/** Of each panel on a page, its HTML. */
function figuresOf(page: string): Map<string, string> {
  const figures = page.split('<figure id="').slice(1)
  return new Map(figures.map((text) => [text.slice(0, text.indexOf('"')), text]))
}

describe('the page', () => {
  it('has a picture of every panel, a mark for each row', { tags: ['release'] }, async () => {
    const panels = [...OVERVIEW_PANELS, ...OPERATIONS_PANELS]
    const pages = `${await getWhole()}${await getWhole(server, '/operations')}`
    const figures = figuresOf(pages)
    expect([...figures.keys()]).toEqual(panels.map(({ id }) => id))
    const drawn: string[] = []
    for (const { id, picture } of panels) {
      const figure = figures.get(id) ?? ''
      expect(figure).not.toContain('class="problem"')
      const sql = await get(`/panels/${id}.sql`)
      const { rows } = await readTable(
        scene.warehouse,
        'ask again',
        rawStatement(sql.text.replace(/;\n$/, '')),
      )
      if (rows.length === 0) {
        expect(figure).toContain('class="empty"')
        continue
      }
      drawn.push(id)
      const [wide = ''] = figure.split('<div class="narrow">')
      const marks = /<g class="(?:rect|bar|cell)".*?<\/g>/s.exec(wide)?.[0] ?? ''
      const count = marks.split('<title>').length - 1
      if (picture.shape === 'list') {
        const links = figure.split('<a class="number" href="/containers/').length - 1
        expect({ id, links }).toEqual({ id, links: Math.min(rows.length, 8) })
      } else if (picture.shape !== 'line' && picture.shape !== 'map')
        expect({ id, count }).toEqual({ id, count: rows.length })
      const csv = await get(`/panels/${id}.csv`)
      // Those of the present go on while they are read.
      if (id !== 'freshness') {
        expect(csv.text.trimEnd().split('\r\n')).toHaveLength(rows.length + 1)
      }
    }
    expect(drawn).toEqual(expect.arrayContaining(['overdue', 'due', 'last-free-days', 'charges']))
    expect(drawn).toEqual(expect.arrayContaining(['matters-now', 'arrivals']))
    expect(drawn).toEqual(expect.arrayContaining(['eta-changes', 'exceptions', 'freshness']))
  })

  it('runs no script but our own, and takes nothing from elsewhere', async () => {
    const { text, said } = await get('/')
    const policy = said('content-security-policy')
    expect(policy).toContain("default-src 'none'; style-src 'self'; script-src 'self'")
    expect(policy).not.toContain('unsafe')
    const own = '<script src="/dashboard.js" defer></script>'
    expect(text.replace(own, '')).not.toMatch(/<script|<style| style=| on\w+=|https?:|\/\//)
  })

  it('finds a container by number, bill or reference', { tags: ['release'] }, async () => {
    const [box] = await scene.query<Record<'id' | 'number' | 'bill' | 'ref', string>>(
      `select container_id as id, number, bill_of_lading_number as bill,
        containers.ref_numbers[1] as ref
      from tracking.containers
      inner join tracking.shipments using (shipment_id)
      where containers.ref_numbers[1] is not null
      order by container_id
      limit 1`,
    )
    for (const [path, wanted, shown] of [
      ['/containers?find=', box!.id, '<h1>'],
      ['/containers?find=', box!.number.toLowerCase(), '<h1>'],
      // The address of former versions.
      ['/?container=', box!.bill, ''],
      ['/?container=', box!.ref, ''],
    ] as const) {
      const text = await getWhole(server, `${path}${encodeURIComponent(wanted)}`)
      expect(text).toContain(`${shown}${box!.number}`)
    }
    const rows = await get(`/panels/timeline.csv?container=${box!.id}`)
    expect(rows.text.split('\r\n').length).toBeGreaterThan(3)
  })
})

describe('when something is missing', () => {
  // No clock is read: the table stays locked until the test has its page.
  it('a slow panel costs itself, and says so', { tags: ['JE1'], timeout: LIMIT_MS }, async () => {
    const patient = await openForTest(openAnother({ statementTimeoutMs: 60_000 }))
    const hasty = await openForTest(openAnother({ statementTimeoutMs: 1_500 }))
    const release = await lockContainers()
    const early = await get('/', patient)
    expect([early.status, early.said('refresh')]).toEqual([200, '3'])
    const unread = figuresOf(early.text)
    expect(unread.size).toBe(OVERVIEW_PANELS.length)
    expect(unread.get('exceptions')).toContain('Still being read.')
    const csv = await get('/panels/exceptions.csv', hasty)
    expect(csv.status).toBe(503)
    expect(csv.text).toMatch(/^The answer took too long/)
    const late = await getWhole(hasty)
    expect(late).not.toContain('The database does not answer')
    const figures = figuresOf(late)
    expect(figures.get('exceptions')).toContain('The answer took too long.')
    const operations = figuresOf(await getWhole(hasty, '/operations'))
    expect(operations.get('freshness')).toContain('<svg')
    await release()
  })

  it(
    'all who ask share one bound and one reading of a panel, as page and as CSV',
    { tags: ['JD4', 'JP5', 'release'], timeout: 2 * LIMIT_MS },
    async () => {
      const { warehouse, read } = countReading(scene.warehouse)
      const dashboard = await openForTest(warehouse)
      const many = (path: (at: number) => string) =>
        Array.from({ length: 100 }, (_, at) => get(path(at), dashboard))
      const asked = await Promise.all([
        get('/', dashboard),
        get('/', dashboard),
        ...many(() => '/panels/arrivals.csv'),
      ])
      expect(asked.filter(({ status }) => status !== 200)).toEqual([])
      await getWhole(dashboard)
      expect(READ_FOR_OVERVIEW).toBe(9)
      expect([read.all, read.most]).toEqual([READ_FOR_OVERVIEW, 3])
      // Nobody is done while the table is locked: three are read, forty wait, the rest is refused.
      const release = await lockContainers()
      let refused = 0
      const answers = many((at) => `/panels/timeline.csv?container=${at}`).map(async (answer) => {
        const { status, text } = await answer
        if (text === 'Too many requests at once. Try again in a moment.\n') refused += 1
        return status
      })
      await expect.poll(() => refused, { timeout: 20_000 }).toBe(57)
      expect([read.all, read.most]).toEqual([READ_FOR_OVERVIEW + 3, 3])
      await release()
      const statuses = await Promise.all(answers)
      expect(statuses.filter((status) => status === 200)).toHaveLength(43)
      expect(statuses.filter((status) => status === 503)).toHaveLength(57)
      expect(read.most).toBe(3)
    },
  )

  it('reads the overview before anybody asks for it, and says how fresh it is', async () => {
    const { warehouse, read } = countReading(scene.warehouse)
    const dashboard = await openForTest(warehouse, {
      readsAhead: { until: new AbortController().signal },
    })
    await expect.poll(() => [read.all, read.underWay]).toEqual([READ_FOR_OVERVIEW, 0])
    const { text } = await get('/', dashboard)
    expect(text).not.toContain('Still being read.')
    expect(text).toMatch(
      /<p class="light green">.*Fresh: the last complete sync began \d+ (?:s|min) ago, the next is due in \d+ (?:s|min)\./,
    )
    expect(read.all).toBe(READ_FOR_OVERVIEW)
  })

  it('an empty warehouse says what to do next', { tags: ['release'] }, async () => {
    const { warehouse, drop } = await borrowTestWarehouse()
    onTestFinished(drop)
    const empty = await openForTest(warehouse)
    const { text } = await get('/', empty)
    expect(text).toContain('No sync has completed yet.')
    expect(text).toContain('Start with <code>tracking-sync backfill</code>')
    expect(text).not.toContain('<figure')
  })

  it('tells of a database that is away, and comes back', { tags: ['release'] }, async () => {
    const sockets: Socket[] = []
    const silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const url = new URL(scene.url)
    url.port = String((silent.address() as AddressInfo).port)
    const warehouse = createWarehouse({ url: url.href, schema: 'tracking', logger: silentLogger })
    onTestFinished(async () => {
      for (const socket of sockets) socket.destroy()
      silent.close()
      await warehouse.close()
    })
    const lost = await openForTest(warehouse)
    // The socket never answers, and our own limit of a connection is longer.
    const response = await fetch(lost.url, { signal: AbortSignal.timeout(8_000) })
    expect(response.status).toBe(503)
    expect(response.headers.get('refresh')).toBe('5')
    expect(await response.text()).toContain('The database does not answer.')
  })
})

it('answers what the dashboard for Grafana asks', { tags: ['FD13', 'release'] }, async () => {
  const file = new URL('../../../config/grafana-dashboard.json', import.meta.url)
  const { panels } = JSON.parse(await readFile(file, 'utf8')) as {
    panels: { title: string; targets?: { rawSql?: string }[] }[]
  }
  const { signal } = new AbortController()
  const views = STORED_VIEWS.filter(({ name }) => name === 'attention')
  await storeViews(scene.warehouse, { logger: silentLogger, signal, views })
  let asked = 0
  for (const { title, targets = [] } of panels) {
    for (const { rawSql } of targets) {
      if (rawSql === undefined) continue
      for (const schema of ['tracking_analytics', 'tracking_stored']) {
        const sqlText = rawSql
          .replaceAll('$views', schema)
          .replaceAll(/\$__timeFilter\((.*?)\)/g, `$1 between now() - interval '7 days' and now()`)
        asked += 1
        expect(await scene.query(sqlText), `${title}: ${sqlText}`).not.toEqual([])
      }
    }
  }
  expect(asked).toBeGreaterThan(10)
})

// On nodes nobody becomes the role of readers.
it.skipIf(isOnCitus)('reads as the role of readers where it is there', async () => {
  const schema = `dashboard_${process.pid}`
  const warehouse = createWarehouse({ url: scene.url, schema, logger: silentLogger })
  onTestFinished(() => warehouse.close())
  const whoReads = async () => (await askAsReader(warehouse, 'select current_user')).rows[0]?.[0]
  expect(await whoReads()).not.toBe(`${schema}_reader`)
  await scene.query(`create role ${schema}_reader nologin`)
  onTestFinished(async () => {
    await scene.query(`drop role ${schema}_reader`)
  })
  expect(await whoReads()).toBe(`${schema}_reader`)
})

/** The rows of a CSV by their columns. */
async function getRows(path: string): Promise<Record<string, string>[]> {
  const { status, text } = await getPage(path)
  expect({ path, status }).toEqual({ path, status: 200 })
  return parse<Record<string, string>>(text, { columns: true })
}

/** The values of the figures of a page, in their order. */
function valuesOf(text: string, id: string): string[] {
  const [part = ''] = text.split(`id="${id}"`).slice(1)
  const [own = ''] = part.split('<div class="figure"')
  return [...own.matchAll(/<data[^>]* value="([^"]*)"/g)].map(([, value = '']) => value)
}

const search = (filters: Record<string, string>) => new URLSearchParams(filters).toString()

describe('the figures', () => {
  it.each([
    ['of all', {}],
    ['of a customer', { customer: HOSTILE }],
  ])('are sums, %s', { tags: ['release'] }, async (_name, filters: { customer?: string }) => {
    const { customer = null } = filters
    const money = await scene.query<Record<'currency' | 'cost' | 'next', string | null>>(
      `select currency_code as currency, sum(cost_amount) as cost, sum(next_day_amount) as next
      from tracking_analytics.costs
      where state = 'overdue' and ($1::text is null or customer_name = $1)
        and currency_code is not null
      group by 1 order by 2 desc nulls last, 3 desc nulls last, 1`,
      customer,
    )
    const [counts] = await scene.query<Record<'overdue' | 'due' | 'arriving', string>>(
      `select
        (select count(distinct container_id)::text from tracking_analytics.costs
          where state = 'overdue' and ($1::text is null or customer_name = $1)) as overdue,
        (select count(distinct container_id)::text from tracking_analytics.last_free_days
          where state in ('upcoming', 'due_today') and days_left <= 2
            and ($1::text is null or customer_name = $1)) as due,
        (select count(*)::text from tracking_analytics.arrivals
          where state = 'expected' and days_until between 0 and 6
            and ($1::text is null or customer_name = $1)) as arriving`,
      customer,
    )
    const { text } = await getPage(`/?${search(filters)}`)
    const costs = [...money.map(({ cost }) => cost), ...money.map(({ next }) => next)]
    const names = ['overdue', 'cost', 'due', 'arriving']
    expect(names.map((name) => valuesOf(text, `figure-${name}`))).toEqual([
      ...[[counts!.overdue], costs.filter((value) => value !== null)],
      ...[[counts!.due], [counts!.arriving]],
    ])
    expect(Number(counts!.overdue)).toBeGreaterThan(0)
    expect(text).toMatch(/id="figure-fresh">[^]*fresh \d+ (?:s|min)/)
    expect(text).toContain('<a href="/"><img src="/logo.svg" alt="">Acme &#38; Sons</a>')
    const logo = await get('/logo.svg', branded)
    expect([logo.said('content-type'), logo.text]).toEqual(['image/svg+xml', LOGO])
  })
})

describe('the filters', () => {
  it('hold for every list, CSV and panel', { tags: ['JP1'], timeout: LIMIT_MS }, async () => {
    const [{ customer, terminal }] = boxes as [(typeof boxes)[0]]
    let narrowed = 0
    for (const { id } of LIST_PANELS) {
      const chosen: { customer?: string; terminal?: string }[] = [{}, { customer }, { terminal }]
      const [all = [], ...answers] = await Promise.all(
        chosen.map((filters) => getRows(`/panels/${id}.csv?${search(filters)}`)),
      )
      if (ONE_ROW_A_BOX.includes(id)) {
        const ids = new Set(all.map((row) => row.container_id))
        expect({ id, rows: all.length }).toEqual({ id, rows: ids.size })
      }
      for (const [at, rows] of answers.entries()) {
        const filters = chosen[at + 1]!
        const wanted = all.filter(
          (row) => row.customer === filters.customer || row.pod_terminal_id === filters.terminal,
        )
        expect({ id, filters, rows }).toEqual({ id, filters, rows: wanted })
        if (rows.length > 0 && rows.length < all.length) narrowed += 1
      }
    }
    expect(narrowed).toBeGreaterThan(2)
    const { text } = await getPage(`/overdue?${search({ terminal })}`)
    const shown = [...text.matchAll(/class="number" href="\/containers\/([A-Z0-9]+)/g)]
    const rows = await getRows(`/panels/overdue.csv?${search({ terminal })}`)
    expect(shown.map(([, number]) => number)).toEqual(rows.map(({ container }) => container))
  })

  it('are parameters, and never text of a statement', { tags: ['release'] }, async () => {
    const filters = search({ customer: HOSTILE, port: `'; drop table x; --` })
    for (const { id } of [...OVERVIEW_PANELS, ...Object.values(FIGURE_PANELS)]) {
      const { text } = await getPage(`/panels/${id}.sql?${filters}`)
      const statement = text.replaceAll(/^--.*$/gm, '')
      expect(statement, id).toMatch(/customer_name = \$1[^]*locode = \$2/)
      expect(statement).not.toMatch(/O'Brien|drop table/)
      const rows = await getRows(`/panels/${id}.csv?${filters}`)
      const isOne = ['overdue-figures', 'due-figures', 'arriving-figures'].includes(id)
      expect(rows, id).toMatchObject(isOne ? [{ containers: '0' }] : [])
    }
  })

  it('sort the rows of a list, its CSV and its workbook, empty values last', async () => {
    const rows = await getRows('/panels/overdue.csv?sort=-next_day')
    const values = rows.map(({ next_day: value = '' }) => (value === '' ? -1 : Number(value)))
    expect(values).toEqual([...values].sort((one, other) => other - one))
    const { text } = await getPage('/overdue?sort=-next_day')
    expect(text).toContain('aria-sort="descending"')
    expect(text).toContain('<a href="/panels/overdue.xlsx?sort=-next_day">Excel</a>')
    const workbook = await fetch(`${branded.url}/panels/overdue.xlsx?sort=-next_day`)
    const [head, ...sheet] = readWorkbook(Buffer.from(await workbook.arrayBuffer())).rows
    const at = head!.indexOf('container')
    expect(sheet.map((row) => row[at])).toEqual(rows.map(({ container }) => container))
    expect(text.indexOf(rows[0]!.container!)).toBeLessThan(text.indexOf(rows.at(-1)!.container!))
  })
})

describe('a mark of a picture', () => {
  /** The sum of the rows of a list behind a mark, of each picture. */
  const sums: Readonly<Record<string, (rows: Record<string, string>[]) => number>> = {
    'last-free-days': (rows) => rows.length,
    arrivals: (rows) => rows.length,
    exceptions: (rows) => new Set(rows.map(({ container_id: id }) => id)).size,
    charges: (rows) => rows.reduce((sum, { amount }) => sum + Math.round(Number(amount) * 100), 0),
    'eta-changes': (rows) =>
      new Set(rows.map((row) => `${row.bill_of_lading} ${row.changed_at}`)).size,
    places: (rows) => rows.length,
  }

  /** The circles of a place, or the mark of a ship. */
  const marksOfPlace = (row: Record<string, string>): Record<string, string>[] =>
    [
      { state: 'there now', counted: row.there_now! },
      { state: 'on the way', counted: row.on_the_way! },
    ].flatMap((part) => (row.latitude === '' || part.counted === '0' ? [] : [{ ...row, ...part }]))

  it('leads to its own rows', { tags: ['JP4', 'release'], timeout: LIMIT_MS }, async () => {
    const { text } = await getPage('/')
    const leading = OVERVIEW_PANELS.filter(({ id }) => sums[id] !== undefined)
    expect(leading).toHaveLength(Object.keys(sums).length)
    for (const { id, leadsTo, picture } of leading) {
      const [figure = ''] = text.split(`<figure id="${id}"`).slice(1)
      const drawn = figure.split('</figure>')[0]!.replaceAll(/&(?:#38|amp);/g, '&')
      const all = await getRows(`/panels/${id}.csv`)
      const marks = picture.shape === 'map' ? all.flatMap(marksOfPlace) : all
      // The ports that share a colour lead nowhere: no list has their rows alone.
      const leads = marks.filter(({ port, mark }) => port !== 'others' && mark !== '')
      const links = new Set(drawn.match(new RegExp(`href="${leadsTo!.path}\\?[^"]*"`, 'g')))
      // A row of the table of the map leads to both of its marks.
      const ofTable = picture.shape === 'map' ? all.filter(({ mark }) => mark !== '').length : 0
      expect({ id, links: links.size }).toEqual({ id, links: leads.length + ofTable })
      const value = picture.shape === 'columns' || picture.shape === 'bars' ? picture.value : ''
      const [first, middle, last] = [leads.at(0)!, leads.at(leads.length / 2)!, leads.at(-1)!]
      for (const mark of new Set([first, middle, last])) {
        const by = Object.entries(leadsTo!.by!).map(([name, column]) => [name, mark[column]!])
        const filters = Object.fromEntries(by) as Record<string, string>
        const rows = await getRows(`/panels${leadsTo!.path}.csv?${search(filters)}`)
        const counted = Number(mark[value] ?? mark.counted) * (id === 'charges' ? 100 : 1)
        const sum = sums[id]!(rows)
        expect({ id, filters, sum }).toEqual({ id, filters, sum: Math.round(counted) })
      }
    }
  })
})

describe('the map', () => {
  it('has every known place, with what is there and on its way', { tags: ['JP4'] }, async () => {
    const wanted = await scene.query<{ locode: string; there: number; coming: number }>(
      `select locode, sum(there) as there, sum(coming) as coming
        from (
          select place_locode as locode, 1 as there, 0 as coming
          from tracking_analytics.container_stays
          where has_begun and not has_ended and not is_untold
          union all
          -- Its ship has come, and it is still on board.
          select port_of_discharge_locode, 1, 0
          from tracking_parts.journey_facts
          where has_vessel_arrived and not has_landed and not is_left_behind and not is_delivered
            and not is_tracking_stopped
          union all
          select port_of_discharge_locode, 0, 1
          from tracking_parts.expected_arrivals
          inner join tracking_parts.journey_facts using (container_id, port_of_discharge_locode)
          where state <> 'left_behind' and should_have_departed
            and not journey_facts.is_tracking_stopped
          union all
          select place_locode, 0, 1
          from tracking_analytics.container_stays
          where place = 'ramp' and not has_begun and not has_ended and not is_tracking_stopped
            and container_id in (
              select container_id from tracking_parts.journey_facts where has_left_port
            )
        ) as each
        group by 1`,
    )
    const rows = await getRows('/panels/places.csv')
    const places = rows.filter(({ kind }) => kind !== 'ship')
    const sum = (name: string) => places.reduce((total, row) => total + Number(row[name]), 0)
    const spots = await scene.query<{ code: string; name: string }>(
      `select code, name from tracking.ports where latitude is not null
        union select code, name from tracking.metro_areas where latitude is not null`,
    )
    const all = wanted.reduce((total, { there, coming }) => total + there + coming, 0)
    expect(all).toBeGreaterThan(20)
    expect(sum('there_now') + sum('on_the_way')).toBe(all)
    for (const { locode, there, coming } of wanted) {
      const port = places.find(({ kind, mark }) => mark === `${kind} ${locode}`)
      if (port === undefined) continue
      const counted = { there_now: String(there), on_the_way: String(coming) }
      expect(port, locode).toMatchObject(counted)
    }
    expect(places.filter(({ latitude }) => latitude !== '').length).toBeGreaterThan(5)
    const known = new Set(spots.map(({ code }) => code))
    const lost = places.filter(({ latitude }) => latitude === '')
    expect(lost.filter(({ mark = '' }) => known.has(mark.split(' ').at(-1)!))).toEqual([])
  })
})

it('escapes texts of the data wherever shown', { tags: ['JP3'], timeout: LIMIT_MS }, async () => {
  const [box] = boxes
  expect(box!.customer).toBe(HOSTILE)
  for (const path of [
    `/?${search({ customer: HOSTILE })}`,
    '/overdue',
    `/containers/${box!.number}`,
  ]) {
    const { status, text } = await getPage(path)
    expect(status).toBe(200)
    expect(text).toContain('&#60;script&#62;alert(&#34;1&#34;)&#60;/script&#62; O&#39;Brien &#38;')
    expect(text.replaceAll('<script src="/dashboard.js" defer></script>', '')).not.toMatch(
      /<script/,
    )
    // The page of a container leads to that of its number at the service.
    const links = [...text.matchAll(/href="(https?:[^"]*)"/g)].map(([, address]) => address)
    const service = `https://service.example/?a=&#34;&#38;q=${box!.number}`
    expect(links).toEqual(path.startsWith('/containers/') ? [service] : [])
  }
})

describe('the page of a container', () => {
  it('shows what the answers say', { tags: ['release'] }, async () => {
    const [{ number, container_id: id }] = boxes as [(typeof boxes)[0]]
    const { text } = await getPage(`/containers/${number}`)
    expect(text).toContain(`<h1>${number}`)
    const [cost] = await scene.query<{ sum: string; journey: number }>(
      `select sum(cost_amount)::numeric(20, 2) as sum from tracking_analytics.costs
      where container_id = $1`,
      id,
    )
    expect(text).toContain(`<dt>Cost so far</dt><dd>`)
    expect(text).toContain(`<data value="${cost!.sum}">`)
    expect(text.split('<li class="station ').length - 1).toBeGreaterThan(2)
    expect(text).toMatch(/<span class="badge bad">\d+ days? over/)
    for (const panel of ['moves', 'evidence']) {
      expect(text).toContain(`/panels/${panel}.csv?container=${id}`)
      expect((await getRows(`/panels/${panel}.csv?container=${id}`)).length).toBeGreaterThan(0)
    }
  })

  it('says so where nobody tracks a number', { tags: ['JP2'], timeout: LIMIT_MS }, async () => {
    const { status, text } = await getPage('/containers/XXXU%22%3Cb%3E')
    expect(status).toBe(404)
    expect(text).toContain('<p>The warehouse has no container &#34;XXXU')
    expect(text).not.toContain('<b>')
    expect(text.split('<form class="search"').length - 1).toBe(2)
    expect((await getPage('/containers/%E0%A4%A')).status).toBe(404)
  })

  it('is the newest journey of a number, and names others', { tags: ['release'] }, async () => {
    const [, { number, container_id: newest }] = boxes as [unknown, (typeof boxes)[0]]
    await scene.query(
      `insert into tracking.containers
      select made.*
      from tracking.containers as container
      cross join lateral jsonb_populate_record(
        container,
        '{"container_id": "an earlier journey", "created_at": "2020-01-01T00:00:00Z"}'
      ) as made
      where container.container_id = $1`,
      newest,
    )
    const page = await getPage(`/containers/${number}`)
    expect(page.text).toContain(`csv?container=${newest}`)
    expect(page.text).toContain('Other journeys of this number')
    const [, address = ''] = /href="(\/containers\/[^"]*id=an\+earlier[^"]*)"/.exec(page.text) ?? []
    const earlier = await getPage(address.replaceAll('&#38;', '&'))
    expect(earlier.text).toContain('csv?container=an%20earlier%20journey')
    const found = await getPage(`/containers?find=${number}`)
    expect(new URL(found.url).pathname).toBe(`/containers/${number}`)
    expect(found.text).toContain(`csv?container=${newest}`)
  })
})

const path = findBrowser()

if (path === undefined) {
  it('WAS NOT SEEN IN A BROWSER: install chromium', () => {
    expect(path).toBeUndefined()
    process.stderr.write('The dashboard was not seen in a browser: chromium is not installed.\n')
  })
} else {
  describe('in a browser', () => {
    seeInBrowser(path)
  })
}

function seeInBrowser(executablePath: string): void {
  let browser: Browser

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  })

  afterAll(() => browser.close())

  async function open(path = '/'): Promise<{ page: Page; complaints: string[] }> {
    // A page with late parts reloads itself under the hands of a test.
    await getWhole(server, path)
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
    onTestFinished(() => page.close())
    const complaints: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    page.on('requestfailed', (request) => complaints.push(request.url()))
    await page.goto(`${server.url}${path}`)
    return { page, complaints }
  }

  const pathOfContainer = (): string => `/containers/${boxes[0]!.number}`

  /** Also what opens on a click is looked at. */
  async function fits(one: string, path: string): Promise<void> {
    const { page, complaints } = await open(path)
    for (const summary of await page.locator('summary').all()) await summary.click()
    for (const [width, height, colorScheme] of [
      [1280, 900, 'light'],
      [390, 844, 'dark'],
    ] as const) {
      await page.setViewportSize({ width, height })
      await page.emulateMedia({ colorScheme })
      const [needed, there] = await page.evaluate<[number, number]>(
        '[document.body.scrollWidth, window.innerWidth]',
      )
      expect(there).toBe(width)
      expect(needed).toBeLessThanOrEqual(there)
      const { violations } = await page.evaluate<{
        violations: { id: string; nodes: { html: string }[] }[]
      }>(`${axe.source}; axe.run()`)
      expect(violations.map(({ id, nodes }) => [width, id, nodes[0]?.html])).toEqual([])
      // Each picture is drawn at two widths, and one is shown.
      expect(await page.locator(one).count()).toBe(1)
    }
    expect(complaints).toEqual([])
  }

  it('the overview fits a desk and a telephone', { tags: ['release'] }, async () => {
    await fits('#exceptions svg.picture:visible', '/')
  })

  it.each([
    ['a list', '#overdue table:visible', () => '/overdue'],
    ['a container', '#moves svg.picture:visible', pathOfContainer],
  ])('%s fits them too', { tags: ['release'] }, async (_name, one, path) => {
    await fits(one, path())
  })

  it('a container prints on one sheet', { tags: ['JP2', 'release'] }, async () => {
    const { page } = await open(pathOfContainer())
    const sheets = (await page.pdf({ format: 'A4' })).toString('latin1')
    expect(sheets.match(/\/Type \/Page\b(?!s)/g)).toHaveLength(1)
  })

  it('reads itself again each minute', { tags: ['JP5', 'release'] }, async () => {
    await getWhole(server, '/operations')
    const page = await browser.newPage()
    onTestFinished(() => page.close())
    await page.clock.install()
    await page.goto(`${server.url}/operations`)
    await page.evaluate("document.querySelector('main').id = 'former'")
    await page.clock.runFor(59_000)
    expect(await page.locator('#former').count()).toBe(1)
    await page.clock.runFor(2_000)
    await page.waitForSelector('main:not(#former) h1')
  })
}
