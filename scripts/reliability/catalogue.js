import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The promises group by group, why some have no test, the findings, the parts of the long run, the
 * mutants, and what `npm run test:stranger -- --publish` found last.
 */
export function readCatalogue(root) {
  const read = (name) => JSON.parse(readFileSync(join(root, `test/catalogue/${name}.json`), 'utf8'))
  return {
    groups: read('promises'),
    reasons: read('reasons'),
    findings: read('findings'),
    longParts: read('long-parts'),
    mutants: read('mutants'),
    stranger: JSON.parse(readFileSync(join(root, 'test/stranger/differences.json'), 'utf8')),
  }
}

/** Every id a test may carry as a tag, with its sentence. */
export function sentencesOf({ groups, findings }) {
  return Object.assign({}, ...Object.values(groups).map((group) => group.promises), findings)
}

/** Carried by a test that `npm test` leaves to `npm run test:release`. */
export const RELEASE = 'release'

/**
 * Ids without a reason or a test that is not left to `npm run test:release`, reasons without an id,
 * and tags nobody knows; empty when all is well.
 */
export function problemsOfTags(catalogue, tests) {
  const sentences = sentencesOf(catalogue)
  const atOnce = tests.filter(({ tags }) => !tags.includes(RELEASE))
  const carried = new Set(atOnce.flatMap(({ tags }) => tags))
  return [
    ...Object.keys(sentences)
      .filter((id) => !carried.has(id) && catalogue.reasons[id] === undefined)
      .map(
        (id) =>
          `${id}: tag a test of npm test with it, or give a reason in test/catalogue/reasons.json`,
      ),
    ...Object.keys(catalogue.reasons)
      .filter((id) => sentences[id] === undefined)
      .map((id) => `${id}: has a reason, but the catalogue does not know it`),
    ...tests.flatMap(({ file, title, tags }) =>
      tags
        .filter((id) => id !== RELEASE && sentences[id] === undefined)
        .map((id) => `${id}: unknown tag in ${file}: ${title}`),
    ),
  ]
}
