/**
 * Writes the samples of the questions, `sample` in sql/views/marts: the first rows of each answer
 * over a simulated account of 300 shipments after thirty days. The world and the instant are always
 * the same, and so are the answers. `npm run docs:samples` builds the program first; with `--check`
 * it writes nothing and ends with 1 if a sample is another one.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { startSimulator } from '../dist/extensions/simulator/server.js'

const DAY = 86_400_000
const START = new Date('2026-10-20T12:00:00Z')
/** Two days apart. */
const SYNCS = 15
const ROWS = 3
const root = fileURLToPath(new URL('../', import.meta.url))
const marts = join(root, 'sql/views/marts')
const home = await mkdtemp(join(tmpdir(), 'tracking-sync-samples-'))
const simulator = await startSimulator({
  seed: 7,
  shipments: 300,
  startAt: START,
  speed: 0,
  rateLimitPerMinute: null,
})
const environment = {
  PATH: process.env.PATH,
  HOME: home,
  TRACKING_HOME: join(home, 'warehouse'),
  TRACKING_API_URL: simulator.url,
  TRACKING_API_KEY: simulator.apiKey,
  TRACKING_LOG_LEVEL: 'silent',
}

async function run(...args) {
  const program = join(root, 'bin/tracking-sync.cjs')
  const options = { env: environment, cwd: home, maxBuffer: 64 * 1024 * 1024 }
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], options)
  return stdout
}

/** A hold and a fee for some containers of each day: the world has few by itself. */
function disturb(day) {
  const { clock, edits, world } = simulator
  const [held, charged] = world.page('container', day * 7, 2, clock.now())
  edits.addHold(held.id, { name: 'customs', status: 'hold', description: null })
  edits.change('container', charged.id, {
    fees_at_pod_terminal: [{ type: 'demurrage', amount: 150 + 25 * day, currency_code: 'USD' }],
  })
}

function formatCell(value) {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.join(', ')
  if (typeof value === 'object') return JSON.stringify(value)
  return String(value).replace(INSTANT, toMinutes)
}

const INSTANT = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)(\+00)?$/

/** Seconds depend on how long a run took. */
function toMinutes(_, day, time, zone = '') {
  const rounded = new Date(Math.round(Date.parse(`${day}T${time}Z`) / 60_000) * 60_000)
  return `${rounded.toISOString().slice(0, 16).replace('T', ' ')}${zone}`
}

function formatSample(columns, rows) {
  const lines = [columns, ...rows].map((cells) => `| ${cells.join(' | ')} |`)
  return lines.toSpliced(1, 0, `|${columns.map(() => '---|').join('')}`).join('\n')
}

/** Guides name one container of this world, the one with the most charged days. */
async function sampleOf(file, asOf, container) {
  const before = await readFile(file, 'utf8')
  const text = before.replaceAll(/(?<=^ {2}tracking-sync query .*--container )\w+/gm, container)
  const { ask, leading } = parse(text)
  const command = ask.split('\n').find((line) => line.includes(' query '))
  const [, ...args] = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(
    ([, quoted, word]) => quoted ?? word,
  )
  const columns = leading
    .split(',')
    .map((name) => name.trim())
    .slice(0, 9)
  const limit = args.indexOf('--limit')
  if (limit !== -1) args.splice(limit, 2)
  const out = await run(
    ...args,
    '--as-of',
    asOf,
    '--limit',
    String(ROWS),
    '--json',
    '--columns',
    columns.join(),
  )
  const rows = JSON.parse(out).map((row) => columns.map((name) => formatCell(row[name])))
  if (rows.length === 0) process.stderr.write(`${command}: no rows\n`)
  const table = formatSample(columns, rows)
  return [
    before,
    text.replace(/^sample: \|\n(?: {2}.*\n)+/m, `sample: |\n${table.replaceAll(/^/gm, '  ')}\n`),
  ]
}

try {
  await run('backfill')
  for (let day = 0; day < SYNCS; day += 1) {
    simulator.clock.advance(2 * DAY)
    disturb(day)
    await run('sync')
  }
  const example = (name) => join(root, `config/${name}.example.csv`)
  await run('rules', 'import', example('holidays'))
  await run('rules', 'import', example('free-time-rules'))
  const busiest = `select container_number from charged_days where charge_amount > 0
    group by 1 order by count(*) desc, 1 limit 1`
  const [{ container_number: container }] = JSON.parse(await run('query', busiest, '--json'))
  const invoices = join(home, 'invoices.csv')
  const lines = await readFile(example('invoices'), 'utf8')
  await writeFile(invoices, lines.replaceAll('MRKU7762146', container))
  await run('invoices', 'import', invoices)
  // The last sync may have begun a moment after the clock's full minute.
  simulator.clock.advance(60_000)
  const asOf = simulator.clock.now().toISOString()
  let isOther = false
  for (const path of (await readdir(marts, { recursive: true })).filter((name) =>
    name.endsWith('.yml'),
  )) {
    const file = join(marts, path)
    const [before, after] = await sampleOf(file, asOf, container)
    if (before === after) continue
    isOther = true
    if (process.argv.includes('--check'))
      process.stderr.write(`${path}: the sample is another one\n`)
    else await writeFile(file, after)
  }
  if (isOther && process.argv.includes('--check')) process.exitCode = 1
} finally {
  await run('database', 'stop').catch(() => undefined)
  await simulator.close()
  await rm(home, { recursive: true, force: true })
}
