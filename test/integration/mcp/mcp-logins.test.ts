import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openLogins, type Logins } from '../../support/scenes/logins.js'
import { startMcp, type McpProgram, type ToolResult } from '../../support/mcp-client.js'

const schema = `mcp_${process.pid}`

let scene: Logins
const running: McpProgram[] = []

beforeAll(async () => {
  const logins = { reader: '', acme: '', writer: '', nobody: '', mighty: 'superuser' }
  scene = await openLogins({ schema, logins })
  const settings = { TRACKING_MIGRATE: 'true' }
  for (const option of ['--roles', '--customers']) {
    expect(await scene.call(undefined, ['migrate', option], settings)).toMatchObject({
      exitCode: 0,
    })
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

afterAll(async () => {
  await Promise.all(running.map((one) => one.close()))
  await scene.close()
})

async function callAs(
  env: Readonly<Record<string, string>>,
  tool: string,
  given: Readonly<Record<string, unknown>>,
): Promise<ToolResult> {
  const program = await startMcp(['--sql'], { TRACKING_SCHEMA: schema, ...env })
  running.push(program)
  return program.call(tool, given)
}

const find = { number: 'bill' }

describe('mcp answers', { tags: ['JM3'] }, () => {
  it('as a reader, by either setting of its address', { tags: ['release'] }, async () => {
    for (const env of [
      { DATABASE_URL: scene.urlOf('reader') },
      { DATABASE_URL: scene.url, TRACKING_READER_URL: scene.urlOf('reader') },
    ]) {
      const { text, data } = await callAs(env, 'find', find)
      expect({ text, rows: (data.rows as unknown[] | undefined)?.length }).toMatchObject({
        rows: 5,
      })
    }
  })

  it('as a customer, who sees its own rows', { tags: ['release'] }, async () => {
    const env = { DATABASE_URL: scene.urlOf('acme'), TRACKING_MIGRATE: 'false' }
    const { data } = await callAs(env, 'find', find)
    expect((data.rows as Record<string, string>[]).map((row) => row.customer_name)).toEqual([
      'ACME',
      'ACME',
    ])
    const program = running.at(-1)!
    const statement = 'select count(*)::int as n from shipments'
    expect((await program.call('sql', { statement })).data).toMatchObject({
      rows: [{ n: 2 }],
      data: { last_complete_sync: 'not shown to this login' },
    })
    for (const as_of of [undefined, '2026-01-01']) {
      const asked = await program.call('ask', { question: 'pickups', as_of })
      expect({ as_of, asked }).toMatchObject({ asked: { isError: false, data: { rows: [] } } })
    }
  })

  it.each([
    [
      'writer',
      /may write the warehouse; mcp answers as a reader or a customer only: give your own/,
    ],
    ['mighty', /is a superuser, .* give your own SQL a login: set TRACKING_READER_URL=/],
    ['nobody', /may not read the warehouse; give it the role mcp_\d+_reader or mcp_\d+_customer$/],
  ])('as no other login: %s', async (login, sentence) => {
    const { isError, text } = await callAs({ DATABASE_URL: scene.urlOf(login) }, 'find', find)
    expect({ isError, text }).toEqual({
      isError: true,
      text: expect.stringMatching(sentence) as unknown,
    })
    expect(text).toContain(`the login ${scene.nameOf(login)} `)
    const again = await running.at(-1)!.call('ask', { question: 'pickups' })
    expect(again.text).toBe(text)
  })
})
