/**
 * `npm run test:mutants`: takes the safeguards of test/catalogue/mutants.json out of the program,
 * one at a time, and expects the test that names each of them to fail. Names as arguments run some
 * only; `--promises` runs those of promises drawn by chance, and a drawn promise without a mutant
 * counts as not noticed.
 *
 *   npm run test:mutants -- "the lease fence"
 *   npm run test:mutants -- --promises 60 --seed 2
 *
 * Works on two copies of this directory, with the files as they are now. With nothing taken out
 * each of the tests runs once and must pass. Writes reports/mutants/outcomes.json; exit code 1 when
 * one was not noticed.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { drawPromises } from './mutants/draw.js'
import { applyEdit, editsOf, readMutants } from './mutants/mutants.js'
import { readCatalogue } from './reliability/catalogue.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const outcomes = []
const { positionals: named, values } = parseArgs({
  allowPositionals: true,
  options: { promises: { type: 'string' }, seed: { type: 'string', default: '1' } },
})
const waiting = values.promises === undefined ? chooseMutants(readMutants(root)) : drawMutants()
/** Each works on a copy of its own; two share two cores well. */
const WORKERS = 2
const wereGreen = new Map()

await Promise.all(Array.from({ length: WORKERS }, work))
mkdirSync(join(root, 'reports/mutants'), { recursive: true })
writeFileSync(join(root, 'reports/mutants/outcomes.json'), `${JSON.stringify(outcomes, null, 2)}\n`)
const missed = outcomes.filter((one) => one.outcome !== 'noticed')
process.stdout.write(
  `\n${String(outcomes.length - missed.length)} of ${String(outcomes.length)} noticed\n`,
)
process.exitCode = missed.length === 0 ? 0 : 1

function chooseMutants(all) {
  const unknown = named.filter((name) => !all.some((one) => one.safeguard === name))
  if (unknown.length > 0) {
    process.stderr.write(
      `There is no ${unknown.join(', ')}. There are:\n${all.map((one) => one.safeguard).join('\n')}\n`,
    )
    process.exit(2)
  }
  return named.length === 0 ? all : all.filter((one) => named.includes(one.safeguard))
}

function drawMutants() {
  const options = { count: Number(values.promises), seed: Number(values.seed) }
  const drawn = drawPromises(readCatalogue(root).groups, readMutants(root), options)
  for (const { id, mutants } of drawn) {
    if (mutants.length > 0) continue
    process.stdout.write(`${'NO MUTANT'.padEnd(12)}${id}\n`)
    outcomes.push({ safeguard: id, test: { id }, outcome: 'NO MUTANT' })
  }
  return drawn.flatMap(({ mutants }) => mutants)
}

function copyTree() {
  const place = mkdtempSync(join(tmpdir(), 'mutants-'))
  // The account that PostgreSQL runs as must get there.
  chmodSync(place, 0o755)
  const listed = spawnSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], { cwd: root })
  for (const path of listed.stdout.toString().split('\0')) {
    if (path === '' || !existsSync(join(root, path))) continue
    cpSync(join(root, path), join(place, path))
  }
  symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'))
  return place
}

async function work() {
  const copy = copyTree()
  try {
    await build(copy)
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const { safeguard, test } = mutant
      const outcome = (await isGreen(copy, mutant)) ? await judge(copy, mutant) : 'red before'
      process.stdout.write(`${outcome.padEnd(12)}${test.id.padEnd(5)} ${safeguard}\n`)
      outcomes.push({ safeguard, test, outcome })
    }
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

/** Whether the test passes with the safeguard in place; asked once for each test. */
function isGreen(copy, { test }) {
  const key = `${test.file} ${test.id}`
  if (!wereGreen.has(key)) {
    wereGreen.set(
      key,
      runTest(copy, test).then(({ passed, failed }) => passed > 0 && failed === 0),
    )
  }
  return wereGreen.get(key)
}

/** Takes the safeguard out, runs its test, and puts the safeguard back. */
async function judge(copy, mutant) {
  const before = new Map()
  for (const edit of editsOf(mutant)) {
    const path = join(copy, edit.file)
    const text = readFileSync(path, 'utf8')
    if (!before.has(path)) before.set(path, text)
    writeFileSync(path, applyEdit(text, edit))
  }
  try {
    if (mutant.isBuilt === true && !(await build(copy))) return 'NOT BUILT'
    // A file that no longer loads fails without its test: nothing would have noticed.
    return (await runTest(copy, mutant.test)).failed > 0 ? 'noticed' : 'NOT NOTICED'
  } finally {
    for (const [path, text] of before) writeFileSync(path, text)
    if (mutant.isBuilt === true) await build(copy)
  }
}

/** How many tests of that id passed and failed. */
async function runTest(copy, { file, id }) {
  const report = join(copy, 'reports/one.json')
  mkdirSync(dirname(report), { recursive: true })
  rmSync(report, { force: true })
  await run(copy, process.execPath, [
    join(copy, 'node_modules/vitest/vitest.mjs'),
    ...['run', file, '--tags-filter', id, '--reporter=json', `--outputFile=${report}`],
  ])
  if (!existsSync(report)) return { passed: 0, failed: 0 }
  const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(report, 'utf8'))
  return { passed: numPassedTests, failed: numFailedTests }
}

/** False where it does not compile: then the test would try the program as it was. */
async function build(copy) {
  return (await run(copy, 'npm', ['run', '--silent', 'build'])) === 0
}

async function run(cwd, program, args) {
  const child = spawn(program, args, { cwd, stdio: 'ignore' })
  const [exitCode] = await once(child, 'close')
  return exitCode
}
