/**
 * `npm run test:citus`: the tests that need PostgreSQL, with every migrated warehouse distributed
 * over the nodes of a cluster of Citus.
 *
 *   npm run test:citus -- [what vitest takes: files, -t …]
 *
 * Needs TEST_CITUS_URL: the coordinator of a cluster that you run, as a superuser, in a database
 * that knows its nodes. With `citus.shard_count = 4` on each of them it takes about an hour on two
 * cores, with 32 several.
 */
import { fileURLToPath } from 'node:url'
import { printTable, runTests } from './reliability/run-tests.js'

const NOT_OURS = 'starts a server of its own, which has no nodes'
const TRIGGERS = 'puts triggers on tables of data, which nodes refuse'

/** What proves nothing on a cluster, and why. */
const EXCLUDED = {
  'test/integration/distribute/distribute.test.ts': 'the stand-in, where Citus is not',
  'test/integration/embedded-postgres/**': NOT_OURS,
  'test/integration/simulator/**': 'the simulator, which has no database',
  'test/integration/faults/database-faults.test.ts': TRIGGERS,
  'test/e2e/package.test.ts': 'what the package holds',
}

if ((process.env.TEST_CITUS_URL ?? '') === '') {
  process.stderr.write(
    'TEST_CITUS_URL is not set: name the coordinator of a cluster of Citus, as a superuser.\n',
  )
  process.exit(2)
}

const outcome = await runTests({
  root: fileURLToPath(new URL('..', import.meta.url)),
  env: { TEST_EXCLUDE: Object.keys(EXCLUDED).join() },
  report: 'reports/citus.json',
  args: process.argv.slice(2),
})
printTable('run', [{ name: 'Citus', ...outcome }])
process.exitCode = outcome.ok ? 0 : 1
