/**
 * `npm run test:citus`: the tests that need PostgreSQL, with every migrated warehouse distributed
 * over the nodes of a cluster of Citus.
 *
 *   npm run test:citus -- [what vitest takes: files, -t …]
 *
 * Needs TEST_CITUS_URL: the coordinator of a cluster that you run, as a superuser, in a database
 * that knows its nodes. With `citus.shard_count = 4` on each of them it takes about an hour on two
 * cores, with 32 several. TEST_CITUS_BY=container spreads rows by container.
 */
import { fileURLToPath } from 'node:url'
import { printTable, runTests } from './reliability/run-tests.js'

const NOT_OURS = 'starts a server of its own, which has no nodes'
const TRIGGERS = 'puts triggers on tables of data, which nodes refuse'

/** What proves nothing on a cluster, and why. */
const EXCLUDED = {
  'test/integration/distribute/distribute.test.ts': 'the stand-in, where Citus is not',
  'test/integration/distribute/find-obstacles.test.ts': 'gives tables to other logins',
  'test/integration/embedded-postgres/**': NOT_OURS,
  'test/integration/simulator/**': 'the simulator, which has no database',
  'test/integration/sync/oldest-postgres.test.ts': NOT_OURS,
  'test/integration/faults/conflicts.test.ts': TRIGGERS,
  'test/integration/faults/disk-full.test.ts': TRIGGERS,
  'test/e2e/package.test.ts': 'what the package holds',
}

/** By container also what asks the seven views that nodes refuse then (docs/distribute.md). */
const ASKS_REFUSED = [
  'alerts/digest',
  'analytics/charge_clocks',
  'analytics/charge_days',
  'analytics/container_customers',
  'analytics/cross-checks',
  'analytics/demurrage_evidence',
  'analytics/exceptions',
  'analytics/hold_durations',
  'analytics/invoice_audit',
  'analytics/pickup_worklist',
  'analytics/second-implementation',
  'analytics/time-zone',
  'analytics/transshipments',
  'commands/evidence',
  'commands/questions',
  'dashboard/dashboard',
].map((name) => `test/integration/${name}.test.ts`)

const way = process.env.TEST_CITUS_BY === 'container' ? 'container' : 'schema'
const excluded = [...Object.keys(EXCLUDED), ...(way === 'container' ? ASKS_REFUSED : [])]

if ((process.env.TEST_CITUS_URL ?? '') === '') {
  process.stderr.write(
    'TEST_CITUS_URL is not set: name the coordinator of a cluster of Citus, as a superuser.\n',
  )
  process.exit(2)
}

const outcome = await runTests({
  root: fileURLToPath(new URL('..', import.meta.url)),
  env: { TEST_EXCLUDE: excluded.join() },
  report: 'reports/citus.json',
  args: process.argv.slice(2),
})
printTable('run', [{ name: `Citus, by ${way}`, ...outcome }])
process.exitCode = outcome.ok ? 0 : 1
