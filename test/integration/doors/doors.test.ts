import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createLogger, silentLogger } from '../../../src/base/logger.js'
import {
  createToken as storeToken,
  findToken,
} from '../../../src/extensions/doors/access-tokens.js'
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
import { callCli, refusalOf } from '../../support/call-cli.js'
import { connectMcp, type McpConnection } from '../../support/mcp-client.js'
import { openRaw } from '../../support/raw-http.js'
import { readCalendar } from '../../support/read-calendar.js'
import { readWorkbook } from '../../support/read-workbook.js'
import { importExamples } from '../../support/scenes/charges.js'
import { openLoadedWeek, type LoadedWeek } from '../../support/scenes/loaded-week.js'
import { openDoors } from '../../support/scenes/open-doors.js'
import { useFolder } from '../../support/temp-folder.js'

type Row = Readonly<Record<string, unknown>>

const FORWARDED = { 'x-forwarded-for': '203.0.113.7' }
/** A page, rows, a statement, and a file of a page. The overview reads too many panels. */
const ADDRESSES = [
  ...['/containers/ABCD1234567', '/panels/pickups.csv', '/panels/pickups.sql'],
  '/dashboard.css',
]

let scene: LoadedWeek
let settings: Record<string, string>
/** Of the questions alone, whose log is kept. */
let url: string
/** Of `serve --questions --mcp` and the dashboard. */
let door: string
let asOf: string
const folder = useFolder('file')
/** All that was logged, and all that was answered. */
const said: string[] = []
const secrets: string[] = []
const opened: (() => Promise<unknown>)[] = []

const PAGE = 'https://service.example/find?q='

beforeAll(async () => {
  scene = await openLoadedWeek()
  settings = { DATABASE_URL: scene.url, TRACKING_LOG_LEVEL: 'silent' }
  settings.TRACKING_NUMBER_PAGE = `${PAGE}{number}`
  await importExamples(settings, ['free-time-rules', 'invoices'])
  url = await open({ pageOf: (number) => `${PAGE}${String(number)}` })
  asOf = scene.instants.at(-1)!
  const doors = await openDoors(scene.url)
  opened.push(() => doors.close())
  door = doors.url
}, 60_000)

afterAll(async () => {
  for (const close of opened.splice(0).reverse()) await close()
  await scene.close()
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

async function connectHere(headers?: Record<string, string>): Promise<McpConnection> {
  const connection = await connectMcp(`${door}/mcp`, headers)
  opened.push(() => connection.close())
  return connection
}

/** As behind a proxy, where nothing but the token opens. */
const connectWith = (token: string): Promise<McpConnection> =>
  connectHere({ authorization: `Bearer ${token}`, ...FORWARDED })

const toolsOf = async ({ client }: McpConnection): Promise<string[]> =>
  (await client.listTools()).tools.map(({ name }) => name)

/** A call of a tool in the older generation, which needs no word before it. */
function post(headers: Record<string, string> = {}, behind = ''): Promise<Response> {
  return fetch(`${door}/mcp${behind}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name: 'ask', arguments: { question: 'arrivals', limit: 1 } },
    }),
  })
}

const sentenceOf = async (answer: Response): Promise<string> =>
  `${answer.status} ${((await answer.json()) as { error: string }).error}`

describe('a request of MCP', { tags: ['HQ6', 'HQ2'] }, () => {
  it('needs a token where a proxy forwards it, and a right one', async () => {
    const answer = await post(FORWARDED)
    expect(answer.headers.get('www-authenticate')).toContain('Bearer')
    expect(await sentenceOf(answer)).toMatch(/^401 a token is needed from another machine/)
    await expect(connectHere(FORWARDED)).rejects.toThrow(/token is needed/)
    expect((await post()).status).toBe(200)
  })

  it('with a token asks its questions alone, and is counted', { tags: ['release'] }, async () => {
    const token = await createToken('two', '--questions', 'last_free_days,carriers')
    const remote = await connectWith(token)
    expect(await toolsOf(remote)).toEqual(['list_questions', 'explain', 'ask'])
    const all = ['list_questions', 'explain', 'ask', 'find', 'evidence']
    expect(await toolsOf(await connectHere())).toEqual(all)
    const { data } = await remote.call('list_questions')
    expect((data.questions as Row[]).map(({ question }) => question).toSorted()).toEqual([
      'carriers',
      'last_free_days',
    ])
    const asked = await remote.call('ask', { question: 'carriers', as_of: asOf })
    expect((asked.data.rows as Row[]).length).toBeGreaterThan(0)
    for (const tool of ['ask', 'explain']) {
      expect(await remote.call(tool, { question: 'costs' })).toMatchObject({
        isError: true,
        text: 'the token two may not ask costs; it may ask last_free_days, carriers',
      })
    }
    expect((await remote.call('find', { number: 'ABCD' })).text).toMatch(/^find is not a tool;/)
    expect((await post(FORWARDED, `?token=${token}`)).status).toBe(200)
    expect(await callCli(['tokens', 'revoke', 'two'], settings)).toMatchObject({ exitCode: 0 })
    expect(await sentenceOf(await post({ authorization: `Bearer ${token}` }))).toMatch(
      /^401 the token two was revoked/,
    )
  })

  it('waits its turn among the questions, or is turned away', { tags: ['release'] }, async () => {
    const { client } = await scene.warehouse.another('lock')
    await client.query('begin')
    await client.query('lock table tracking.shipments in access exclusive mode')
    const questions = Array.from({ length: 10 }, () =>
      fetch(`${door}/questions/arrivals.csv?limit=1`),
    )
    const flood = [...questions, ...Array.from({ length: 20 }, () => post())]
    const turnedAway: Response[] = []
    for (const one of flood) void one.then((answer) => turnedAway.push(answer))
    // Nobody else is answered while the table is locked.
    const early = (): number[] => turnedAway.map(({ status }) => status)
    await expect.poll(early, { timeout: 20_000 }).toEqual(Array(10).fill(429))
    await client.end()
    expect(turnedAway[0]!.headers.get('retry-after')).toBe('5')
    const statuses = (await Promise.all(flood)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(20)
  })
})

describe('a token', () => {
  const tokens = (...args: string[]) =>
    callCli(['tokens', ...args], { ...settings, TRACKING_LOG_LEVEL: 'debug' })
  const create = (name: string) => createToken(name, '--questions', 'last_free_days,attention')

  it('is printed once, has 256 bits, and only its hash is stored', { tags: ['HQ5'] }, async () => {
    const { stdout, stderr } = await tokens(
      'create',
      ...['--name', 'printed', '--questions', 'last_free_days,attention', '--expires', '30d'],
    )
    const [text = '', , sentence] = stdout.split('\n')
    expect(text).toMatch(/^tsq_[\da-f]{12}_[\w-]{43}$/)
    expect(sentence).toMatch(/^printed opens last_free_days, attention until 20\d\d-\d\d-\d\dT/)
    const secret = text.split('_').slice(2).join('_')
    expect(stderr).not.toContain(secret)
    const dumped = JSON.stringify(
      await scene.query('select one, to_jsonb(one) from tracking_sync.access_tokens as one'),
    )
    expect(dumped).not.toContain(secret)
    expect(
      await scene.query(`select secret_hash = sha256('${text}') as is_hash,
        expires_at - created_at = interval '30 days' as is_month
      from tracking_sync.access_tokens where name = 'printed'`),
    ).toEqual([{ is_hash: true, is_month: true }])
    const listed = await tokens('list')
    expect(listed.stdout).toContain('last_free_days, attention')
    expect(listed.stdout + listed.stderr).not.toContain(secret)
  })

  it('is found by its whole text alone', { tags: ['HQ5'] }, async () => {
    const text = await create('whole')
    const other = await create('other')
    const last = text.endsWith('A') ? 'B' : 'A'
    for (const wrong of [
      `${text.slice(0, -1)}${last}`,
      `${text.slice(0, 17)}${other.slice(17)}`,
      `tsq_000000000000_${text.slice(17)}`,
      text.slice(0, -1),
      `${text} `,
      text.toUpperCase(),
      '',
      `tsq_' or true --_${text.slice(17)}`,
    ]) {
      expect({ wrong, found: await findToken(scene.warehouse, wrong) }).toEqual({
        wrong,
        found: undefined,
      })
    }
  })

  const ONE = 'create --name one --questions costs'
  it.each([
    [ONE.replace('one', 'twice'), /already; choose another/],
    [`${ONE}t`, /names costst, which is not a question; did you mean costs\?/],
    [`${ONE} --expires 2020-01-01`, /is over already; give a later day/],
    [`${ONE} --name one!two`, /--name must be 1 to 60 letters/],
    ['revoke twic', /twic is not the name of .*; did you mean twice\?/],
  ])('says what is wrong with %s', async (line, sentence) => {
    await tokens('create', '--name', 'twice', '--questions', 'costs')
    const refusal = await refusalOf(tokens(...line.split(' ')))
    expect(refusal).toMatch(/^2 /)
    expect(refusal).toMatch(sentence)
    const found = await scene.query(`select name from tracking_sync.access_tokens`)
    expect(found.map(({ name }) => name)).not.toContain('one')
  })

  it('is counted, in one write', async () => {
    const found = await findToken(scene.warehouse, await create('counted'))
    const warehouse = { ...scene.warehouse }
    const query = vi.spyOn(warehouse, 'query')
    const uses = createTokenUses(warehouse, silentLogger)
    for (let use = 0; use < 1_000; use += 1) uses.count(found!.tokenId)
    expect(query).not.toHaveBeenCalled()
    await uses.close()
    expect(query).toHaveBeenCalledTimes(1)
    expect(
      await scene.query(`select uses, last_used_at > created_at as is_used
      from tracking_sync.access_tokens where name = 'counted'`),
    ).toEqual([{ uses: 1_000, is_used: true }])
  })
})

/** The status of each; a page that lacks its container is an answer. */
async function statuses(headers: Readonly<Record<string, string>>): Promise<number[]> {
  const answers = await Promise.all(
    ADDRESSES.map((address) => fetch(`${door}${address}`, { headers })),
  )
  await Promise.all(answers.map((answer) => answer.arrayBuffer()))
  return answers.map(({ status }) => (status === 404 ? 200 : status))
}

const each = (status: number): number[] => ADDRESSES.map(() => status)

describe('a page of the dashboard', { tags: ['HQ2'] }, () => {
  it('is for this machine, and not for what a proxy forwards', async () => {
    expect(await statuses({})).toEqual(each(200))
    expect(await statuses(FORWARDED)).toEqual(each(401))
    const refused = await fetch(door, { headers: FORWARDED })
    // A browser asks for it.
    expect(refused.headers.get('www-authenticate')).toContain('Basic realm=')
    expect(await refused.text()).toContain('a token is needed from another machine')
    // As nginx forwards, if it is told nothing.
    const { port } = new URL(door)
    const bare = await openRaw(Number(port), 'GET / HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n')
    expect(await bare.closed()).toMatch(/^HTTP\/1\.1 401 /)
  })

  it('is for a token that opens it, and for no other', async () => {
    const token = await createToken('page', '--questions', 'dashboard')
    const basic = `Basic ${Buffer.from(`anna:${token}`).toString('base64')}`
    expect(await statuses({ ...FORWARDED, authorization: basic })).toEqual(each(200))
    expect(await statuses({ authorization: `Bearer ${token}` })).toEqual(each(200))
    const ofCustomer = {
      name: 'acme',
      questions: ['dashboard'],
      customers: ['ACME'],
      end: { days: 1 },
    }
    const others = [
      await createToken('asks', '--questions', 'pickups,attention'),
      // The command refuses it.
      (await storeToken(scene.warehouse, ofCustomer)).token,
    ]
    for (const other of others) {
      expect(await statuses({ authorization: `Bearer ${other}` })).toEqual(each(403))
    }
    const asked = await fetch(`${door}/questions/pickups.csv?token=${token}`)
    expect([asked.status, await asked.text()]).toEqual([
      403,
      '{"error":"the token page may not ask pickups; it may ask dashboard"}\n',
    ])
  })
})

it('a token of a customer sees its rows alone', { tags: ['HQ6', 'HQ3'] }, async () => {
  const names = (
    await scene.query<{ name: string }>(
      `select customer_name as name from tracking.shipments
      where customer_name is not null group by 1 order by count(*) desc, 1`,
    )
  ).map(({ name }) => name)
  const [customer = '', ...others] = names
  expect(others.length).toBeGreaterThan(1)
  const questions = 'last_free_days,changes,carriers,evidence,find'
  const refusal = (asked: string): Promise<string> => {
    const args = ['--name', 'early', '--questions', asked, '--customer', customer]
    return refusalOf(callCli(['tokens', 'create', ...args], settings))
  }
  expect(await refusal(questions)).toMatch(/^2 .*needs a warehouse that is open to customers/)
  expect(await callCli(['migrate', '--customers'], settings)).toMatchObject({ exitCode: 0 })
  expect(await refusal(questions)).toMatch(/and no role reads the rows of just that/)
  const role = `mcp_http_${process.pid}`
  await scene.query(`create role ${role} nologin`)
  opened.push(() => scene.query(`drop owned by ${role}; drop role ${role}`))
  await scene.query(`grant tracking_customer to ${role}`)
  const assign = (name = ''): Promise<unknown> =>
    scene.query('insert into tracking_sync.customer_roles values ($1, $2)', role, name)
  await assign(customer)
  expect(await refusal('accrual,dashboard')).toMatch(
    /--questions names accrual, dashboard, which reads what is closed/,
  )
  const token = await createToken('theirs', '--questions', questions, '--customer', customer)
  const remote = await connectWith(token)
  const overHttp = (path: string) => fetch(`${door}/questions/${path}token=${token}`)
  let [own, all] = [0, 0]
  const texts: string[] = []
  for (const question of ['last_free_days', 'changes']) {
    const columns = ['container_number', 'customer_name']
    const { data, text } = await remote.call('ask', { question, columns })
    const command = ['query', question, '--columns', columns.join(), '--format', 'json']
    const everybody = JSON.parse((await callCli(command, settings)).stdout) as Row[]
    const expected = everybody.filter((row) => row.customer_name === customer)
    const rows = data.rows as Row[]
    expect({ question, rows }).toEqual({ question, rows: expected.slice(0, rows.length) })
    expect(data.rows_in_all).toBe(expected.length)
    const answered = (await (await overHttp(`${question}.json?`)).json()) as Row[]
    expect(answered.map((row) => row.customer_name)).toEqual(expected.map(() => customer))
    const other = `${question}.json?customer=${encodeURIComponent(others[0]!)}&`
    expect(await (await overHttp(other)).json()).toEqual([])
    own += rows.length
    all += everybody.length
    texts.push(text)
    expect(data.data).toEqual({ last_complete_sync: 'not shown to this login' })
  }
  expect(own).toBeGreaterThan(3)
  expect(all).toBeGreaterThan(own)
  const empty = await remote.call('ask', {
    question: 'last_free_days',
    filters: { customer: 'nobody at all' },
  })
  expect((empty.data.notes as string[]).join()).toContain(customer)
  const compared = await remote.call('ask', {
    question: 'last_free_days',
    against: scene.instants[0],
  })
  const sheet = await overHttp(`last_free_days.csv?against=${scene.instants[0]}&`)
  texts.push(empty.text, compared.text, await sheet.text())
  // A number of another is one that nobody tracks.
  const [theirs, mine] = await Promise.all(
    ['distinct from', 'not distinct from'].map(async (is) => {
      const [box] = await scene.query<{ number: string }>(
        `select min(number) as number from tracking.containers
        inner join tracking.shipments using (shipment_id) where customer_name is ${is} $1`,
        customer,
      )
      return box!.number
    }),
  )
  expect(await remote.call('evidence', { container: theirs })).toMatchObject({
    isError: true,
    text: expect.stringContaining(`the warehouse has no container "${theirs}"`) as unknown,
  })
  expect((await remote.call('find', { number: theirs })).data.rows).toEqual([])
  expect((await remote.call('evidence', { container: mine })).data).toMatchObject({ customer })
  expect(texts.filter((text) => others.some((other) => text.includes(other)))).toEqual([])
  const freshness = remote.client.readResource({ uri: 'tracking-sync://freshness' })
  await expect(freshness).rejects.toThrow(/may not read all/)
  // The role has another name since: the token must not read its rows.
  await assign(others[0])
  expect(await remote.call('ask', { question: 'changes' })).toMatchObject({
    isError: true,
    text: expect.stringMatching(/and no role reads just these now/) as unknown,
  })
  expect(await sentenceOf(await overHttp('changes.csv?'))).toMatch(
    /^403 the token theirs reads the rows of .*, and no role reads just these now/,
  )
})

describe('an answer over HTTP', () => {
  it.each([
    ...FORMATS.map((format) => ['last_free_days', format] as const),
    ['costs', 'csv'] as const,
    ['changes', 'csv'] as const,
  ])('has the bytes of the command: %s.%s', { tags: ['HQ1'] }, async (name, format) => {
    const file = join(folder.path, `${name}.${format}`)
    const [answer] = await Promise.all([
      get(`/questions/${name}.${format}?as-of=${asOf}&limit=30`),
      query(name, ...['--as-of', asOf, '--limit', '30', '--format', format, '--out', file]),
    ])
    const asked = await readFile(file)
    if (format === 'xlsx') {
      // The archive holds the time of its making.
      const [one, other] = [answer.bytes, asked].map((bytes) => readWorkbook(bytes).rows)
      expect(one).toEqual(other)
      expect(one!.length).toBeGreaterThan(1)
    } else {
      expect(answer.text).toBe(asked.toString())
      expect(answer.bytes.equals(asked)).toBe(true)
      expect(lines(answer.text)).toBeGreaterThan(2)
    }
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
    let now = 0
    const answers = connect({ isReadOnly: true })
    const another = vi.spyOn(answers, 'another')
    const questions = (): number => another.mock.calls.length
    const of = await open({ answers, clock: () => now })
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
      const before = questions()
      await scene.query(change)
      now += 4_999
      expect([name, await ask(), questions()]).toEqual([name, 304, before])
      now += 1
      const second = await get(address, { 'if-none-match': etag }, of)
      expect([name, second.status, questions()]).toEqual([name, 200, before + 1])
      expect(second.text).not.toBe(first.text)
      expect(second.headers.get('etag')).not.toBe(etag)
    }
    await scene.query(clockOfViews('0 days'))
  })

  it('without rows says why in a header', { tags: ['HQ9'] }, async () => {
    const customer = 'Żaneta  & Söhne\u2066'
    for (const [query, note] of [
      ['customer=Nobody', /^the warehouse has no customer "Nobody"; there are .+, /],
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
    ['/questions/costs.toString', /^404 the address must end in .* \/questions\/costs\.csv$/],
    [
      '/questions/costs.csv?state=overdu',
      /^400 state has no value "overdu"; did you mean overdue\?$/,
    ],
    // Also of a text with a line break.
    ['/questions/costs.csv?li%0Amit=1&li%0Amit=2', /^400 li.+mit is given twice; give it once$/],
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
})

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
})

it('the description has every question with its filters, formats and columns', async () => {
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

it('and its secret are in no log line and in no answer', () => {
  expect(secrets.length).toBeGreaterThan(3)
  expect(said.length).toBeGreaterThan(20)
  expect(secrets.filter((secret) => said.some((text) => text.includes(secret)))).toEqual([])
})

function lines(text: string): number {
  return text.split('\n').length - 1
}
