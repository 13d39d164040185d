import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The last results of the long tier: it takes a night, so the page of a day's run still shows them. */
export const LONG_RUNS = 'test/catalogue/long-runs.json'

/** What is promised, group by group, and why some of it has no test. */
export function readCatalogue(root) {
  const groups = readJson(join(root, 'test/catalogue/promises.json'))
  return {
    groups,
    ids: Object.values(groups).flatMap((group) => Object.keys(group.promises)),
    reasons: readJson(join(root, 'test/catalogue/reasons.json')),
  }
}

export function readLongRuns(root) {
  const path = join(root, LONG_RUNS)
  return existsSync(path) ? readJson(path) : {}
}

/** What is wrong with the names of the tests, whether they pass or not; nothing when every id has a test or a reason. */
export function problemsOfNames({ ids, reasons }, tests) {
  const known = new Set(ids)
  const carried = new Set(tests.flatMap((test) => test.ids))
  return [
    ...ids
      .filter((id) => !carried.has(id) && reasons[id] === undefined)
      .map((id) => `${id}: no test carries it and no reason stands in test/catalogue/reasons.json`),
    ...Object.keys(reasons)
      .filter((id) => !known.has(id))
      .map((id) => `${id}: has a reason, but the catalogue does not know it`),
    ...tests.flatMap((test) =>
      test.ids
        .filter((id) => !known.has(id))
        .map((id) => `${id}: unknown, in ${test.file}: "${test.titles.join(' › ')}"`),
    ),
  ]
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'))
}
