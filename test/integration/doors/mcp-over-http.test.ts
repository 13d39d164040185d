import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callCli } from '../../support/call-cli.js'
import { connectMcp, type McpConnection } from '../../support/mcp-client.js'
import { openLoadedWeek, type LoadedWeek } from '../../support/scenes/loaded-week.js'
import { openDoors } from '../../support/scenes/open-doors.js'

type Row = Readonly<Record<string, unknown>>

const FORWARDED = { 'x-forwarded-for': '203.0.113.7' }

let scene: LoadedWeek
let settings: Record<string, string>
let url: string
/** Of this machine, without a token. */
let here: McpConnection
let asOf: string
const opened: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  scene = await openLoadedWeek()
  settings = { DATABASE_URL: scene.url, TRACKING_LOG_LEVEL: 'silent' }
  asOf = scene.instants.at(-1)!
  const doors = await openDoors(scene.url)
  opened.push(() => doors.close())
  url = doors.url
  here = await connectHere()
}, 60_000)

afterAll(async () => {
  for (const close of opened.splice(0).reverse()) await close()
  await scene.close()
})

async function connectHere(headers?: Record<string, string>): Promise<McpConnection> {
  const connection = await connectMcp(`${url}/mcp`, headers)
  opened.push(() => connection.close())
  return connection
}

async function createToken(name: string, ...more: string[]): Promise<string> {
  const args = ['tokens', 'create', '--json', '--name', name, ...more]
  const { exitCode, stdout, stderr } = await callCli(args, settings)
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  return (JSON.parse(stdout) as { token: string }).token
}

/** As behind a proxy, where nothing but the token opens. */
const connectWith = (token: string): Promise<McpConnection> =>
  connectHere({ authorization: `Bearer ${token}`, ...FORWARDED })

const toolsOf = async ({ client }: McpConnection): Promise<string[]> =>
  (await client.listTools()).tools.map(({ name }) => name)

/** A call of a tool in the older generation, which needs no word before it. */
function post(headers: Record<string, string> = {}, behind = ''): Promise<Response> {
  return fetch(`${url}/mcp${behind}`, {
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

describe('MCP over HTTP', { tags: ['HQ6'] }, () => {
  it('has the tools and the rows of the command, for three questions', async () => {
    expect(await toolsOf(here)).toEqual(['list_questions', 'explain', 'ask', 'find', 'evidence'])
    let compared = 0
    for (const question of ['last_free_days', 'arrivals', 'timeline']) {
      const [{ data }, { stdout }] = await Promise.all([
        here.call('ask', { question, as_of: asOf }),
        callCli(['query', question, '--as-of', asOf, '--format', 'json'], settings),
      ])
      const expected = JSON.parse(stdout) as Row[]
      const rows = data.rows as Row[]
      expect({ question, rows }).toEqual({ question, rows: expected.slice(0, rows.length) })
      expect(data.rows_in_all).toBe(expected.length)
      compared += rows.length
    }
    expect(compared).toBeGreaterThan(100)
  })
})

describe('a request of MCP', { tags: ['HQ6', 'HQ2'] }, () => {
  it('needs a token where a proxy forwards it, and a right one', async () => {
    for (const header of [
      'X-Forwarded-Proto',
      'Forwarded',
      'Via',
      'X-Real-IP',
      'CF-Connecting-IP',
    ]) {
      const answer = await post({ [header]: '127.0.0.1' })
      expect(answer.headers.get('www-authenticate')).toContain('Bearer')
      expect(await sentenceOf(answer)).toMatch(/^401 a token is needed from another machine/)
    }
    expect(await sentenceOf(await post({ authorization: 'Bearer tsq_no' }))).toMatch(
      /^401 the token is wrong/,
    )
    await expect(connectHere(FORWARDED)).rejects.toThrow(/token is needed/)
    expect((await post()).status).toBe(200)
  })

  it('with a token asks its questions alone, and is counted', { tags: ['release'] }, async () => {
    const token = await createToken('two', '--questions', 'last_free_days,carriers')
    const remote = await connectWith(token)
    expect(await toolsOf(remote)).toEqual(['list_questions', 'explain', 'ask'])
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
    for (const [tool, given] of [
      ['find', { number: 'ABCD' }],
      ['evidence', { container: 'ABCD' }],
    ] as const) {
      expect((await remote.call(tool, given)).text).toMatch(/^\w+ is not a tool;/)
    }
    expect((await post(FORWARDED, `?token=${token}`)).status).toBe(200)
    expect(await callCli(['tokens', 'revoke', 'two'], settings)).toMatchObject({ exitCode: 0 })
    expect(await sentenceOf(await post({ authorization: `Bearer ${token}` }))).toMatch(
      /^401 the token two was revoked/,
    )
  })

  it('with a token finds numbers and evidence if it names them', async () => {
    const remote = await connectWith(await createToken('looks', '--questions', 'find,evidence'))
    expect(await toolsOf(remote)).toEqual(['list_questions', 'explain', 'ask', 'find', 'evidence'])
    const alone = await connectWith(await createToken('alone', '--questions', 'find'))
    expect(await toolsOf(alone)).toEqual(['find'])
    const [{ number } = { number: '' }] = await scene.query<{ number: string }>(
      `select number from tracking.containers where pod_discharged_at is not null
      group by 1 having count(*) = 1 order by 1 limit 1`,
    )
    for (const [tool, given] of [
      ['find', { number: number.toLowerCase() }],
      ['evidence', { container: number, as_of: asOf }],
    ] as const) {
      const { data, text } = await remote.call(tool, given)
      expect(data).toEqual((await here.call(tool, given)).data)
      expect(text).toContain(`"${number}"`)
    }
    expect((await alone.call('evidence', { container: number })).text).toMatch(/is not a tool;/)
    expect((await remote.call('ask', { question: 'costs' })).text).toMatch(/may not ask costs;/)
  })

  it('waits its turn among the questions, or is turned away', { tags: ['release'] }, async () => {
    const { client } = await scene.warehouse.another('lock')
    await client.query('begin')
    await client.query('lock table tracking.shipments in access exclusive mode')
    const questions = Array.from({ length: 10 }, () =>
      fetch(`${url}/questions/arrivals.csv?limit=1`),
    )
    const flood = [...questions, ...Array.from({ length: 20 }, () => post())]
    const turnedAway: Response[] = []
    await new Promise<void>((resolve) => {
      for (const one of flood) {
        void one.then((answer) => {
          if (turnedAway.push(answer) === 10) resolve()
        })
      }
    })
    await client.end()
    expect(turnedAway.map(({ status }) => status)).toEqual(turnedAway.map(() => 429))
    expect(turnedAway[0]!.headers.get('retry-after')).toBe('5')
    const statuses = (await Promise.all(flood)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(20)
  })
})

describe('a token of a customer', { tags: ['HQ6', 'HQ3'] }, () => {
  it('sees its rows alone, also in what is said beside them', { tags: ['release'] }, async () => {
    const names = (
      await scene.query<{ name: string }>(
        `select customer_name as name from tracking.shipments
        where customer_name is not null group by 1 order by count(*) desc, 1`,
      )
    ).map(({ name }) => name)
    const [customer = '', ...others] = names
    expect(others.length).toBeGreaterThan(1)
    expect(await callCli(['migrate', '--customers'], settings)).toMatchObject({ exitCode: 0 })
    const role = `mcp_http_${process.pid}`
    await scene.query(`create role ${role} nologin`)
    opened.push(() => scene.query(`drop owned by ${role}; drop role ${role}`))
    await scene.query(`grant tracking_customer to ${role}`)
    await scene.query('insert into tracking_sync.customer_roles values ($1, $2)', role, customer)
    const questions = 'last_free_days,changes,carriers,evidence,find'
    const token = await createToken('theirs', '--questions', questions, '--customer', customer)
    const remote = await connectWith(token)
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
    texts.push(empty.text, compared.text)
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
    await scene.query(`delete from tracking_sync.customer_roles where role_name = $1`, role)
    expect(await remote.call('ask', { question: 'changes' })).toMatchObject({
      isError: true,
      text: expect.stringMatching(/and no role reads just these now/) as unknown,
    })
  })
})
