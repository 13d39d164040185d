import { inspect } from 'node:util'
import pg from 'pg'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { quoteIdentifier } from '../../../src/warehouse/connection/schema-names.js'
import { importExamples } from '../../support/scenes/charges.js'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'
import { openLoadedWeek, type LoadedWeek } from '../../support/scenes/loaded-week.js'
import { isOnCitus } from '../../support/distributed-database.js'
import { setAsOf } from '../../support/set-as-of.js'
import { atScale } from '../../support/test-scale.js'

/**
 * Every view answers with odd values in the tables: unknown zones, amounts below zero, the earliest
 * and latest storable instants, texts with a meaning in SQL or in `format`. Each seed mixes the
 * values again.
 */
const SEEDS = atScale(1, 200)

const ZONES = [
  'Mars/Olympus_Mons',
  '',
  'EST5EDT',
  '<+25>-25',
  'posixrules',
  'Etc/GMT+12',
  'Pacific/Kiritimati',
  'America/Vancouver',
]
const TEXTS = ['', '%s %I %', `'; drop table x; --`, '{"a', '{1,2}', 'NaN', '𝔘\u00a0', '-1']
const INSTANTS = [
  '1970-01-01T00:00:00Z',
  '2100-12-31T23:59:59.999Z',
  '2026-03-08T10:00:00Z',
  '2026-11-01T09:30:00Z',
]
const NUMBERS = ['-1', '0', '-0.005', '99999999999999.99', '0.1']

/** The values of a type, as texts that PostgreSQL casts to it. */
const HOSTILE: Readonly<Record<string, readonly string[]>> = {
  text: TEXTS,
  'timestamp with time zone': INSTANTS,
  date: ['1970-01-01', '2100-12-31', '2026-03-08', '2024-02-29'],
  numeric: NUMBERS,
  'double precision': NUMBERS,
  boolean: ['true', 'false'],
  jsonb: ['{}', '[]', '"x"', '{"a": {"b": [1, -2]}}', '0'],
  'text[]': ['{}', '{""}', `{"a,b","%s"}`, '{null}'],
}

interface Column {
  readonly table: string
  readonly name: string
  readonly type: string
  readonly isNullable: boolean
}

let scene: LoadedWeek
let columns: Column[]
let views: string[]
let ends: { readonly table: string; readonly name: string }[]

beforeAll(async () => {
  scene = await openLoadedWeek()
  await importExamples({ DATABASE_URL: scene.url, TRACKING_LOG_LEVEL: 'silent' })
  columns = await scene.query<Column>(
    `select format('%I.%I', space.nspname, class.relname) as table, column_.attname as name,
        format_type(column_.atttypid, null) as type, not column_.attnotnull as "isNullable"
    from pg_attribute as column_
    inner join pg_class as class on class.oid = column_.attrelid
    inner join pg_namespace as space on space.oid = class.relnamespace
    where class.relkind = 'r'
      and space.nspname in ('tracking', 'tracking_analytics')
      and column_.attnum > 0
      and not column_.attisdropped
      and column_.attgenerated = ''
      and column_.attidentity = ''
      -- Ids hold rows together, and our own columns are not the service's to say.
      and column_.attname not like '\\_%'
      and column_.attname not in ('valid_from', 'valid_to')
      and not exists (
        select from pg_constraint where conrelid = class.oid and column_.attnum = any (conkey)
      )
    order by 1, 2`,
  )
  const found = await scene.query<{ view: string }>(
    `select format('%I.%I', schemaname, viewname) as view
    from pg_views
    where schemaname like 'tracking%' and schemaname not like '%stored'
    order by 1`,
  )
  views = found.map(({ view }) => view)
  ends = await scene.query(
    `select format('%I.%I', table_schema, table_name) as table, column_name as name
    from information_schema.columns
    inner join information_schema.tables using (table_schema, table_name)
    where table_schema = 'tracking' and table_type = 'BASE TABLE'
      and column_name in ('_deleted_at', 'valid_to')`,
  )
})

afterAll(() => scene.close())

/** One assignment: a third of the rows keep what they have. */
function assignment({ name, type, isNullable }: Column, seed: number): string | undefined {
  const values = name.includes('zone') && type === 'text' ? ZONES : HOSTILE[type]
  if (values === undefined) return undefined
  const own = quoteIdentifier(name)
  const list = values.map((value) => `'${value.replaceAll("'", "''")}'`).join(', ')
  const dice = `abs(hashtext(ctid::text || '${name}${seed}'))`
  const nothing = isNullable ? 'null' : own
  return `${own} = case ${dice} % 6
    when 0 then ${own} when 1 then ${own} when 2 then ${nothing}
    else ((array[${list}])[1 + ${dice} / 6 % ${values.length}])::${type} end`
}

/** Instead of hostile values: no row, or none that the service still has. */
type Emptied = 'empty' | 'gone'

/** The end of a row and of its versions, an instant ago. */
const ENDS: Readonly<Record<string, string>> = {
  _deleted_at: `now() - interval '1 second'`,
  valid_to: `least(valid_to, now() - interval '1 second')`,
}

/** Views that fail, with PostgreSQL's reason; over ended rows alone, the views with rows. */
async function failing(seed: number | Emptied): Promise<string[]> {
  const failures: string[] = []
  const undone = new Error('undone')
  const work = scene.warehouse.transaction('corrupt and ask', async (session) => {
    const run = (statement: string) => session.query('change', rawStatement(statement))
    for (const table of new Set(columns.map((column) => column.table))) {
      if (seed === 'empty') await run(`delete from ${table}`)
      if (typeof seed === 'string') continue
      const own = columns.filter((column) => column.table === table)
      const changed = own.flatMap((column) => assignment(column, seed) ?? [])
      if (changed.length > 0) await run(`update ${table} set ${changed.join(', ')}`)
    }
    if (seed === 'gone') {
      for (const { table, name } of ends) await run(`update ${table} set ${name} = ${ENDS[name]!}`)
    }
    const asOf = seed === 'gone' ? '' : new Date(scene.simulator.clock.now()).toISOString()
    await setAsOf(session, asOf)
    for (const view of views) {
      await run('savepoint before_view')
      try {
        // As texts, so that every column is made.
        const statement = `select count(*)::int as rows, max(length(one::text)) from ${view} as one`
        const [answer] = await session.query('ask', rawStatement<{ rows: number }>(statement))
        if (typeof seed === 'string' && answer!.rows > 0) failures.push(`${view}: rows`)
        await run('release savepoint before_view')
      } catch (error) {
        const reason = error instanceof Error ? (error.cause ?? error) : error
        failures.push(`${view}: ${inspect(reason)}`)
        await run('rollback to savepoint before_view')
      }
    }
    throw undone
  })
  await expect(work).rejects.toBe(undone)
  return failures
}

it('every view of an empty warehouse answers', { tags: ['release'] }, async () => {
  expect(views.length).toBeGreaterThan(60)
  // The bookkeeping of syncs is left.
  expect(await failing('empty')).toEqual([
    'tracking_analytics.data_quality: rows',
    'tracking_analytics.days: rows',
    'tracking_analytics.freshness: rows',
    'tracking_as_of.days: rows',
    'tracking_as_of.ship_deeds: rows',
    'tracking_datasync._transfer_status: rows',
    'tracking_parts.ship_deeds: rows',
  ])
})

it('no view has a row of what is gone at the source', async () => {
  expect(ends).toHaveLength(20)
  const withRows = (await failing('gone')).map((line) => line.replace(/^\w+\.(\w+): rows$/, '$1'))
  expect([...new Set(withRows)].sort()).toEqual(
    [
      // The export shows what was withdrawn, and says so.
      ...['_transfer_status', 'transport_events'],
      ...['data_quality', 'days', 'freshness', 'ship_deeds'],
      // Invoices stay what was charged.
      ...['accrual', 'invoice_audit', 'invoice_balances', 'invoice_clocks', 'invoice_days'],
      ...['invoice_claims', 'invoice_shares', 'invoice_sums', 'invoice_terms', 'invoices'],
      // Parts that the others join to containers that are there.
      ...['container_customers', 'container_version_changes', 'free_time_costs', 'known_fees'],
      ...['known_holds', 'known_import_deadlines', 'listed_fees', 'attribute_changes'],
      ...['availability_spans', 'list_observations'],
    ].sort(),
  )
})

// Nodes change no row by a value that only the coordinator can make.
it.skipIf(isOnCitus)('every view answers, whatever is in them', { tags: ['release'] }, async () => {
  expect(columns.length).toBeGreaterThan(150)
  for (const table of ['container_hold_history', 'container_fee_history', 'dd_invoices']) {
    const schema = table === 'dd_invoices' ? 'tracking_analytics' : 'tracking'
    const rows = await scene.query(`select from ${schema}.${table} limit 2`)
    expect({ table, rows: rows.length }).toEqual({ table, rows: 2 })
  }
  const failures: Record<number, string[]> = {}
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const found = await failing(seed)
    if (found.length > 0) failures[seed] = found
  }
  expect(failures).toEqual({})
})

/** Settings of our sessions, and those of a reader. */
const OURS = { TimeZone: 'UTC', DateStyle: 'ISO, MDY', IntervalStyle: 'iso_8601' }
const FOREIGN = { TimeZone: 'America/Los_Angeles', DateStyle: 'German', IntervalStyle: 'postgres' }

/**
 * A text of a value that is the same in every session: what may differ is how the session shows it.
 */
const EXPRESSIONS: Readonly<Record<string, (column: string) => string>> = {
  'timestamp with time zone': (column) => `extract(epoch from ${column})::text`,
  'timestamp without time zone': (column) => `to_char(${column}, 'YYYY-MM-DD HH24:MI:SS.US')`,
  date: (column) => `to_char(${column}, 'YYYY-MM-DD')`,
  interval: (column) => `extract(epoch from ${column})::text`,
}

it('no view depends on zone and date style of a reader', { tags: ['FA3', 'release'] }, async () => {
  const typed = await scene.query<{ view: string; columns: Record<string, string> }>(
    `select table_schema || '.' || table_name as view,
      jsonb_object_agg(quote_ident(column_name), data_type) as columns
    from information_schema.columns
    inner join information_schema.views using (table_schema, table_name)
    -- Views as of an instant are made of the same text; stored ones are the views until they are
    -- stored.
    where table_schema like 'tracking%'
      and table_schema not in ('tracking_as_of', 'tracking_stored')
    group by 1`,
  )
  expect(typed.length).toBeGreaterThan(30)
  const client = new pg.Client({ connectionString: scene.url })
  await client.connect()
  onTestFinished(() => client.end())
  // One transaction, so that both readings are of one instant.
  await client.query('begin isolation level repeatable read')
  for (const { view, columns } of typed) {
    const digests = Object.entries(columns).map(([column, type]) => {
      const text = (EXPRESSIONS[type] ?? ((name: string) => `${name}::text`))(`one.${column}`)
      return `md5(string_agg(${text}, '|' order by ${text})) as ${column}`
    })
    const read = async (settings: Readonly<Record<string, string>>) => {
      for (const [name, value] of Object.entries(settings)) {
        await client.query('select set_config($1, $2, true)', [name, value])
      }
      const { rows } = await client.query<object>(
        `select ${digests.join(', ')} from ${view} as one`,
      )
      return rows
    }
    expect({ view, read: await read(FOREIGN) }).toEqual({ view, read: await read(OURS) })
  }
})
