import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { silentLogger } from '../../../src/base/logger.js'
import { findClosedQuestions } from '../../../src/extensions/accounts/customers/customer-role.js'
import { askQuestion } from '../../../src/extensions/answers/ask/ask-question.js'
import { OPTIONS } from '../../../src/extensions/answers/ask/ask-words.js'
import { toObjects } from '../../../src/extensions/answers/output/print-answer.js'
import { keepShippedQueries } from '../../../src/extensions/answers/questions/kept-queries.js'
import { createToken } from '../../../src/extensions/doors/access-tokens.js'
import { createWarehouse } from '../../../src/warehouse/connection/warehouse.js'
import { callCli } from '../../support/call-cli.js'
import { connectMcp, type McpConnection } from '../../support/mcp-client.js'
import { openLoadedWeek, type LoadedWeek } from '../../support/scenes/loaded-week.js'
import { openDoors, type OpenDoors } from '../../support/scenes/open-doors.js'

const CUSTOMERS = 40
const PASSWORD = 'for this test'
const NUMBER = /^[A-Z]{4}\d{7}$/
const read = keepShippedQueries()

type Row = Readonly<Record<string, unknown>>

interface Customer {
  readonly name: string
  readonly role: string
  readonly token: string
  /** The number of one of its containers, on one journey. */
  readonly own: string
  /** Names, ids and numbers of the others. */
  readonly secrets: readonly string[]
}

let scene: LoadedWeek
let doors: OpenDoors
let open: string[]
let closed: string[]
const customers: Customer[] = []
const connections: McpConnection[] = []

beforeAll(async () => {
  scene = await openLoadedWeek()
  doors = await openDoors(scene.url)
  const settings = { DATABASE_URL: scene.url, TRACKING_LOG_LEVEL: 'silent' }
  await scene.query(
    `with numbered as (
      select shipment_id, 'Customer ' || chr(65 + (place % ${CUSTOMERS})::int / 10)
          || (place % ${CUSTOMERS}) % 10 || ' Ltd' as customer
      from (
        select shipment_id, row_number() over (order by shipment_id) as place
        from tracking.shipments
      ) as one
    ), changed as (
      update tracking.shipments as shipment set customer_name = customer
      from numbered where numbered.shipment_id = shipment.shipment_id
    )
    update tracking.shipment_history as version set customer_name = customer
    from numbered where numbered.shipment_id = version.shipment_id`,
  )
  expect(await callCli(['migrate', '--customers'], settings)).toMatchObject({ exitCode: 0 })
  const owned = await scene.query<{ customer: string; secrets: string[] }>(
    `select customer_name as customer, array_agg(distinct secret) as secrets
    from tracking.shipments as shipment
    left join tracking.containers as container using (shipment_id)
    cross join lateral unnest(array[
        shipment.customer_name, shipment.shipment_id, shipment.bill_of_lading_number,
        container.container_id, container.number
    ]) as secret
    where secret is not null group by 1 order by 1`,
  )
  expect(owned).toHaveLength(CUSTOMERS)
  const all = (await read(scene.warehouse.names)).map(({ name }) => name)
  for (const [at, { customer, secrets: mine }] of owned.entries()) {
    const role = `door_${process.pid}_${at}`
    await scene.query(`create role ${role} login password '${PASSWORD}'`)
    await scene.query(`alter role ${role} set jit = off`)
    await scene.query(`grant tracking_customer to ${role}`)
    await scene.query('insert into tracking_sync.customer_roles values ($1, $2)', role, customer)
    if (at === 0) {
      closed = await findClosedQuestions(scene.warehouse, role, all)
      open = all.filter((name) => !closed.includes(name))
    }
    const questions = [...open, 'find']
    const wanted = { name: role, questions, customers: [customer], end: { days: 1 } }
    const { token } = await createToken(scene.warehouse, wanted)
    const secrets = owned.flatMap((one) => (one.customer === customer ? [] : one.secrets))
    const numbers = mine.filter((secret) => NUMBER.test(secret) && !secrets.includes(secret))
    customers.push({ name: customer, role, token, own: numbers[0]!, secrets })
  }
}, 120_000)

afterAll(async () => {
  for (const connection of connections) await connection.close()
  await doors.close()
  for (const { role } of customers) await scene.query(`drop owned by ${role}; drop role ${role}`)
  await scene.close()
})

function urlOf(role: string): string {
  const url = new URL(scene.url)
  ;[url.username, url.password] = [role, encodeURIComponent(PASSWORD)]
  return url.href
}

/** A question through a door: all that is answered, as text, and its rows. */
interface Asked {
  readonly door: string
  readonly text: string
  readonly rows: readonly Row[]
  /** Rows in all, where some are not shown. */
  readonly total?: number
}

/** By the customer's own login: `query` is for readers. */
async function askAsLogin(
  { role }: Customer,
  question: string,
  filters: Readonly<Record<string, string>> = {},
): Promise<{ readonly rows: Row[]; readonly text: string; readonly isError: boolean }> {
  const options = { url: urlOf(role), schema: 'tracking', logger: silentLogger }
  const warehouse = createWarehouse({ ...options, isReadOnly: true, poolSize: 1 })
  try {
    const answer = await askQuestion(warehouse, { question, filters }, { words: OPTIONS, read })
    const columns = answer.columns.map(({ name }) => name)
    const objects = toObjects({ columns, types: [], rows: answer.rows })
    const rows = objects.map((row) => JSON.parse(row) as Row)
    return { rows, text: [...objects, ...answer.notes].join('\n'), isError: false }
  } catch (thrown) {
    return { rows: [], text: String(thrown), isError: true }
  } finally {
    await warehouse.close()
  }
}

const askOverHttp = ({ token }: Customer, address: string): Promise<Response> =>
  fetch(`${doors.url}/questions/${address}`, { headers: { authorization: `Bearer ${token}` } })

async function connect({ token }: Customer): Promise<McpConnection> {
  const headers = { authorization: `Bearer ${token}` }
  const connection = await connectMcp(`${doors.url}/mcp`, headers)
  connections.push(connection)
  return connection
}

const DOORS = ['login', 'http', 'mcp'] as const

async function ask(
  customer: Customer,
  mcp: McpConnection,
  question: string,
  door: (typeof DOORS)[number],
): Promise<Asked> {
  if (door === 'login') {
    const { rows, text, isError } = await askAsLogin(customer, question)
    expect({ question, text, isError }).toMatchObject({ isError: false })
    return { door, text, rows }
  }
  if (door === 'http') {
    const response = await askOverHttp(customer, `${question}.json`)
    const text = await response.text()
    expect({ question, text, status: response.status }).toMatchObject({ status: 200 })
    return { door, text, rows: JSON.parse(text) as Row[] }
  }
  const chat = await mcp.call('ask', { question })
  expect({ question, chat }).toMatchObject({ chat: { isError: false } })
  // The chat shows the first rows and counts the others.
  const rows = chat.data.rows as Row[]
  return { door, text: chat.text, rows, total: Number(chat.data.rows_in_all) }
}

/** The doors answer one after the other, and hours pass: some rows begin a day before now. */
function atOnce(row: Row): Row {
  return { ...row, since_at: null, hours: null }
}

function expectNoSecret(where: string, text: string, { secrets }: Customer, given = ''): void {
  const found = secrets.filter((secret) => secret !== given && text.includes(secret))
  expect({ where, found }).toEqual({ where, found: [] })
}

describe('forty customers at three doors', { tags: ['HQ3', 'release'] }, () => {
  it('may ask all questions but those of invoices and of the syncs', () => {
    expect(closed.toSorted()).toEqual(['accrual', 'data_quality', 'invoices'])
    expect(open).toHaveLength(17)
    expect(open).toEqual(expect.arrayContaining(['attention', 'costs', 'pickups']))
  })

  // Two thousand answers, most of them planned for longer than they run.
  const LONG = { timeout: 1_800_000 }

  it('see no row, count or name of another, in any question', LONG, async () => {
    const rows = new Map<string, number>()
    let looks = 0
    for (const customer of customers) {
      const mcp = await connect(customer)
      for (const question of open) {
        const asked = await Promise.all(DOORS.map((door) => ask(customer, mcp, question, door)))
        for (const { door, text, rows: found } of asked) {
          expectNoSecret(`${customer.name} ${question} ${door}`, text, customer)
          const names = new Set(found.map((row) => row.customer_name ?? customer.name))
          expect([...names].filter((name) => name !== customer.name)).toEqual([])
          rows.set(question, (rows.get(question) ?? 0) + found.length)
          looks += 1
        }
        const [login, http, chat] = asked
        const [ofLogin, ofHttp, ofChat] = [login, http, chat].map((one) => one!.rows.map(atOnce))
        expect({ question, rows: ofHttp }).toEqual({ question, rows: ofLogin })
        expect(ofChat).toEqual(ofLogin!.slice(0, ofChat!.length))
        expect(chat!.total).toBe(login!.rows.length)
      }
    }
    expect(looks).toBe(CUSTOMERS * 17 * 3)
    expect(rows.get('timeline')).toBeGreaterThan(100)
    const withRows = open.filter((question) => (rows.get(question) ?? 0) > 0)
    expect(withRows.length).toBeGreaterThanOrEqual(8)
  })

  it('find their own containers, and evidence of these alone', LONG, async () => {
    let [found, tables, refusals] = [0, 0, 0]
    for (const customer of customers) {
      const mcp = await connect(customer)
      const { own } = customer
      const theirs = customer.secrets.filter((secret) => NUMBER.test(secret))
      for (const number of [own, theirs[0]!, 'Customer']) {
        const { data, text } = await mcp.call('find', { number })
        const rows = data.rows as Row[]
        expect(rows.filter((row) => row.customer_name !== customer.name)).toEqual([])
        expect(rows.length > 0).toBe(number === own)
        expectNoSecret(`${customer.name} finds ${number}`, text, customer, number)
        found += rows.length
      }
      const evidence = await mcp.call('evidence', { container: own })
      expect(evidence.data).toMatchObject({ number: own, customer: customer.name })
      expectNoSecret(`evidence of ${own}`, evidence.text, customer)
      for (const { table, rows, note } of evidence.data.tables as Row[]) {
        if (table === 'invoices') expect([rows, note]).toEqual([[], 'Closed to this login.'])
        tables += (rows as Row[]).length > 0 ? 1 : 0
      }
      for (const container of theirs.slice(1, 2)) {
        const refused = await mcp.call('evidence', { container })
        expect(refused.isError).toBe(true)
        expect(refused.text).toContain(`the warehouse has no container "${container}"`)
        expectNoSecret(`evidence of ${container}`, refused.text, customer, container)
        refusals += 1
      }
    }
    expect(found).toBeGreaterThanOrEqual(CUSTOMERS)
    expect(tables).toBeGreaterThan(CUSTOMERS * 2)
    expect(refusals).toBe(CUSTOMERS)
  })

  it('learn nothing of another from filters, mistakes and closed questions', async () => {
    let refusals = 0
    for (const customer of customers.slice(0, 2)) {
      const mcp = await connect(customer)
      const { secrets } = customer
      const other = secrets.find((secret) => secret.startsWith('Customer '))!
      const number = secrets.find((secret) => NUMBER.test(secret))!
      for (const [filter, value] of [
        ['customer', other],
        ['container', number],
        ['container', `${number.slice(0, 6)}00000`],
        ['customer', 'Customer'],
      ] as const) {
        const query = `${filter}=${encodeURIComponent(value)}`
        const answer = await askOverHttp(customer, `timeline.json?${query}`)
        const http = await answer.text()
        const notes = answer.headers.get('tracking-sync-notes') ?? ''
        expect(notes).toContain(`the warehouse has no ${filter} "${value}"`)
        const chat = await mcp.call('ask', { question: 'timeline', filters: { [filter]: value } })
        const login = await askAsLogin(customer, 'timeline', { [filter]: value })
        expect([http, chat.data.rows, login.rows]).toEqual(['[]\n', [], []])
        for (const text of [chat.text, login.text, notes]) {
          expectNoSecret(`${customer.name} ${query}`, text, customer, value)
        }
      }
      for (const question of closed) {
        const http = await askOverHttp(customer, `${question}.json`)
        const chat = await mcp.call('ask', { question })
        const login = await askAsLogin(customer, question)
        expect([http.status, chat.isError, login.isError]).toEqual([403, true, true])
        for (const text of [await http.text(), chat.text, login.text]) {
          expect(text).not.toBe('')
          expectNoSecret(`${customer.name} ${question}`, text, customer)
          refusals += 1
        }
      }
    }
    expect(refusals).toBe(2 * closed.length * 3)
  })

  it('have the same answers when the rows of the others are gone', async () => {
    const [one, two] = [customers[3]!, customers[17]!]
    const read = async (): Promise<string[]> => {
      const answers: string[] = []
      for (const customer of [one, two]) {
        for (const question of open) {
          const text = await (await askOverHttp(customer, `${question}.json`)).text()
          // Hours pass meanwhile.
          answers.push(text.replaceAll(/"(hours\w*)":"-?[\d.]+"/g, '"$1":"…"'))
        }
      }
      return answers
    }
    const before = await read()
    const [gone] = await scene.query<{ count: number }>(
      `with gone as (
        delete from tracking.shipments where customer_name != all ($1) returning shipment_id
      ), boxes as (
        delete from tracking.containers where shipment_id in (select shipment_id from gone)
        returning container_id
      )
      select count(*)::int as count from gone left join boxes on true`,
      [one.name, two.name],
    )
    expect(gone!.count).toBeGreaterThan(50)
    expect(await read()).toEqual(before)
    expect(before.filter((text) => text !== '[]\n').length).toBeGreaterThan(10)
  })
})
