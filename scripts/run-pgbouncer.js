/**
 * `npm run test:pgbouncer`: the tests that need PostgreSQL, with PgBouncer in transaction mode
 * between program and database and a login there whose TimeZone, DateStyle, search_path and more
 * are hostile.
 *
 *   npm run test:pgbouncer -- [what vitest takes: files, -t …]
 *
 * Needs the program `pgbouncer` (Debian: `apt install pgbouncer`), or its path in TEST_PGBOUNCER.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { printTable, runTests } from './reliability/run-tests.js'

const PROGRAM = process.env.TEST_PGBOUNCER ?? 'pgbouncer'

/** What proves nothing behind a pooler, and why. */
const EXCLUDED = {
  'test/integration/embedded-postgres/**':
    'the embedded server itself, which nobody puts a pooler before',
  'test/integration/simulator/**': 'the simulator, which has no database',
  'test/integration/faults/**':
    'they kill, count, stop or delay the connections to PostgreSQL, which are the pooler’s here',
  'test/integration/security/database-tls.test.ts': 'TLS between the program and PostgreSQL',
  'test/integration/sync/failures.test.ts':
    'they take PostgreSQL away, and the test itself cannot connect then',
  'test/integration/sync/round-trips.test.ts':
    'counts round trips; a statement by itself costs two more here',
  'test/e2e/package.test.ts': 'what the package holds',
}

const { status } = spawnSync(PROGRAM, ['--version'], { stdio: 'ignore' })
if (status !== 0) {
  process.stderr.write(
    `${PROGRAM} is not installed: install PgBouncer (Debian: apt install pgbouncer), or set TEST_PGBOUNCER to its path.\n`,
  )
  process.exit(2)
}

const outcome = await runTests({
  root: fileURLToPath(new URL('..', import.meta.url)),
  env: { TEST_PGBOUNCER: PROGRAM, TEST_EXCLUDE: Object.keys(EXCLUDED).join() },
  report: 'reports/pgbouncer.json',
  args: process.argv.slice(2),
})
printTable('run', [{ name: 'PgBouncer, transaction mode', ...outcome }])
process.exitCode = outcome.ok ? 0 : 1
