/**
 * `npm run test:matrix`: the tests that need PostgreSQL on every promised major of PostgreSQL and
 * Node, and a table at the end.
 *
 *   npm run test:matrix -- [--postgres 14,18] [--node 20] [-- what vitest takes: files, -t …]
 *
 * Installs the versions that test/matrix/package-lock.json pins into .matrix/, once: some 900 MB.
 * What the package itself holds (`test/e2e/package.test.ts`) depends on neither and is left out
 * unless named. A combination takes as long as `npm test`.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { printTable, runTests } from './reliability/run-tests.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const place = join(root, '.matrix')
const POSTGRES = ['14', '15', '16', '17', '18']
const NODE = ['20', '22', '24']
const ALL_FILES = ['--exclude', 'test/e2e/package.test.ts']

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { postgres: { type: 'string' }, node: { type: 'string' } },
})
const postgres = choose('--postgres', values.postgres, POSTGRES)
const nodes = choose('--node', values.node, NODE)
install()

const installed = createRequire(join(place, 'package.json'))
const rows = []
for (const major of postgres) {
  for (const nodeMajor of nodes) {
    const name = `PostgreSQL ${major}, Node ${nodeMajor}`
    process.stdout.write(`--- ${name}\n`)
    const outcome = await runTests({
      root,
      node: findNode(nodeMajor),
      // The file that the package begins with: its name alone would be looked for beside the
      // program.
      env: { TEST_POSTGRES_PACKAGE: installed.resolve(`postgres-${major}`) },
      report: `reports/matrix/postgres-${major}-node-${nodeMajor}.json`,
      args: positionals.length > 0 ? positionals : ALL_FILES,
    })
    rows.push({ name, ...outcome })
  }
}
printTable('combination', rows)
process.exitCode = rows.every((row) => row.ok) ? 0 : 1

/** Of `all` those that a list like `14,18` names. */
function choose(option, list, all) {
  const chosen = list?.split(',') ?? all
  const unknown = chosen.filter((one) => !all.includes(one))
  if (unknown.length === 0) return chosen
  process.stderr.write(`${option} takes ${all.join(', ')}, not ${unknown.join(', ')}.\n`)
  process.exit(2)
}

function install() {
  mkdirSync(place, { recursive: true })
  const isInstalled =
    existsSync(join(place, 'node_modules/.package-lock.json')) &&
    readFileSync(join(place, 'package-lock.json'), 'utf8') ===
      readFileSync(join(root, 'test/matrix/package-lock.json'), 'utf8')
  if (isInstalled) return
  for (const file of ['package.json', 'package-lock.json', '.npmrc']) {
    copyFileSync(join(root, 'test/matrix', file), join(place, file))
  }
  // No package needs its script: the program makes the links of PostgreSQL's libraries itself.
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit'], {
    cwd: place,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  if (status !== 0) process.exit(1)
}

/** The pinned Node of this platform; this very one where it is of that major and none is pinned. */
function findNode(major) {
  const name = `node-${major}-${process.platform}-${process.arch}`
  const pinned = join(place, 'node_modules', name, 'bin/node')
  if (existsSync(pinned)) return pinned
  if (process.versions.node.startsWith(`${major}.`)) return process.execPath
  process.stderr.write(`test/matrix/package.json pins no ${name}: run this with Node ${major}.\n`)
  process.exit(1)
}
