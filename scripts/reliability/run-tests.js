import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** Those that need PostgreSQL. */
const PROJECTS = ['core', 'database', 'processes']

/**
 * Runs vitest over some projects, with the given Node, and leaves its report; resolves whatever the
 * outcome. `dist/` must have been built. A signal ends the tests, their
 * workers and their server, and then us.
 */
export async function runTests({ root, env, report, args, ...options }) {
  const { node = process.execPath, projects = PROJECTS } = options
  rmSync(join(root, report), { force: true })
  const started = Date.now()
  const { exitCode, isStopped } = await new Promise((resolve, reject) => {
    let isStopped = false
    const child = spawn(
      node,
      [
        join(root, 'node_modules/vitest/vitest.mjs'),
        ...['run', ...projects.flatMap((name) => ['--project', name])],
        ...['--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
        ...args,
      ],
      {
        cwd: root,
        stdio: 'inherit',
        // A group of its own: a signal to us alone must end its workers too, which would work on
        // without it.
        detached: process.platform !== 'win32',
        // What tests start by name must be the same Node.
        env: { ...process.env, ...env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` },
      },
    )
    const stop = () => {
      isStopped = true
      if (process.platform === 'win32') child.kill()
      else process.kill(-child.pid, 'SIGINT')
    }
    for (const signal of SIGNALS) process.on(signal, stop)
    child.on('error', reject)
    child.on('close', (exitCode) => {
      for (const signal of SIGNALS) process.off(signal, stop)
      resolve({ exitCode, isStopped })
    })
  })
  if (isStopped) process.exit(130)
  const counts = existsSync(join(root, report))
    ? JSON.parse(readFileSync(join(root, report), 'utf8'))
    : { numPassedTests: 0, numFailedTests: 0 }
  return {
    ok: exitCode === 0,
    passed: counts.numPassedTests,
    failed: counts.numFailedTests,
    seconds: Math.round((Date.now() - started) / 1000),
  }
}

/** One line for each run: its name, passed, failed, seconds, outcome. */
export function printTable(title, rows) {
  const width = Math.max(title.length, ...rows.map((row) => row.name.length))
  const line = (name, ...cells) =>
    process.stdout.write(`${name.padEnd(width)}${cells.map((one) => one.padStart(9)).join('')}\n`)
  process.stdout.write('\n')
  line(title, 'passed', 'failed', 'seconds', 'outcome')
  for (const row of rows) {
    const outcome = row.ok ? 'ok' : 'FAILED'
    line(row.name, String(row.passed), String(row.failed), String(row.seconds), outcome)
  }
}
