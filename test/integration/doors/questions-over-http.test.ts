import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createLogger } from '../../../src/base/logger.js'
import { createBearerCheck } from '../../../src/extensions/doors/http/bearer.js'
import {
  createDoorGuard,
  type DoorGuardOptions,
} from '../../../src/extensions/doors/http/door-guard.js'
import {
  createQuestionRoutes,
  type QuestionRoutesOptions,
} from '../../../src/extensions/doors/http/question-routes.js'
import { createTokenUses } from '../../../src/extensions/doors/token-uses.js'
import { startHttpServer } from '../../../src/http/http-server.js'
import { createWarehouse } from '../../../src/warehouse/connection/warehouse.js'
import { callCli } from '../../support/call-cli.js'
import { readCalendar } from '../../support/read-calendar.js'
import { readWorkbook } from '../../support/read-workbook.js'
import { importExamples } from '../../support/scenes/charges.js'
import { openLoadedWeek, type LoadedWeek } from '../../support/scenes/loaded-week.js'

let scene: LoadedWeek
let settings: Record<string, string>
let url: string
let folder: string
/** All that was logged, and all that was answered. */
const said: string[] = []
const secrets: string[] = []
const opened: (() => Promise<unknown>)[] = []

const PAGE = 'https://service.example/find?q='

beforeAll(async () => {
  scene = await openLoadedWeek()
  folder = await mkdtemp(join(tmpdir(), 'tracking-sync-http-'))
  settings = { DATABASE_URL: scene.url, TRACKING_LOG_LEVEL: 'silent' }
  settings.TRACKING_NUMBER_PAGE = `${PAGE}{number}`
  await importExamples(settings, ['free-time-rules', 'invoices'])
  url = await open({ pageOf: (number) => `${PAGE}${String(number)}` })
}, 60_000)

afterAll(async () => {
  for (const close of opened.splice(0).reverse()) await close()
  await scene.close()
  await rm(folder, { recursive: true })
})

function connect(options: { isReadOnly?: boolean; statementTimeoutMs?: number; url?: string }) {
  const logger = logged()
  const warehouse = createWarehouse({ url: scene.url, schema: 'tracking', logger, ...options })
  opened.push(() => warehouse.close())
  return warehouse
}

function logged() {
  const stream = new PassThrough().on('data', (line: Buffer) => said.push(line.toString()))
  return createLogger({ level: 'debug', format: 'json', secrets: [], stream: stream as never })
}

/** A server of the questions in this process. */
async function open({
  answerSeconds,
  pageOf,
  clock,
  limits = {},
  ...options
}: Partial<DoorGuardOptions> &
  Pick<
    QuestionRoutesOptions,
    'limits' | 'answerSeconds' | 'pageOf' | 'clock'
  > = {}): Promise<string> {
  const warehouse = connect({})
  const uses = createTokenUses(warehouse, logged())
  const guard = createDoorGuard({
    warehouse,
    answers: connect({ isReadOnly: true, statementTimeoutMs: 30_000 }),
    uses,
    logger: logged(),
    slow: () => Promise.resolve(),
    limits,
    ...options,
  })
  const routes = createQuestionRoutes({
    guard,
    names: warehouse.names,
    programVersion: '1.2.3',
    pageOf,
    limits,
    ...(answerSeconds === undefined ? {} : { answerSeconds }),
    ...(clock === undefined ? {} : { clock }),
  })
  const server = await startHttpServer({ httpPort: 0, routes, logger: logged() })
  opened.push(async () => {
    await server.stop(1_000)
    await uses.close()
  })
  return server.url
}

async function get(path: string, headers: Record<string, string> = {}, of = url) {
  const response = await fetch(`${of}${path}`, { headers })
  const bytes = Buffer.from(await response.arrayBuffer())
  const text = bytes.toString('utf8')
  said.push(text, JSON.stringify([...response.headers]))
  return { status: response.status, headers: response.headers, bytes, text }
}

/** The status and the sentence of a refusal. */
async function refused(path: string, headers?: Record<string, string>, of?: string) {
  const { status, text } = await get(path, headers, of)
  const { error, ...rest } = JSON.parse(text) as { error: string }
  expect(rest).toEqual({})
  return `${status} ${error}`
}

async function createToken(name: string, ...more: string[]): Promise<string> {
  const args = ['tokens', 'create', '--json', '--name', name, ...more]
  if (!more.includes('--questions')) args.push('--questions', 'last_free_days,carriers')
  const { exitCode, stdout, stderr } = await callCli(args, settings)
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  const { token } = JSON.parse(stdout) as { token: string }
  secrets.push(token.split('_').slice(2).join('_'))
  return token
}

async function query(...args: string[]): Promise<string> {
  const { exitCode, stdout } = await callCli(['query', ...args], settings)
  expect({ args, exitCode }).toEqual({ args, exitCode: 0 })
  return stdout
}

const FORMATS = ['csv', 'json', 'ndjson', 'xlsx'] as const

/** Compares each format of each question with the command, and counts the questions with rows. */
async function compareWithCommand(names: readonly string[], formats: typeof FORMATS | ['csv']) {
  const asOf = scene.instants.at(-1)!
  let nonEmpty = 0
  for (const name of names) {
    const rows = await Promise.all(
      formats.map(async (format) => {
        const file = join(folder, `${name}.${format}`)
        const [answer] = await Promise.all([
          get(`/questions/${name}.${format}?as-of=${asOf}&limit=30`),
          query(name, ...['--as-of', asOf, '--limit', '30', '--format', format, '--out', file]),
        ])
        const asked = await readFile(file)
        if (format === 'xlsx') {
          // The archive holds the time of its making.
          const [one, other] = [answer.bytes, asked].map((bytes) => readWorkbook(bytes).rows)
          expect({ name, rows: one }).toEqual({ name, rows: other })
          return one!.length - 1
        }
        expect({ name, format, text: answer.text }).toEqual({
          name,
          format,
          text: asked.toString(),
        })
        expect(answer.bytes.equals(asked)).toBe(true)
        if (format === 'json') return (JSON.parse(answer.text) as unknown[]).length
        return lines(answer.text) - (format === 'csv' ? 1 : 0)
      }),
    )
    expect(new Set(rows.map((count) => count > 0)).size).toBe(1)
    if (rows[0]! > 0) nonEmpty += 1
  }
  return nonEmpty
}

describe('an answer over HTTP', () => {
  it('has the bytes of the command, in each format', { tags: ['HQ1'] }, async () => {
    expect(await compareWithCommand(['last_free_days'], FORMATS)).toBe(1)
    expect(await compareWithCommand(['costs', 'changes'], ['csv'])).toBe(2)
  })

  it.each([
    ['csv?excel=true', 'text/csv; charset=utf-8', /^\ufeffcontainer_/],
    ['csv?spreadsheet-safe=true', 'text/csv; charset=utf-8', /^container_/],
    ['json', 'application/json', /^\[/],
    ['ics', 'text/calendar; charset=utf-8', /^BEGIN:VCALENDAR/],
  ])('as %s has its type and length', { tags: ['HQ1'] }, async (format, type, begins) => {
    const asked = { 'accept-encoding': 'gzip, deflate' }
    const { status, headers, text, bytes } = await get(`/questions/last_free_days.${format}`, asked)
    const told = ['content-type', 'content-encoding', 'content-length'].map((of) => headers.get(of))
    expect([status, ...told]).toEqual([200, type, null, String(bytes.length)])
    expect(text).toMatch(begins)
    expect(lines(text)).toBeGreaterThan(2)
  })

  it('is not sent again while its rows are the same, and HEAD is without them', async () => {
    const path = '/questions/carriers.json'
    const first = await get(path)
    const etag = first.headers.get('etag')!
    expect(first.headers.get('cache-control')).toBe('private, no-cache')
    const again = await get(path, { 'if-none-match': etag })
    expect([again.status, again.bytes.length]).toEqual([304, 0])
    expect((await get(`${path}?limit=1`, { 'if-none-match': etag })).status).toBe(200)
    const head = await fetch(`${url}${path}`, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length'), head.headers.get('etag')]).toEqual([
      ...[200, String(first.bytes.length), etag],
    ])
    expect(await head.text()).toBe('')
  })

  it('is another one when anything changes that it depends on', { tags: ['HQ8'] }, async () => {
    let [now, questions] = [0, 0]
    const answers = connect({ isReadOnly: true })
    const counted = {
      ...answers,
      another: (action: string) => {
        questions += 1
        return answers.another(action)
      },
    }
    const of = await open({ answers: counted, clock: () => now })
    const clockOfViews = (later: string): string =>
      `create or replace function tracking_analytics.as_of() returns timestamptz
      language sql stable parallel safe return now() + interval '${later}'`
    const changes = {
      'a name of the service': [
        'last_free_days.json',
        `update tracking.shipments set customer_name = customer_name || ' Ltd'`,
      ],
      'a rule': [
        'costs.csv',
        'update tracking_analytics.free_time_tiers set daily_rate = daily_rate + 1',
      ],
      'a custom field': [
        'timeline.json?custom-field=note=blue',
        `insert into tracking.custom_fields (custom_field_id, entity_id, api_slug, display_value,
          _observed_at, _first_seen_at, _changed_at)
        select 'blue', container_id, 'note', 'blue', now(), now(), now()
        from tracking.containers where pod_discharged_at is not null order by 2 limit 1`,
      ],
      'the day': ['last_free_days.ndjson', clockOfViews('1 day')],
    } as const
    for (const [name, [path, change]] of Object.entries(changes)) {
      const address = `/questions/${path}`
      const first = await get(address, {}, of)
      const etag = first.headers.get('etag')!
      const ask = async () => (await get(address, { 'if-none-match': etag }, of)).status
      now += 5_000
      // The same rows are read again, and then known for five seconds.
      expect([name, await ask()]).toEqual([name, 304])
      const before = questions
      await scene.query(change)
      now += 4_999
      expect([name, await ask(), questions]).toEqual([name, 304, before])
      now += 1
      const second = await get(address, { 'if-none-match': etag }, of)
      expect([name, second.status, questions]).toEqual([name, 200, before + 1])
      expect(second.text).not.toBe(first.text)
      expect(second.headers.get('etag')).not.toBe(etag)
    }
    await scene.query(clockOfViews('0 days'))
  })

  it('without rows says why in a header', { tags: ['HQ9'] }, async () => {
    const customer = 'Żaneta  & Söhne\u2066'
    for (const [query, note] of [
      ['customer=Nobody', /^the warehouse has no customer "Nobody"; there are .+, /],
      ['line=NONE', /^the warehouse has no line "NONE"; /],
      ['terminal=nowhere', /^the warehouse has no terminal "nowhere"/],
      ['container=XXXX', /^the warehouse has no container "XXXX"/],
      [`customer=${encodeURIComponent(customer)}`, /"\\u017baneta  & S\\u00f6hne\\u2066"/],
      [
        'as-of=2001-01-01',
        /^as-of 2001-01-01 is before the first load .* \| no rows: pickups needs/,
      ],
      ['against=2001-01-01&container=XXXX', /^against 2001.* 0 came.* has no container "XXXX"/],
    ] as const) {
      for (const format of FORMATS) {
        const { status, headers } = await get(`/questions/pickups.${format}?${query}`)
        expect([query, format, status]).toEqual([query, format, 200])
        expect(headers.get('tracking-sync-notes')).toMatch(note)
      }
    }
    const { headers } = await get('/questions/last_free_days.json')
    expect(headers.get('tracking-sync-notes')).toBeNull()
  })

  it('is a calendar that fetched containers leave', { tags: ['HQ1', 'release'] }, async () => {
    const path = '/questions/last_free_days.ics'
    const before = await get(path)
    expect(before.headers.get('content-type')).toBe('text/calendar; charset=utf-8')
    const ids = ({ text }: { text: string }): string[] => readCalendar(text).map(({ UID }) => UID!)
    expect(ids(before).length).toBeGreaterThan(3)
    const withoutStamp = (text: string): string => text.replaceAll(/DTSTAMP:\w+/g, '')
    const asked = await query('last_free_days', '--format', 'ics')
    expect(withoutStamp(before.text)).toBe(withoutStamp(asked))
    const pages = readCalendar(before.text).map((event) => event['URL;VALUE=URI'])
    expect(pages.filter((page) => page?.startsWith(PAGE))).toHaveLength(ids(before).length)
    const gone = ids(before)[0]!
    scene.simulator.edits.change('container', gone.replace(/-(?:port|inland)@.*/, ''), {
      pod_full_out_at: scene.simulator.clock.now().toISOString(),
      pod_full_out_chassis_number: 'X',
    })
    await scene.sync()
    const after = await get(path)
    expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'))
    expect(ids(after)).toEqual(ids(before).filter((id) => id !== gone))
  })
})

describe('a refusal', { tags: ['HQ7'] }, () => {
  it.each([
    ['/questions/cost.csv', /^404 cost is not one of the questions; did you mean costs\?$/],
    ['/questions/costs.pdf', /^404 the address must end in .* like \/questions\/costs\.csv$/],
    ['/questions/costs.toString', /^404 the address must end in /],
    [
      '/questions/costs.csv?state=overdu',
      /^400 state has no value "overdu"; did you mean overdue\?$/,
    ],
    ['/questions/costs.csv?limit=1&limit=2', /^400 limit is given twice; give it once$/],
    // Of a text with a line break too.
    ['/questions/costs.csv?li%0Amit=1&li%0Amit=2', /^400 li.+mit is given twice; give it once$/],
    [
      '/questions/costs.csv?columns=contaner_number',
      /^400 columns names contaner_number, which .*; did you mean container_number\?/,
    ],
    ['/questions/costs.csv?excel=maybe', /^400 excel must be true or false$/],
    ['/questions/last_free_days.ics?columns=binding_on', /^400 columns are for tables; /],
    ['/questions/costs.ics', /^400 ics is for questions with last free days/],
  ])('of %s is one sentence with the fix', async (path, sentence) => {
    expect(await refused(path)).toMatch(sentence)
  })

  it('comes for an answer that is too large, takes too long, or when the database is away', async () => {
    const few = await open({ limits: { rows: 3, rowsOfWorkbook: 2 } })
    expect(await refused('/questions/arrivals.csv', {}, few)).toMatch(
      /^413 .* more than 3 rows in csv; narrow it/,
    )
    expect(await refused('/questions/arrivals.xlsx?limit=3', {}, few)).toMatch(
      /^413 .* 2 rows in xlsx/,
    )
    expect((await get('/questions/arrivals.xlsx?limit=2', {}, few)).status).toBe(200)
    const late = await open({ limits: { readMs: 0 } })
    expect(await refused('/questions/arrivals.csv', {}, late)).toBe(
      '504 the answer takes more than 0 seconds; narrow the question by a filter',
    )
    const short = await open({ limits: { bytes: 10 } })
    expect(await refused('/questions/arrivals.csv', {}, short)).toMatch(/^413 /)
    const slow = await open({ answers: connect({ statementTimeoutMs: 1 }), answerSeconds: 1 })
    expect(await refused('/questions/arrivals.csv', {}, slow)).toBe(
      '504 the answer takes more than 1 seconds; narrow the question by a filter',
    )
    const nowhere = connect({ url: 'postgres://nobody:hidden-word@127.0.0.1:1/none' })
    const away = await open({ answers: nowhere })
    const { status, headers, text } = await get('/questions/arrivals.csv', {}, away)
    expect([status, headers.get('retry-after'), JSON.parse(text)]).toEqual([
      ...[503, '10', { error: 'the database does not answer; ask again in 10 seconds' }],
    ])
    expect(said.some((one) => one.includes('hidden-word'))).toBe(false)
  })

  it('comes at once to a flood beyond the bound', { tags: ['HQ4'] }, async () => {
    const bound = await open({ limits: { atOnce: 2, waiting: 3 } })
    const locked = await lockShipments()
    const flood = Array.from({ length: 12 }, () =>
      get('/questions/arrivals.csv?limit=1', {}, bound),
    )
    const turnedAway = await Promise.all(
      Array.from({ length: 7 }, async (_, at) => (await firstOf(flood, at + 1)).at(-1)!),
    )
    expect(turnedAway.map(({ status }) => status)).toEqual(turnedAway.map(() => 429))
    expect(turnedAway[0]!.headers.get('retry-after')).toBe('5')
    await locked.release()
    const statuses = (await Promise.all(flood)).map(({ status }) => status).sort()
    expect(statuses).toEqual([...Array<number>(5).fill(200), ...Array<number>(7).fill(429)])
    expect((await get('/questions/arrivals.csv?limit=1', {}, bound)).status).toBe(200)
  })
})

/** The first answers to arrive. */
async function firstOf<Result>(work: readonly Promise<Result>[], count: number): Promise<Result[]> {
  const arrived: Result[] = []
  return new Promise((resolve, reject) => {
    for (const one of work) {
      one.then((result) => {
        arrived.push(result)
        if (arrived.length === count) resolve(arrived.slice())
      }, reject)
    }
  })
}

/** Answers wait until it is released. */
async function lockShipments(): Promise<{ readonly release: () => Promise<void> }> {
  const { client } = await scene.warehouse.another('lock')
  await client.query('begin')
  await client.query('lock table tracking.shipments in access exclusive mode')
  const release = (): Promise<void> => client.end()
  onTestFinished(release)
  return { release }
}

describe('a token over HTTP', () => {
  it('is taken as bearer, as basic or from the address, also through a proxy', async () => {
    const token = await createToken('three')
    const basic = (text: string): Record<string, string> => ({
      authorization: `Basic ${Buffer.from(text).toString('base64')}`,
    })
    const path = '/questions/carriers.json?limit=1'
    for (const [address, headers] of [
      [path, { authorization: `Bearer ${token}` }],
      [path, basic(`anyone:${token}`)],
      [path, basic(`${token}:`)],
      [`${path}&token=${token}`, {}],
    ] as const) {
      const all = { ...headers, 'x-forwarded-for': '203.0.113.7' }
      expect((await get(address, all)).status).toBe(200)
    }
    const list = await get(`/questions?token=${token}`)
    expect(
      (JSON.parse(list.text) as { question: string }[]).map(({ question }) => question),
    ).toEqual(['carriers', 'last_free_days'])
  })

  it('is needed behind a proxy and from another machine', { tags: ['HQ2'] }, async () => {
    for (const header of [
      ...['X-Forwarded-For', 'Forwarded', 'Via', 'X-Real-IP', 'X-Cluster-Client-IP'],
      ...['CDN-Loop', 'X-Original-Forwarded-For', 'Fastly-Client-IP'],
    ]) {
      for (const path of ['/questions/carriers.json', '/questions', '/openapi.json']) {
        expect(await refused(path, { [header]: '127.0.0.1' })).toMatch(/^401 a token is needed/)
      }
    }
    const asked = await get('/questions/carriers.json', { via: '127.0.0.1' })
    expect(asked.headers.get('www-authenticate')).toContain('Basic realm="tracking-sync"')
    expect(await refused('/questions', { authorization: 'Digest x' })).toMatch(
      /^401 the token is wrong/,
    )
    const check = createBearerCheck({
      warehouse: scene.warehouse,
      uses: createTokenUses(scene.warehouse, logged()),
    })
    const from = (remoteAddress: string, host = 'localhost:8081') =>
      check({ headers: { host }, socket: { remoteAddress } } as never, new URLSearchParams())
    for (const here of ['127.0.0.1', '::1', '::ffff:127.0.0.1'])
      expect(await from(here)).toBeUndefined()
    for (const name of ['127.0.0.1:8081', '[::1]:8081', 'LOCALHOST'])
      expect(await from('127.0.0.1', name)).toBeUndefined()
    // As a proxy forwards that adds nothing.
    for (const name of ['answers.example', '203.0.113.9', 'localhost.example', ''])
      await expect(from('127.0.0.1', name)).rejects.toThrow(/a token is needed/)
    for (const there of ['10.0.0.7', '::ffff:10.0.0.7', '2001:db8::1', '']) {
      await expect(from(there)).rejects.toThrow(/a token is needed/)
    }
  })

  it('opens nothing if wrong, expired, revoked or for another', { tags: ['HQ2'] }, async () => {
    const token = await createToken('ends')
    const ask = (text: string, name = 'carriers') => refused(`/questions/${name}.csv?token=${text}`)
    expect(await ask(`${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`)).toMatch(
      /^401 the token is wrong; send the whole/,
    )
    expect(await ask(token, 'costs')).toBe(
      '403 the token ends may not ask costs; it may ask last_free_days, carriers',
    )
    await scene.query(
      `update tracking_sync.access_tokens set expires_at = now() where name = 'ends'`,
    )
    expect(await ask(token)).toBe('401 the token ends has expired; have another one created')
    expect(await callCli(['tokens', 'revoke', 'ends'], settings)).toMatchObject({ exitCode: 0 })
    expect(await ask(token)).toBe('401 the token ends was revoked; have another one created')
  })

  it('is slowed when it is wrong, and a flood of wrong ones is turned away', async () => {
    const right = await createToken('right')
    let waiting = 0
    const ends: (() => void)[] = []
    const slow = () => new Promise<void>((resolve) => (waiting += ends.push(resolve) > 0 ? 1 : 0))
    const of = await open({ slow })
    const wrong = Array.from({ length: 21 }, () => refused('/questions?token=tsq_x', {}, of))
    expect((await firstOf(wrong, 1))[0]).toMatch(/^429 too many wrong tokens/)
    expect(waiting).toBe(20)
    expect((await get(`/questions?token=${right}`, {}, of)).status).toBe(200)
    for (const end of ends) end()
    expect((await Promise.all(wrong)).filter((text) => text.startsWith('401'))).toHaveLength(20)
  })
})

describe('a token of a customer', () => {
  it('reads rows of that customer alone, by its role', { tags: ['HQ3'] }, async () => {
    // Of the customers, the two with the most rows in both answers: the week ends today, so not
    // every customer has changes.
    const answers = await Promise.all(
      ['last_free_days', 'changes'].map(
        async (name) => JSON.parse((await get(`/questions/${name}.json`)).text) as Named[],
      ),
    )
    const fewest = (name: string): number =>
      Math.min(...answers.map((all) => all.filter((row) => row.customer_name === name).length))
    const [customer = '', other = ''] = [
      ...new Set(answers.flat().flatMap((row) => row.customer_name ?? [])),
    ].sort((one, two) => fewest(two) - fewest(one))
    const role = `http_${process.pid}`
    const ask = ['--questions', 'last_free_days,changes', '--customer', customer]
    const refusal = async (name: string, ...args: string[]): Promise<string> => {
      const call = await callCli(['tokens', 'create', '--name', name, ...args], settings)
      expect(call).toMatchObject({ exitCode: 2, stdout: '' })
      return call.stderr
    }
    expect(await refusal('early', ...ask)).toMatch(/needs a warehouse that is open to customers/)
    expect(await callCli(['migrate', '--customers'], settings)).toMatchObject({ exitCode: 0 })
    expect(await refusal('early', ...ask)).toMatch(/and no role reads the rows of just that/)
    await scene.query(`create role ${role} nologin`)
    opened.push(() => scene.query(`drop owned by ${role}; drop role ${role}`))
    await scene.query(`grant tracking_customer to ${role}`)
    const assign = (name: string): Promise<unknown> =>
      scene.query('insert into tracking_sync.customer_roles values ($1, $2)', role, name)
    await assign(customer)
    expect(
      await refusal('closed', '--questions', 'accrual,invoices', '--customer', customer),
    ).toMatch(/--questions names accrual, invoices, which reads what is closed/)
    const token = await createToken('theirs', ...ask)
    const rows: Record<string, number> = {}
    for (const name of ['last_free_days', 'changes']) {
      const all = JSON.parse((await get(`/questions/${name}.json`)).text) as Named[]
      const { status, text } = await get(`/questions/${name}.json?token=${token}`)
      const own = JSON.parse(text) as Named[]
      expect({ name, status, names: new Set(own.map((row) => row.customer_name)) }).toEqual({
        ...{ name, status: 200 },
        names: new Set([customer]),
      })
      expect(own).toHaveLength(all.filter((row) => row.customer_name === customer).length)
      rows[name] = own.length
      const others = await get(
        `/questions/${name}.json?token=${token}&customer=${encodeURIComponent(other)}`,
      )
      expect([others.status, others.text]).toEqual([200, '[]\n'])
    }
    expect(rows.last_free_days).toBeGreaterThan(0)
    const calendar = await get(`/questions/last_free_days.ics?token=${token}`)
    expect([calendar.status, calendar.text.includes(PAGE)]).toEqual([200, false])
    const compared = await get(
      `/questions/last_free_days.csv?token=${token}&against=${scene.instants[0]}`,
    )
    expect(compared.text).not.toContain(other)
    expect(lines(compared.text)).toBeGreaterThan(1)
    // The role has another name since: the token must not read its rows.
    await assign(other)
    expect(await refused(`/questions/changes.csv?token=${token}`)).toMatch(
      /^403 the token theirs reads the rows of .*, and no role reads just these now/,
    )
  })

  interface Named {
    readonly customer_name: string | null
  }
})

describe('the description of the questions', () => {
  it('has every question with its filters, formats and columns', async () => {
    const list = JSON.parse((await get('/questions')).text) as {
      question: string
      formats: string[]
      parameters: { name: string }[]
    }[]
    expect(list).toHaveLength(20)
    const { openapi, paths, info } = JSON.parse((await get('/openapi.json')).text) as {
      openapi: string
      info: { version: string }
      paths: Record<string, { get: { parameters: { name: string; in: string }[] } }>
    }
    expect([openapi, info.version]).toEqual(['3.1.0', '1.2.3'])
    for (const { question, formats, parameters } of list) {
      for (const format of formats) {
        const found = paths[`/questions/${question}.${format}`]!.get.parameters
        expect(found.map(({ name }) => name)).toEqual(
          expect.arrayContaining([...parameters.map(({ name }) => name), 'as-of']),
        )
      }
    }
    expect(Object.keys(paths)).toHaveLength(20 * 4 + 2)
  })
})

it('and its secret are in no log line and in no answer', () => {
  expect(secrets.length).toBeGreaterThan(3)
  expect(said.length).toBeGreaterThan(20)
  expect(secrets.filter((secret) => said.some((text) => text.includes(secret)))).toEqual([])
})

function lines(text: string): number {
  return text.split('\n').length - 1
}
