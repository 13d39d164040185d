import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { caseIdsIn } from './case-ids.js'
import { groupBy } from './group-by.js'
import { isTestOf, readableTitle } from './test-names.js'

/** Where `npm test` and `npm run test:long` leave what vitest's JSON reporter says. */
export const REPORTS = 'reports'
export const LONG_REPORTS = 'reports/long'

/** The tests of one report: file, titles, outcome and the figure it noted, if any. */
function readReport(root, path) {
  const report = JSON.parse(readFileSync(join(root, path), 'utf8'))
  return {
    path,
    startTime: report.startTime,
    tests: report.testResults.flatMap((file) =>
      file.assertionResults.map((result) => ({
        file: relative(root, file.name).replaceAll('\\', '/'),
        titles: [...result.ancestorTitles.filter((title) => title !== ''), result.title],
        status: result.status,
        figure: result.meta?.figure,
      })),
    ),
  }
}

/** The reports that stand in a directory, by their names; none when there is no directory. */
export function readReports(root, directory) {
  if (!existsSync(join(root, directory))) return {}
  const names = readdirSync(join(root, directory)).filter((name) => name.endsWith('.json'))
  return Object.fromEntries(
    names.map((name) => [basename(name, '.json'), readReport(root, `${directory}/${name}`)]),
  )
}

/** As one report: of each file what the latest of them says, so that a file that was run again alone counts anew. */
export function mergeReports(reports) {
  const latestFirst = [...reports].sort((a, b) => b.startTime - a.startTime)
  const seen = new Set()
  const tests = latestFirst.flatMap((report) => {
    const fresh = report.tests.filter((result) => !seen.has(result.file))
    for (const result of fresh) seen.add(result.file)
    return fresh
  })
  return { path: REPORTS, startTime: latestFirst.at(-1)?.startTime ?? 0, tests }
}

/** How the tests of the sources did in a report: for each one that carries ids its cases and what they noted, and what is wrong. */
export function judge(sourceTests, report) {
  const carriers = sourceTests.filter((test) => test.ids.length > 0)
  const ofFile = groupBy(report.tests, (result) => result.file)
  const problems = []
  const outcomes = carriers.map((test) => {
    const results = (ofFile.get(test.file) ?? []).filter((one) => isTestOf(test, one.titles))
    const passed = results.filter((one) => one.status === 'passed')
    const name = `${test.ids.join(', ')}: ${test.file}: "${test.titles.join(' › ')}"`
    if (results.some((one) => one.status === 'failed')) problems.push(`${name} failed`)
    else if (passed.length === 0) problems.push(`${name} did not run`)
    const figures = passed.flatMap((one) => one.figure ?? [])
    return { test, cases: passed.length, figures: [...new Set(figures)] }
  })
  for (const result of report.tests) {
    const said = new Set(
      carriers
        .filter((test) => test.file === result.file && isTestOf(test, result.titles))
        .flatMap((test) => test.ids),
    )
    const unsaid = caseIdsIn(result.titles.join(' ')).filter((id) => !said.has(id))
    if (unsaid.length > 0) {
      problems.push(
        `${unsaid.join(', ')}: ${result.file}: "${result.titles.join(' › ')}" carries it at run time only; write it in the name`,
      )
    }
  }
  return { outcomes, problems: problems.map(readableTitle) }
}

/** Which ids the parts of the long tier proved, with their figures: the new reports over what was remembered. */
export function mergeLongRuns(remembered, sourceTests, reports) {
  const merged = { ...remembered }
  const problems = []
  for (const [part, report] of Object.entries(reports)) {
    const files = new Set(report.tests.map((result) => result.file))
    const judged = judge(
      sourceTests.filter((test) => files.has(test.file)),
      report,
    )
    // A part may run only some tests of a file; those that did not run say nothing.
    const failures = judged.problems.filter((problem) => problem.endsWith(' failed'))
    problems.push(...failures.map((problem) => `${problem} in ${report.path}`))
    const proved = {}
    for (const { test, figures } of judged.outcomes.filter((one) => one.cases > 0)) {
      for (const id of test.ids) proved[id] = [...new Set([...(proved[id] ?? []), ...figures])]
    }
    merged[part] = sortById(proved)
  }
  return { longRuns: merged, problems }
}

/** Files of tests that were edited after a report of theirs was made. */
export function staleFiles(root, report) {
  return [...new Set(report.tests.map((result) => result.file))].filter(
    (file) => existsSync(join(root, file)) && statSync(join(root, file)).mtimeMs > report.startTime,
  )
}

function sortById(entries) {
  const order = new Intl.Collator('en', { numeric: true })
  return Object.fromEntries(Object.entries(entries).sort(([a], [b]) => order.compare(a, b)))
}
