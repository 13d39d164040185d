/**
 * Writes docs/reliability.md from the reports of the last `npm test` and of the parts of `npm run test:long` that ran here.
 * Ends with 1, and names them, when an id of the catalogue has neither a test that passed nor a reason.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { LONG_RUNS, problemsOfNames, readCatalogue, readLongRuns } from './reliability/catalogue.js'
import { renderPage } from './reliability/page.js'
import {
  judge,
  LONG_REPORTS,
  mergeLongRuns,
  mergeReports,
  readReports,
  REPORTS,
  staleFiles,
} from './reliability/reports.js'
import { readTestNames } from './reliability/test-names.js'

const root = fileURLToPath(new URL('..', import.meta.url))
process.exitCode = write()

function write() {
  const reports = Object.values(readReports(root, REPORTS))
  if (reports.length === 0) {
    process.stderr.write(`There is no report in ${REPORTS}: run \`npm test\` first.\n`)
    return 1
  }
  const catalogue = readCatalogue(root)
  const tests = readTestNames(root)
  const longReports = readReports(root, LONG_REPORTS)
  for (const one of [...reports, ...Object.values(longReports)]) {
    const stale = staleFiles(root, one)
    if (stale.length > 0) process.stderr.write(`${one.path} is older than ${stale.join(', ')}.\n`)
  }
  const { outcomes, problems } = judge(tests, mergeReports(reports))
  const { longRuns, problems: longProblems } = mergeLongRuns(readLongRuns(root), tests, longReports)
  const all = [...problemsOfNames(catalogue, tests), ...problems, ...longProblems]
  if (all.length > 0) {
    process.stderr.write(`docs/reliability.md was not written:\n  ${all.join('\n  ')}\n`)
    return 1
  }
  writeFileSync(join(root, LONG_RUNS), `${JSON.stringify(longRuns, null, 2)}\n`)
  writeFileSync(join(root, 'docs/reliability.md'), renderPage(catalogue, outcomes, longRuns))
  return 0
}
