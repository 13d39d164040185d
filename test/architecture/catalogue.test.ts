import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { drawPromises } from '../../scripts/mutants/draw.js'
import { applyEdit, editsOf, readMutants } from '../../scripts/mutants/mutants.js'
import { problemsOfTags, readCatalogue, sentencesOf } from '../../scripts/reliability/catalogue.js'
import { renderPage } from '../../scripts/reliability/page.js'
import { readTaggedTests, testsOf } from '../../scripts/reliability/test-tags.js'
import timeLimits from '../catalogue/time-limits.json' with { type: 'json' }

const root = fileURLToPath(new URL('../..', import.meta.url))
const catalogue = readCatalogue(root)
const tests = readTaggedTests(root)

describe('the catalogue', () => {
  test('has a test or a reason for every id, and no test carries another one', () => {
    expect(problemsOfTags(catalogue, tests)).toEqual([])
  })

  test('is what docs/reliability.md shows (npm run docs:reliability)', () => {
    expect(readFileSync(`${root}/docs/reliability.md`, 'utf8')).toBe(renderPage(catalogue, tests))
  })

  test('has its ids in tags, not in front of titles', () => {
    const ids = Object.keys(sentencesOf(catalogue)).join('|')
    const inTitle = new RegExp(`^.(?:property: )?(?:${ids})\\b[:, ]|\\((?:${ids})[^)]*\\).$`)
    expect(tests.filter(({ title }) => inTitle.test(title))).toEqual([])
  })
})

const testFiles = readdirSync(`${root}/test`, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.test.ts'))
  .map((path) => `test/${path}`)

test('every test with a scale is a part of the long tier, and every file of a part is such a test', () => {
  const hasScale = (file: string): boolean =>
    /from '.*\/test-scale\.js'/.test(readFileSync(`${root}/${file}`, 'utf8'))
  // One that `npm test` leaves out may take long as it is.
  const named = Object.values(catalogue.longParts).flatMap(({ isLongOnly, files }) =>
    files.filter((file) => isLongOnly !== true || hasScale(file)),
  )
  expect(named.sort()).toEqual(testFiles.filter(hasScale).sort())
})

test('every time limit has a reason, and is of a test that there is', () => {
  for (const { seconds, reason, files } of timeLimits) {
    expect(seconds, reason).toBeGreaterThan(10)
    expect(files.filter((file) => !testFiles.includes(file))).toEqual([])
  }
  const named = timeLimits.flatMap(({ files }) => files)
  expect(new Set(named).size).toBe(named.length)
})

/** `npm run test:mutants` runs for long; that its list still fits the code is seen here. */
test('every safeguard that the mutants take out is where the list says, once', () => {
  const mutants = readMutants(root)
  const tagged = new Set(tests.flatMap(({ file, tags }) => tags.map((id) => `${file} ${id}`)))
  const named = new Set(mutants.map((one) => one.safeguard))
  expect(named.size).toBe(mutants.length)
  expect(mutants.length).toBeGreaterThanOrEqual(30)
  for (const mutant of mutants) {
    for (const edit of editsOf(mutant)) {
      const text = readFileSync(`${root}/${edit.file}`, 'utf8')
      expect(applyEdit(text, edit)).not.toBe(text)
    }
    expect(tagged.has(`${mutant.test.file} ${mutant.test.id}`), mutant.safeguard).toBe(true)
  }
})

/** Lower it when you add a mutant; it may only fall. */
const MOST_PROMISES_WITHOUT_A_MUTANT = 7

test('promises that no mutant tries become fewer', () => {
  const all = drawPromises(catalogue.groups, readMutants(root), { count: Infinity, seed: 1 })
  const untried = all.filter(({ mutants }) => mutants.length === 0).map(({ id }) => id)
  expect(all.length).toBeGreaterThan(200)
  expect(untried.length, untried.join(' ')).toBe(MOST_PROMISES_WITHOUT_A_MUTANT)
})

describe('what the tags of tests prove', () => {
  const source = `
    describe('a list', { tags: ['P1'] }, () => {
      test.each([1, 2])('of %d pages ends', () => {})
      for (const fault of faults) it(\`cut by \${fault}\`, { timeout: 1, tags: ['H9'] }, () => {})
    })
    expect(/x/.test('H3', { tags: ['H3'] })).toBe(true)`
  const ofSource = testsOf('test/unit/x.test.ts', source)
  const promises = { P1: 'Ends.', P2: 'Later.', P3: 'Never.' }
  const small = {
    groups: { P: { title: 'Pages', promises } },
    reasons: { P3: 'No such list.' },
    findings: {},
    longParts: { night: { files: ['test/unit/x.test.ts'] } },
    mutants: [],
  }

  test('is read from suites and tables, and from tests only', () => {
    expect(ofSource.map(({ tags }) => tags)).toEqual([['P1'], ['P1', 'H9']])
  })

  test('is missing where no test carries an id, and wrong where it is unknown', () => {
    expect(problemsOfTags(small, ofSource)).toEqual([
      expect.stringMatching(/^P2: tag a test/),
      expect.stringMatching(/^H9: unknown/),
    ])
  })
})
