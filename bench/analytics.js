/**
 * How long the views take over a large warehouse: whole, and filtered to one terminal, shipping line or container.
 *
 *   node bench/analytics.js [containers, 1000000 unless told] [view …]
 *
 * Times are PostgreSQL's own (`explain analyze`): every row with every column is made, nothing is sent.
 */
import { readFile } from 'node:fs/promises'
import { readViews } from '../dist/warehouse/read-views.js'
import { prepareSchemas } from '../dist/warehouse/prepare-schemas.js'
import { schemaNames, withSchemaNames } from '../dist/warehouse/schema-names.js'
import { createWarehouse } from '../dist/warehouse/warehouse.js'
import { silentLogger } from '../dist/logger.js'
import { formatTable } from '../dist/commands/print-table.js'
import { connect, openDatabase, runBench } from './bench-world.js'

const [size = '1000000', ...wanted] = process.argv.slice(2)
const containers = Number(size)
const names = schemaNames('tracking')

/** The first of these that a view has is what its filtered question asks by. */
const FILTERS = [
  ['terminal_id', "terminal_id = 'terminal-7'"],
  ['pod_terminal_id', "pod_terminal_id = 'terminal-7'"],
  ['shipping_line_scac', "shipping_line_scac = 'L007'"],
  ['container_id', "container_id = 'container-00000777'"],
  ['shipment_id', "shipment_id = 'shipment-00000777'"],
  ['stream', "stream = 'containers'"],
]

await runBench(async () => {
  const databaseUrl = await openDatabase()
  const warehouse = createWarehouse({ url: databaseUrl, schema: 'tracking', logger: silentLogger })
  await prepareSchemas(warehouse, { sleep: () => Promise.resolve() })
  await warehouse.close()
  const client = await connect(databaseUrl)
  const sql = await readFile(new URL('analytics-world.sql', import.meta.url), 'utf8')
  const filling = performance.now()
  for (const statement of withSchemaNames(sql.replaceAll('{{n}}', String(containers)), names).split(
    /;\n/,
  )) {
    if (statement.trim() !== '') await client.query(statement)
  }
  await client.query('vacuum analyze')
  note(`filled in ${Math.round((performance.now() - filling) / 1000)} s`)
  const rows = []
  for (const view of await readViews()) {
    if (wanted.length > 0 && !wanted.includes(view.name)) continue
    const name = `"${names[view.schema]}"."${view.name}"`
    const { rows: columns } = await client.query(
      'select attname from pg_attribute where attrelid = $1::regclass and attnum > 0',
      [name],
    )
    const filter = FILTERS.find(([column]) => columns.some(({ attname }) => attname === column))
    const whole = await time(client, `select * from ${name}`)
    const filtered = filter && (await time(client, `select * from ${name} where ${filter[1]}`))
    rows.push([
      `${view.schema}.${view.name}`,
      whole.rows,
      whole.ms,
      filter?.[0] ?? '',
      filtered?.rows ?? '',
      filtered?.ms ?? '',
    ])
    note(rows.at(-1).join('  '))
  }
  await client.end()
  process.stdout.write(
    `${formatTable(['view', 'rows', 'whole ms', 'filter', 'rows', 'filtered ms'], rows)}\n`,
  )
  return { containers, transportEvents: containers * 12 }
})

async function time(client, sqlText) {
  await client.query('set statement_timeout = 120000')
  try {
    const { rows } = await client.query(`explain (analyze, timing off, format json) ${sqlText}`)
    const [plan] = rows[0]['QUERY PLAN']
    return { ms: Math.round(plan['Execution Time']), rows: plan.Plan['Actual Rows'] }
  } catch (error) {
    return { ms: error.message, rows: '' }
  }
}

/** How far it is; the table comes at the end. */
function note(text) {
  process.stderr.write(`${text}\n`)
}
