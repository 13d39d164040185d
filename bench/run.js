/**
 * The benches, all of them or those named, and one table of what they found.
 *
 *   npm run bench                        all, small: a quarter of an hour
 *   npm run bench -- B3 B7               these
 *   npm run bench -- --size full         at the size of docs/performance.md: hours
 *   npm run bench -- B11 --json          one JSON document on standard output instead of the table
 *   npm run bench -- B3 --attribute      where its time goes: by phase, statement and index
 *   npm run bench -- B3 --size full --keep    its figures go into docs/performance.md with the next
 *                                        `npm run docs`
 *
 * Each is a process of its own and can also be run by itself; what it prints on the way goes to
 * standard error. A bench that fails leaves the others their turn and makes the exit code 1. A
 * figure that is not reached does not: it is measured, not tested.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { formatFigures, formatMachine } from './print-figures.js'

/** `small` and `full` are arguments: mostly shipments, see each file. */
const BENCHES = [
  { file: 'requests.js', ids: ['B0'], small: ['300'], full: ['3000'] },
  { file: 'unchanged-pass.js', ids: ['B1', 'B6'], small: ['600'], full: ['30000'] },
  { file: 'changed-pass.js', ids: ['B2'], small: ['300'], full: ['3000'] },
  { file: 'processor-cost.js', ids: ['B3', 'B4', 'B5'], small: ['600'], full: ['6000'] },
  { file: 'backfill-memory.js', ids: ['B7'], small: ['600'], full: ['30000'] },
  { file: 'webhooks.js', ids: ['B8', 'B9'], small: ['1', '5'], full: ['3', '30'] },
  { file: 'growth.js', ids: ['B10'], small: ['300'], full: ['3000'] },
  { file: 'start.js', ids: ['B11'], small: ['5'], full: ['15'] },
  { file: 'first-questions.js', ids: ['B14'], small: ['600'], full: ['30000'] },
  { file: 'ten-million-events.js', ids: ['B15'], small: ['600', '100'], full: ['340000', '6000'] },
  { file: 'lake.js', ids: ['B18'], small: ['50000'], full: ['12000000'] },
  { file: 'late-network.js', ids: ['B17'], small: ['280'], full: ['280'] },
  { file: 'analytics.js', ids: ['B12'], small: ['20000'], full: ['1000000'] },
]

/** What `--attribute` runs instead; its tables go to standard error. */
const ATTRIBUTION = { file: 'attribute.js', ids: ['B3'], small: ['600'], full: ['6000'] }

const KNOWN = BENCHES.flatMap(({ ids }) => ids)

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    size: { type: 'string', default: 'small' },
    json: { type: 'boolean', default: false },
    attribute: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
  },
})
const wanted = positionals.length === 0 ? KNOWN : positionals.map((name) => name.toUpperCase())
refuse(
  wanted.filter((id) => !KNOWN.includes(id)),
  `the benches are ${KNOWN.join(', ')}`,
)
refuse(
  ['small', 'full'].includes(values.size) ? [] : [`--size ${values.size}`],
  'the sizes are small and full',
)

refuse(
  values.attribute ? wanted.filter((id) => id !== 'B3') : [],
  '--attribute is for B3 alone: npm run bench -- B3 --attribute',
)

const figures = []
const details = {}
let machine
for (const bench of values.attribute ? [ATTRIBUTION] : BENCHES) {
  const ids = bench.ids.filter((id) => wanted.includes(id))
  if (ids.length === 0) continue
  process.stderr.write(`${ids.join(', ')}: bench/${bench.file} ${bench[values.size].join(' ')}\n`)
  try {
    const result = await runBench(bench, ids)
    const own = result.figures.filter(({ id }) => ids.includes(id.split(' ')[0]))
    if (own.length === 0 && !values.attribute)
      process.stderr.write(`${ids.join(', ')}: no figure for the table\n`)
    figures.push(...own)
    details[bench.file] = result.details
    machine = { ...result.machine, ...(machine?.postgresql === 'not used' ? {} : machine) }
  } catch (error) {
    process.stderr.write(`${ids.join(', ')}: ${error.message}\n`)
    process.exitCode = 1
  }
}
if (values.keep) keep(figures)
if (values.json) {
  const document = { size: values.size, machine, figures, details }
  process.stdout.write(`${JSON.stringify(document, null, 2)}\n`)
} else if (!values.attribute) {
  process.stdout.write(`${formatFigures(figures)}\n${formatMachine(machine, values.size)}\n`)
}

/**
 * Which of its figures are asked for is told in the environment: a bench may leave out what takes
 * time for the others.
 */
async function runBench({ file, ...bench }, ids) {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), bench[values.size], {
    env: { ...process.env, BENCH_FIGURES: ids.join(' ') },
    // What the bench prints is no part of the table.
    stdio: ['ignore', 2, 2, 'ipc'],
  })
  let result
  child.on('message', (message) => {
    result = message
  })
  const [exitCode] = await once(child, 'close')
  if (exitCode !== 0 || result === undefined)
    throw new Error(`bench/${file} ended with ${exitCode}`)
  return result
}

/** A figure replaces the one that was kept of it; the others stay. */
function keep(measured) {
  const file = new URL('kept-figures.json', import.meta.url)
  const kept = JSON.parse(readFileSync(file, 'utf8'))
  const on = new Date().toISOString().slice(0, 10)
  for (const { id, value, note = '', spread } of measured) {
    const runs =
      spread === undefined ? '' : `${spread.min} to ${spread.max} in ${spread.runs} rounds; `
    kept[id] = { value, on, said: `${runs}${note}` }
  }
  writeFileSync(file, `${JSON.stringify(kept, null, 2)}\n`)
}

function refuse(names, hint) {
  if (names.length === 0) return
  process.stderr.write(`no ${names.join(', ')}: ${hint}\n`)
  process.exit(2)
}
