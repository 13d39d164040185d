/**
 * `npm run test:steady`: the whole suite 20 times at twice the load, to find tests that fail by
 * chance. Beside it one process for each core does nothing but count. Each run is noted in
 * reports/steady.json as it ends, so that the command goes on where it was stopped, as long as the
 * files are the same. Prints every failed test, and exits with 1 if there is one.
 *
 *   npm run test:steady -- --runs 5 --load 2
 */
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { runTests } from './reliability/run-tests.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const { values } = parseArgs({
  options: { runs: { type: 'string', default: '20' }, load: { type: 'string', default: '2' } },
})
const runs = Number(values.runs)
const burners = Math.round(availableParallelism() * (Number(values.load) - 1))

const place = join(root, 'reports/steady.json')
const version = versionOfFiles()
const noted = readNoted()
while (noted.length < runs) {
  const name = `run ${String(noted.length + 1)} of ${String(runs)}`
  process.stdout.write(`--- ${name}, with ${String(burners)} busy processes beside it\n`)
  const report = 'reports/steady-run.json'
  const stop = startBurners()
  const outcome = await runTests({ root, env: {}, report, args: [], projects: ['*'] }).finally(stop)
  noted.push({ name, ...outcome, failures: failuresIn(report) })
  mkdirSync(join(root, 'reports'), { recursive: true })
  writeFileSync(place, `${JSON.stringify({ version, load: values.load, noted }, null, 2)}\n`)
}
for (const { name, ok, passed, failed, seconds, failures } of noted) {
  const counts = `${String(passed)} passed, ${String(failed)} failed, ${String(seconds)} s`
  process.stdout.write(`${name}: ${ok ? 'ok' : 'FAILED'}, ${counts}\n`)
  for (const failure of failures) process.stdout.write(`  ${failure}\n`)
}
process.exitCode = noted.every(({ ok }) => ok) ? 0 : 1

/** Changes with every tracked file. */
function versionOfFiles() {
  const git = (...args) => execFileSync('git', args, { cwd: root })
  const hash = createHash('sha256').update(git('rev-parse', 'HEAD')).update(git('diff', 'HEAD'))
  return hash.digest('hex').slice(0, 16)
}

function readNoted() {
  if (!existsSync(place)) return []
  const before = JSON.parse(readFileSync(place, 'utf8'))
  return before.version === version && before.load === values.load ? before.noted : []
}

/** Returns what ends them. They end with this process, whatever ends it. */
function startBurners() {
  const burn =
    'process.stdin.on("end", () => process.exit()).resume(); setInterval(() => { const end = Date.now() + 90; while (Date.now() < end); }, 91)'
  const children = Array.from({ length: burners }, () =>
    spawn(process.execPath, ['-e', burn], { stdio: ['pipe', 'ignore', 'inherit'] }),
  )
  return () => {
    for (const child of children) child.stdin.end()
  }
}

function failuresIn(report) {
  if (!existsSync(join(root, report))) return ['the run left no report']
  const { testResults } = JSON.parse(readFileSync(join(root, report), 'utf8'))
  return testResults.flatMap(({ name, message, assertionResults }) => {
    const file = name.slice(root.length)
    const failed = assertionResults.filter(({ status }) => status === 'failed')
    const told = failed.map(({ fullName, failureMessages }) => {
      const [first = ''] = (failureMessages[0] ?? '').split('\n')
      return `${file}: ${fullName}: ${first}`
    })
    return told.length === 0 && message !== '' ? [`${file}: ${message}`] : told
  })
}
