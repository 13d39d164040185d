/**
 * B12: how long the views take over a large warehouse: whole, and asked for one terminal, one
 * shipping line, one month or one container.
 *
 *   node bench/analytics.js [containers, 1000000 unless told] [view …]
 *
 * Times are PostgreSQL's own (`explain analyze`, without the times and buffers of each step, whose
 * counting costs more than a step that hands a row on): every row is made, nothing is sent. Each
 * question is asked twice and the second time counts, as for somebody who works with it. The bases
 * of the views (`known_…`) are the tables themselves and are not asked; nor are the views as of an
 * instant, which are the same on histories. Memory of the server as its manual advises for the size
 * (SERVER below), all else as we ship it.
 */
import { readFile } from 'node:fs/promises'
import { STORED_VIEWS } from '../dist/extensions/answers/stored-views.js'
import { readViews } from '../dist/warehouse/schema/shipped-views.js'
import { prepareSchemas } from '../dist/warehouse/schema/prepare-schemas.js'
import { SchemaNames, withSchemaNames } from '../dist/warehouse/connection/schema-names.js'
import { storeViews } from '../dist/extensions/answers/store-views.js'
import { createWarehouse } from '../dist/warehouse/connection/warehouse.js'
import { silentLogger } from '../dist/base/logger.js'
import { formatTable } from '../dist/commands/output/print-table.js'
import { connect, openDatabase, runBench } from './bench-world.js'
import { figure } from './figures.js'

const [size = '1000000', ...wanted] = process.argv.slice(2)
const containers = Number(size)
const names = new SchemaNames('tracking')

/** A quarter of 24 GB, and a disk without a head. */
const SERVER = {
  autovacuum: 'off',
  shared_buffers: '6GB',
  effective_cache_size: '12GB',
  random_page_cost: '1.1',
}

const TIME_LIMIT_MS = 30_000
/** The first time a question may have to read what it needs from the disk. */
const WARM_UP_LIMIT_MS = 120_000

/**
 * What views are narrowed by; of each kind the first column that the view has. Two months back:
 * past and complete.
 */
const MONTH = (column) =>
  `${column} >= date_trunc('month', now()) - interval '2 months' and ${column} < date_trunc('month', now()) - interval '1 month'`
const KINDS = {
  terminal: {
    pod_terminal_id: "pod_terminal_id = 'terminal-7'",
    terminal_id: "terminal_id = 'terminal-7'",
    subject_id: "subject_id = 'terminal-7'",
    pod_terminal_firms_code: "pod_terminal_firms_code = 'F007'",
    facility_firms_code: "facility_firms_code = 'F007'",
  },
  line: {
    shipping_line_scac: "shipping_line_scac = 'L007'",
    subject_id: "subject_id = 'L007'",
    scac: "scac = 'L007'",
  },
  month: Object.fromEntries(
    [
      'arrival_month_on',
      'arrival_quarter_on',
      'discharge_week_on',
      'arrival_on',
      'placed_at',
      'seen_at',
      'changed_at',
      'learned_at',
      'charged_on',
      'week_on',
      'full_out_at',
      'pod_discharged_at',
      'start_at',
      'pod_arrived_at',
      'arrived_at',
      'binding_on',
      'first_seen_at',
      'occurred_at',
      'event_timestamp',
      'pod_ata_at',
      'created_at',
    ].map((column) => [column, MONTH(column)]),
  ),
  container: {
    container_id: "container_id = 'container-00000777'",
    shipment_id: "shipment_id = 'shipment-00000388'",
  },
}

/** To store all takes half an hour: of named views those alone are stored. */
const VIEWS_TO_STORE = STORED_VIEWS.filter(
  ({ source }) => wanted.length === 0 || wanted.includes(source.name),
)

await runBench(async () => {
  const databaseUrl = await openDatabase(SERVER)
  const client = await connect(databaseUrl)
  await fill(client, databaseUrl)
  const stored = await store(databaseUrl)
  const rows = []
  for (const view of await readViews()) {
    if (wanted.length > 0 && !wanted.includes(view.name.replace(/^datasync_/, ''))) continue
    if (view.schema === 'asOf' || view.name.startsWith('known_')) continue
    rows.push(await ask(client, view))
    note(rows.at(-1).join('  '))
  }
  process.stdout.write(
    `${formatTable(['view', 'rows', 'whole ms', ...Object.keys(KINDS).map((kind) => `${kind} ms`)], rows)}\n`,
  )
  return {
    containers,
    transportEvents: containers * 12,
    figures: [
      figure('B12 filtered', { value: slowest(fasterOf(rows, 3)) }),
      figure('B12 whole', { value: slowest(fasterOf(rows, 2, 3)) }),
    ],
    stored,
  }
})

/** As the command does it. What is stored already is of this world. */
async function store(databaseUrl) {
  const warehouse = createWarehouse({ url: databaseUrl, schema: 'tracking', logger: silentLogger })
  try {
    const stored = await storeViews(warehouse, {
      views: VIEWS_TO_STORE,
      logger: silentLogger,
      signal: new AbortController().signal,
    })
    for (const { name, rows, tookMs } of stored) note(`stored ${name}: ${rows} rows, ${tookMs} ms`)
    return stored
  } finally {
    await warehouse.close()
  }
}

/**
 * The times of columns `from` to `to` of each line; of a view that is also stored, those of the
 * faster of the two.
 */
function fasterOf(rows, from, to = undefined) {
  const times = (row) => row.slice(from, to).map(toMilliseconds)
  return rows
    .filter(([name]) => !name.startsWith('stored.'))
    .flatMap((row) => {
      const own = times(row)
      const twin = rows.find(([name]) => name === storedName(row[0]))
      return twin === undefined ? own : own.map((ms, at) => Math.min(ms, times(twin)[at]))
    })
    .filter((ms) => !Number.isNaN(ms))
}

function storedName(name) {
  return name.replace(/^analytics\./, 'stored.').replace(/^datasync\./, 'stored.datasync_')
}

/** A question that took longer than its limit counts as long as that; none has no time. */
function toMilliseconds(time) {
  if (time === '–') return Number.NaN
  return typeof time === 'number' ? time : TIME_LIMIT_MS
}

/** A database that has the world already is taken as it is, so that one can work on a view. */
async function fill(client, databaseUrl) {
  const warehouse = createWarehouse({ url: databaseUrl, schema: 'tracking', logger: silentLogger })
  await prepareSchemas(warehouse, { sleep: () => Promise.resolve() })
  await warehouse.close()
  const { rows } = await client.query(
    'select exists (select from tracking.containers) as is_filled',
  )
  if (rows[0].is_filled) return
  const sql = await readFile(new URL('analytics-world.sql', import.meta.url), 'utf8')
  const startedAt = performance.now()
  for (const statement of withSchemaNames(sql.replaceAll('{{n}}', String(containers)), names).split(
    /;\n/,
  )) {
    if (statement.trim() !== '') await client.query(statement)
  }
  await client.query('vacuum analyze')
  note(`filled in ${Math.round((performance.now() - startedAt) / 1000)} s`)
}

/**
 * One line of the table: the view, its rows, and milliseconds of each question; a dash where the
 * view has no such column.
 */
async function ask(client, view) {
  const name = `"${names[view.schema]}"."${view.name}"`
  const { rows: columns } = await client.query(
    'select attname from pg_attribute where attrelid = $1::regclass and attnum > 0',
    [name],
  )
  const has = (column) => columns.some(({ attname }) => attname === column)
  const narrowed = []
  for (const filters of Object.values(KINDS)) {
    const column = Object.keys(filters).find(has)
    const answer = column && (await time(client, `select * from ${name} where ${filters[column]}`))
    narrowed.push(answer?.ms ?? '–')
  }
  const whole = await time(client, `select * from ${name}`)
  return [`${view.schema}.${view.name}`, whole.rows, whole.ms, ...narrowed]
}

async function time(client, sqlText) {
  let plan
  for (const limitMs of [WARM_UP_LIMIT_MS, TIME_LIMIT_MS]) {
    await client.query(`set statement_timeout = ${limitMs}`)
    try {
      const { rows } = await client.query(
        `explain (analyze, timing off, buffers off, format json) ${sqlText}`,
      )
      plan = rows[0]['QUERY PLAN'][0]
    } catch (error) {
      const isTooLong = error.code === '57014'
      return { ms: isTooLong ? `> ${TIME_LIMIT_MS}` : error.message, rows: '?' }
    }
  }
  return { ms: Math.round(plan['Execution Time']), rows: plan.Plan['Actual Rows'] }
}

function slowest(times) {
  return Math.max(...times)
}

/** How far it is; the table comes at the end. */
function note(text) {
  process.stderr.write(`${text}\n`)
}
