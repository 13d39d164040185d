import { sql } from 'kysely'
import { EventEmitter, once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import axe from 'axe-core'
import { chromium, type Browser, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { silentLogger } from '../../../src/base/logger.js'
import { formatCsv } from '../../../src/extensions/answers/output/print-answer.js'
import { readTable } from '../../../src/extensions/answers/read-answer.js'
import { askAsReader } from '../../../src/extensions/dashboard/read-panels.js'
import { OVERVIEW_PANELS } from '../../../src/extensions/dashboard/panels/business-panels.js'
import { FIGURE_PANELS } from '../../../src/extensions/dashboard/panels/figure-panels.js'
import type { Panel } from '../../../src/extensions/dashboard/panels/panels.js'
import { createDashboardRoutes } from '../../../src/extensions/dashboard/dashboard-routes.js'
import { OPERATIONS_PANELS } from '../../../src/extensions/dashboard/panels/operations-panels.js'
import { onListedHosts } from '../../../src/http/listed-hosts.js'
import { startHttpServer, type HttpServer } from '../../../src/http/http-server.js'
import { readStatus } from '../../../src/status/read-status.js'
import { describeStatus } from '../../../src/status/describe-status.js'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'
import { createWarehouse, type Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { findBrowser } from '../../support/browser.js'
import { isOnCitus } from '../../support/distributed-database.js'
import { borrowTestWarehouse } from '../../support/reused-warehouse.js'
import { importExamples } from '../../support/scenes/charges.js'
import { openLoadedWeek, type LoadedWeek } from '../../support/scenes/loaded-week.js'
import { askAsGrafana } from './ask-as-grafana.js'

/** A page that waits for what does not come is a failure, and no long wait. */
const LIMIT_MS = 30_000

let scene: LoadedWeek
let server: HttpServer

beforeAll(async () => {
  scene = await openLoadedWeek()
  // Another file may have loaded it a while ago.
  await scene.sync()
  const settings = { DATABASE_URL: scene.url, TRACKING_LOG_LEVEL: 'silent' }
  await importExamples(settings, ['holidays', 'free-time-rules'])
  server = await openDashboard(scene.warehouse)
})

afterAll(async () => {
  await server.stop(1_000)
  await scene.close()
})

function openDashboard(
  warehouse: Warehouse,
  given: { readonly readsAhead?: { readonly until: AbortSignal } } = {},
): Promise<HttpServer> {
  const routes = createDashboardRoutes({
    ...given,
    warehouse,
    readStatus: () => readStatus(warehouse),
    logger: silentLogger,
    formatCsv,
    guard: (routes) => routes,
    facts: () =>
      Promise.resolve({ slots: { cron: '*/15 * * * *', timeZone: 'UTC' }, isServing: true }),
    describe: (status) => describeStatus(status, 100),
  })
  return startHttpServer({
    httpPort: 0,
    routes: onListedHosts(routes, new Set()),
    logger: silentLogger,
  })
}

async function get(path: string, of = server): Promise<{ status: number; text: string }> {
  const response = await fetch(`${of.url}${path}`)
  return { status: response.status, text: await response.text() }
}

/** The same warehouse through connections of its own. */
function openAnother(options: { readonly statementTimeoutMs: number }): Warehouse {
  const warehouse = createWarehouse({
    url: scene.url,
    schema: 'tracking',
    logger: silentLogger,
    ...options,
  })
  onTestFinished(() => warehouse.close())
  return warehouse
}

/** Readers of the table wait until it is released. */
async function lockTable(
  warehouse: Warehouse,
  table: string,
): Promise<{ readonly release: () => Promise<void> }> {
  const steps = new EventEmitter()
  const released = once(steps, 'released')
  const locked = once(steps, 'locked')
  const over = warehouse.transaction('lock a table', async (session) => {
    await session.query('lock', sql`lock table ${sql.raw(table)} in access exclusive mode`)
    steps.emit('locked')
    await released
  })
  const release = async (): Promise<void> => {
    steps.emit('released')
    await over
  }
  onTestFinished(release)
  await Promise.race([locked, over])
  return { release }
}

/** Counts the panels that are read: in all, and at once at most. */
function countReading(warehouse: Warehouse) {
  let all = 0
  let underWay = 0
  let most = 0
  const another: Warehouse['another'] = async (action) => {
    all += 1
    underWay += 1
    most = Math.max(most, underWay)
    const connection = await warehouse.another(action)
    connection.client.once('end', () => (underWay -= 1))
    return connection
  }
  return {
    warehouse: { ...warehouse, another },
    all: () => all,
    underWay: () => underWay,
    most: () => most,
  }
}

/** The page, once nothing on it is still being read. */
async function getWhole(of = server, path = '/'): Promise<string> {
  let text = ''
  const ask = async (): Promise<string | null> => {
    const response = await fetch(`${of.url}${path}`)
    text = await response.text()
    return response.headers.get('refresh')
  }
  await expect.poll(ask, { timeout: 20_000 }).toBe(null)
  return text
}

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

  it('says in one sentence how fresh it is, and when the next sync is due', async () => {
    const text = expect.poll(async () => (await get('/')).text, { timeout: 20_000 })
    await text.toMatch(
      /<p class="light green">.*Fresh: the last complete sync began \d+ (?:s|min) ago, the next is due in \d+ (?:s|min)\./,
    )
  })

  it('runs no script but our own, and takes nothing from elsewhere', async () => {
    const response = await fetch(`${server.url}/`)
    const policy = response.headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'; style-src 'self'; script-src 'self'")
    expect(policy).not.toContain('unsafe')
    const text = await response.text()
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
    for (const wanted of [box!.id, box!.number.toLowerCase()]) {
      const text = await getWhole(server, `/containers?find=${encodeURIComponent(wanted)}`)
      expect(text).toContain(`<h1>${box!.number}`)
    }
    for (const wanted of [box!.bill, box!.ref]) {
      // The address of former versions.
      const text = await getWhole(server, `/?container=${encodeURIComponent(wanted)}`)
      expect(text).toContain(box!.number)
    }
    const rows = await get(`/panels/timeline.csv?container=${box!.id}`)
    expect(rows.text.split('\r\n').length).toBeGreaterThan(3)
  })
})

describe('when something is missing', () => {
  it('a question that fails leaves the other panels', { tags: ['release'] }, async () => {
    const { warehouse, drop } = await borrowTestWarehouse()
    onTestFinished(drop)
    await warehouse.query(
      'a run',
      sql`insert into tracking_sync.sync_runs (command) values ('sync')`,
    )
    await warehouse.query(
      'break a view',
      sql`create or replace view tracking_stored.attention as
      select shown.*
      from tracking_analytics.attention as shown
      where 1 / (select 0) = 1`,
    )
    const broken = await openDashboard(warehouse)
    onTestFinished(() => broken.stop(1_000))
    const figures = figuresOf(await getWhole(broken))
    const failed = [...figures].filter(([, text]) => text.includes('class="problem"'))
    expect(failed.map(([id]) => id)).toEqual(['matters-now', 'exceptions'])
    expect(failed[0]?.[1]).toContain('The question failed: division by zero')
  })

  // No clock is read: the table stays locked until the test has its page.
  it('a slow panel costs itself, and says so', { tags: ['JE1'], timeout: LIMIT_MS }, async () => {
    const patient = await openDashboard(openAnother({ statementTimeoutMs: 60_000 }))
    onTestFinished(() => patient.stop(1_000))
    const hasty = await openDashboard(openAnother({ statementTimeoutMs: 1_500 }))
    onTestFinished(() => hasty.stop(1_000))
    const { release } = await lockTable(scene.warehouse, 'tracking.containers')
    const early = await fetch(patient.url)
    expect([early.status, early.headers.get('refresh')]).toEqual([200, '3'])
    const unread = figuresOf(await early.text())
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
      const counted = countReading(scene.warehouse)
      const dashboard = await openDashboard(counted.warehouse)
      onTestFinished(() => dashboard.stop(1_000))
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
      expect([counted.all(), counted.most()]).toEqual([READ_FOR_OVERVIEW, 3])
      // Nobody is done while the table is locked: three are read, forty wait, the rest is refused.
      const { release } = await lockTable(scene.warehouse, 'tracking.containers')
      let refused = 0
      const answers = many((at) => `/panels/timeline.csv?container=${at}`).map(async (answer) => {
        const { status, text } = await answer
        if (text === 'Too many requests at once. Try again in a moment.\n') refused += 1
        return status
      })
      await expect.poll(() => refused, { timeout: 20_000 }).toBe(57)
      expect([counted.all(), counted.most()]).toEqual([READ_FOR_OVERVIEW + 3, 3])
      await release()
      const statuses = await Promise.all(answers)
      expect(statuses.filter((status) => status === 200)).toHaveLength(43)
      expect(statuses.filter((status) => status === 503)).toHaveLength(57)
      expect(counted.most()).toBe(3)
    },
  )

  it('reads the overview before anybody asks for it', async () => {
    const counted = countReading(scene.warehouse)
    const dashboard = await openDashboard(counted.warehouse, {
      readsAhead: { until: new AbortController().signal },
    })
    onTestFinished(() => dashboard.stop(1_000))
    await expect.poll(() => [counted.all(), counted.underWay()]).toEqual([READ_FOR_OVERVIEW, 0])
    const { text } = await get('/', dashboard)
    expect(text).not.toContain('Still being read.')
    expect(counted.all()).toBe(READ_FOR_OVERVIEW)
  })

  it('an empty warehouse says what to do next', { tags: ['release'] }, async () => {
    const { warehouse, drop } = await borrowTestWarehouse()
    onTestFinished(drop)
    const empty = await openDashboard(warehouse)
    onTestFinished(() => empty.stop(1_000))
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
    const warehouse = createWarehouse({
      url: url.href,
      schema: 'tracking',
      logger: silentLogger,
    })
    const lost = await openDashboard(warehouse)
    onTestFinished(async () => {
      await lost.stop(1_000)
      for (const socket of sockets) socket.destroy()
      silent.close()
      await warehouse.close()
    })
    // The socket never answers, and our own limit of a connection is longer.
    const response = await fetch(lost.url, { signal: AbortSignal.timeout(8_000) })
    expect(response.status).toBe(503)
    expect(response.headers.get('refresh')).toBe('5')
    expect(await response.text()).toContain('The database does not answer.')
  })
})

// On nodes nobody becomes the role of readers.
it.skipIf(isOnCitus)(
  'answers a reader what the dashboard for Grafana asks',
  { tags: ['FD13', 'release'] },
  async () => {
    const counts = await askAsGrafana(scene.warehouse)
    expect(counts.size).toBeGreaterThan(10)
    expect([...counts].flatMap(([name, rows]) => (rows === 0 ? [name] : []))).toEqual([])
  },
)

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

  async function pathOfContainer(): Promise<string> {
    const [box] = await scene.query<{ number: string }>(
      `select container_number as number from tracking_analytics.costs
      where state = 'overdue' order by cost_amount desc nulls last, container_id limit 1`,
    )
    return `/containers/${box!.number}`
  }

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
    await fits(one, await path())
  })

  it('a container prints on one sheet', { tags: ['JP2', 'release'] }, async () => {
    const { page } = await open(await pathOfContainer())
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

  it('searches by the keyboard alone', { tags: ['release'] }, async () => {
    const { page } = await open()
    const [box] = await scene.query<{ number: string }>(
      'select number from tracking.containers order by container_id limit 1',
    )
    await page.keyboard.press('Tab')
    // Past the title.
    await page.keyboard.press('Tab')
    await page.keyboard.type(box!.number)
    await page.keyboard.press('Enter')
    await page.waitForSelector('#stations')
    expect(await page.locator('h1').textContent()).toContain(box!.number)
  })
}
