import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { silentLogger } from '../../../src/base/logger.js'
import { formatCsv } from '../../../src/extensions/answers/output/print-answer.js'
import { createDashboardRoutes } from '../../../src/extensions/dashboard/dashboard-routes.js'
import { OVERVIEW_PANELS } from '../../../src/extensions/dashboard/panels/business-panels.js'
import { FIGURE_PANELS } from '../../../src/extensions/dashboard/panels/figure-panels.js'
import { LIST_PANELS } from '../../../src/extensions/dashboard/panels/list-panels.js'
import { startHttpServer, type HttpServer } from '../../../src/http/http-server.js'
import { readWorkbook } from '../../support/read-workbook.js'
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
/** Containers past their last free day: one of a hostile customer, one of another. */
let boxes: { container_id: string; number: string; customer: string; terminal: string }[]

beforeAll(async () => {
  scene = await openLoadedWeek()
  await scene.sync()
  const settings = { DATABASE_URL: scene.url, TRACKING_LOG_LEVEL: 'silent' }
  await importExamples(settings, ['free-time-rules'])
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
  const { warehouse } = scene
  server = await startHttpServer({
    httpPort: 0,
    logger: silentLogger,
    routes: createDashboardRoutes({
      title: 'Acme & Sons',
      logo: LOGO,
      warehouse,
      readStatus: () => Promise.reject(new Error('not asked for here')),
      logger: silentLogger,
      formatCsv,
      guard: (routes) => routes,
      pageOf: (number) => `https://service.example/?a="&q=${String(number)}`,
      facts: () =>
        Promise.resolve({ slots: { cron: '*/15 * * * *', timeZone: 'UTC' }, isServing: true }),
      describe: () => [],
    }),
  })
})

afterAll(async () => {
  await server.stop(1_000)
  await scene.close()
})

/** A page once nothing on it is still being read, after the redirects to it. */
async function get(path: string): Promise<{ status: number; text: string; url: string }> {
  let page = { status: 0, text: '', url: '' }
  const ask = async (): Promise<string | null> => {
    const response = await fetch(`${server.url}${path}`)
    page = { status: response.status, text: await response.text(), url: response.url }
    return response.headers.get('refresh')
  }
  await expect.poll(ask, { timeout: 20_000 }).toBe(null)
  return page
}

/** The rows of a CSV without line breaks in its fields, by their columns. */
async function getRows(path: string): Promise<Record<string, string>[]> {
  const { status, text } = await get(path)
  expect({ path, status }).toEqual({ path, status: 200 })
  const [head = '', ...lines] = text.trimEnd().split('\r\n')
  const columns = head.split(',')
  return lines.map((line) => {
    const fields = [...`,${line}`.matchAll(/,(?:"((?:[^"]|"")*)"|([^",]*))/g)]
    const values = fields.map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '')
    return Object.fromEntries(columns.map((name, at) => [name, values[at] ?? '']))
  })
}

/** The values of the figures of a page, in their order. */
function figuresOf(text: string, id: string): string[] {
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
    const [counts] = await scene.query<Record<'overdue' | 'due' | 'arriving', unknown>>(
      `select
        (select count(distinct container_id) from tracking_analytics.costs
          where state = 'overdue' and ($1::text is null or customer_name = $1)) as overdue,
        (select count(distinct container_id) from tracking_analytics.last_free_days
          where state in ('upcoming', 'due_today') and days_left <= 2
            and ($1::text is null or customer_name = $1)) as due,
        (select count(*) from tracking_analytics.arrivals
          where state = 'expected' and days_until between 0 and 6
            and ($1::text is null or customer_name = $1)) as arriving`,
      customer,
    )
    const { text } = await get(`/?${search(filters)}`)
    const texts = (values: (string | null)[]) => values.filter((value) => value !== null)
    expect({
      overdue: figuresOf(text, 'figure-overdue'),
      cost: figuresOf(text, 'figure-cost'),
      due: figuresOf(text, 'figure-due'),
      arriving: figuresOf(text, 'figure-arriving'),
    }).toEqual({
      overdue: [String(counts!.overdue)],
      cost: [...texts(money.map(({ cost }) => cost)), ...texts(money.map(({ next }) => next))],
      due: [String(counts!.due)],
      arriving: [String(counts!.arriving)],
    })
    expect(Number(counts!.overdue)).toBeGreaterThan(0)
    expect(text).toMatch(/id="figure-fresh">[^]*fresh \d+ (?:s|min)/)
    expect(text).toContain('<a href="/"><img src="/logo.svg" alt="">Acme &#38; Sons</a>')
    const logo = await fetch(`${server.url}/logo.svg`)
    expect(logo.headers.get('content-type')).toBe('image/svg+xml')
    expect(await logo.text()).toBe(LOGO)
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
    const { text } = await get(`/overdue?${search({ terminal })}`)
    const shown = [...text.matchAll(/class="number" href="\/containers\/([A-Z0-9]+)/g)]
    const rows = await getRows(`/panels/overdue.csv?${search({ terminal })}`)
    expect(shown.map(([, number]) => number)).toEqual(rows.map(({ container }) => container))
  })

  it('are parameters, and never text of a statement', { tags: ['release'] }, async () => {
    const filters = search({ customer: HOSTILE, port: `'; drop table x; --` })
    for (const { id } of [...OVERVIEW_PANELS, ...Object.values(FIGURE_PANELS)]) {
      const { text } = await get(`/panels/${id}.sql?${filters}`)
      const statement = text.split('\n').filter((line) => !line.startsWith('--'))
      expect({ id, text: statement.join('\n') }).toEqual({
        id,
        text: expect.stringMatching(/customer_name = \$1[^]*locode = \$2/) as string,
      })
      expect(statement.join('\n')).not.toMatch(/O'Brien|drop table/)
      expect(await getRows(`/panels/${id}.csv?${filters}`)).toEqual(
        id === 'overdue-figures' || id === 'due-figures' || id === 'arriving-figures'
          ? [expect.objectContaining({ containers: '0' })]
          : [],
      )
    }
  })

  it('sort the rows of a list, its CSV and its workbook, empty values last', async () => {
    const rows = await getRows('/panels/overdue.csv?sort=-next_day')
    const values = rows.map(({ next_day: value = '' }) => (value === '' ? -1 : Number(value)))
    expect(values).toEqual([...values].sort((one, other) => other - one))
    const { text } = await get('/overdue?sort=-next_day')
    expect(text).toContain('aria-sort="descending"')
    expect(text).toContain('<a href="/panels/overdue.xlsx?sort=-next_day">Excel</a>')
    const workbook = await fetch(`${server.url}/panels/overdue.xlsx?sort=-next_day`)
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
    const { text } = await get('/')
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

  it('of the lines narrows the page to its line', { tags: ['release'] }, async () => {
    const [line] = await getRows('/panels/carriers.csv')
    const { text } = await get('/')
    const address = `/?${search({ line: line!.shipping_line_scac! })}`
    expect(text.split(`href="${address}"`).length - 1).toBeGreaterThan(3)
    expect((await get(address)).text).toContain(
      `<option value="${line!.shipping_line_scac!}" selected>`,
    )
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
    const sum = (of: (row: Record<string, string>) => boolean, name: string) =>
      places.filter(of).reduce((total, row) => total + Number(row[name]), 0)
    const spots = await scene.query<{ code: string; name: string }>(
      `select code, name from tracking.ports where latitude is not null
        union select code, name from tracking.metro_areas where latitude is not null`,
    )
    const { text } = await get('/')
    const [figure = ''] = text.split('<figure id="places"').slice(1)
    const [wide = ''] = figure.split('<div class="narrow">')
    const drawn = (words: string) => {
      const titles = [...wide.matchAll(/<title>([^<]*): (\d+) ([a-z ]+)</g)]
      const counts = titles.flatMap(([, , count, said]) => (said === words ? [Number(count)] : []))
      return counts.sort((one, other) => one - other)
    }
    const counted = (name: 'there_now' | 'on_the_way') =>
      places
        .flatMap((row) => (row.latitude !== '' && row[name] !== '0' ? [Number(row[name])] : []))
        .sort((one, other) => one - other)
    const all = wanted.reduce((total, { there, coming }) => total + there + coming, 0)
    expect(all).toBeGreaterThan(20)
    expect(sum(() => true, 'there_now') + sum(() => true, 'on_the_way')).toBe(all)
    for (const { locode, there, coming } of wanted) {
      const ports = places.filter(({ kind, mark }) => mark === `${kind} ${locode}`)
      if (ports.length === 0) continue
      expect({ locode, there: String(there), coming: String(coming) }).toEqual({
        locode,
        there: ports[0]!.there_now,
        coming: ports[0]!.on_the_way,
      })
    }
    expect(places.filter(({ latitude }) => latitude !== '').length).toBeGreaterThan(5)
    const known = new Set(spots.map(({ code }) => code))
    expect(
      places.filter(
        ({ mark = '', latitude }) => known.has(mark.split(' ').at(-1)!) && latitude === '',
      ),
    ).toEqual([])
    expect(drawn('there now')).toEqual(counted('there_now'))
    expect(drawn('on the way to it')).toEqual(counted('on_the_way'))
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
    const { status, text } = await get(path)
    expect(status).toBe(200)
    expect(text).toContain('&#60;script&#62;alert(&#34;1&#34;)&#60;/script&#62; O&#39;Brien &#38;')
    expect(text.replaceAll('<script src="/dashboard.js" defer></script>', '')).not.toMatch(
      /<script/,
    )
  }
})

describe('the page of a container', () => {
  it('shows what the answers say', { tags: ['release'] }, async () => {
    const [{ number, container_id: id }] = boxes as [(typeof boxes)[0]]
    const { text } = await get(`/containers/${number}`)
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

  it('links to the page of the number at the service, once', { timeout: LIMIT_MS }, async () => {
    const { text } = await get(`/containers/${boxes[0]!.number}`)
    const links = [...text.matchAll(/href="(https?:[^"]*)"/g)].map(([, address]) => address)
    expect(links).toEqual([`https://service.example/?a=&#34;&#38;q=${boxes[0]!.number}`])
  })

  it('says so where nobody tracks a number', { tags: ['JP2'], timeout: LIMIT_MS }, async () => {
    const { status, text } = await get('/containers/XXXU%22%3Cb%3E')
    expect(status).toBe(404)
    expect(text).toContain('<p>The warehouse has no container &#34;XXXU')
    expect(text).not.toContain('<b>')
    expect(text.split('<form class="search"').length - 1).toBe(2)
    expect((await get('/containers/%E0%A4%A')).status).toBe(404)
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
    const page = await get(`/containers/${number}`)
    expect(page.text).toContain(`csv?container=${newest}`)
    expect(page.text).toContain('Other journeys of this number')
    const [, address = ''] = /href="(\/containers\/[^"]*id=an\+earlier[^"]*)"/.exec(page.text) ?? []
    const earlier = await get(address.replaceAll('&#38;', '&'))
    expect(earlier.text).toContain('csv?container=an%20earlier%20journey')
    const found = await get(`/containers?find=${number}`)
    expect(new URL(found.url).pathname).toBe(`/containers/${number}`)
    expect(found.text).toContain(`csv?container=${newest}`)
  })
})
