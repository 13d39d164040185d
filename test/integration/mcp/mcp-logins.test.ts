import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openLogins, type Logins } from '../../support/scenes/logins.js'
import { startMcp, type McpConnection } from '../../support/mcp-client.js'

const schema = `mcp_${process.pid}`

let scene: Logins

beforeAll(async () => {
  const logins = { reader: '', acme: '', writer: '', nobody: '', mighty: 'superuser' }
  scene = await openLogins({ schema, logins })
  const settings = { TRACKING_MIGRATE: 'true' }
  for (const option of ['--roles', '--customers']) {
    const call = await scene.call(undefined, ['migrate', option], settings)
    expect(call).toMatchObject({ exitCode: 0 })
  }
  await scene.run(`grant ${scene.reader} to ${scene.nameOf('reader')}`)
  await scene.run(`grant ${scene.writer} to ${scene.nameOf('writer')}`)
  await scene.run(`grant ${schema}_customer to ${scene.nameOf('acme')}`)
  await scene.run(`insert into ${schema}_sync.customer_roles values ($1, 'ACME')`, [
    scene.nameOf('acme'),
  ])
  await scene.run(
    `insert into ${schema}.shipments
      (shipment_id, bill_of_lading_number, customer_name, _observed_at, _first_seen_at, _changed_at)
    select 's' || n, 'BILL' || n, case when n <= 2 then 'ACME' else 'Globex' end, now(), now(), now()
    from generate_series(1, 5) as n`,
  )
})

afterAll(() => scene.close())

type Settings = Readonly<Record<string, string>>

async function open(settings: Settings): Promise<McpConnection> {
  const program = await startMcp(['--sql'], { TRACKING_SCHEMA: schema, ...settings })
  onTestFinished(() => program.close())
  return program
}

const find = { number: 'bill' }

describe('mcp answers', { tags: ['JM3'] }, () => {
  it('as a reader, by either setting of its address', { tags: ['release'] }, async () => {
    for (const settings of [
      { DATABASE_URL: scene.urlOf('reader') },
      { DATABASE_URL: scene.url, TRACKING_READER_URL: scene.urlOf('reader') },
    ] as Settings[]) {
      const { data } = await (await open(settings)).call('find', find)
      expect(data.rows).toHaveLength(5)
    }
  })

  it('as a customer, who sees its own rows', { tags: ['release'] }, async () => {
    const env = { DATABASE_URL: scene.urlOf('acme'), TRACKING_MIGRATE: 'false' }
    const program = await open(env)
    const acme = { customer_name: 'ACME' }
    expect((await program.call('find', find)).data.rows).toMatchObject([acme, acme])
    const statement = 'select count(*)::int as n from shipments'
    expect((await program.call('sql', { statement })).data.rows).toEqual([{ n: 2 }])
  })

  it.each([
    [
      'writer',
      /may write the warehouse; mcp answers as a reader or a customer only: give your own/,
    ],
    ['mighty', /is a superuser, .* give your own SQL a login: set TRACKING_READER_URL=/],
    ['nobody', /may not read the warehouse; give it the role mcp_\d+_reader or mcp_\d+_customer$/],
  ])('as no other login: %s', async (login, sentence) => {
    const program = await open({ DATABASE_URL: scene.urlOf(login) })
    const { isError, text } = await program.call('find', find)
    expect(isError).toBe(true)
    expect(text).toMatch(sentence)
    expect(text).toContain(`the login ${scene.nameOf(login)} `)
    expect((await program.call('ask', { question: 'pickups' })).text).toBe(text)
  })
})
