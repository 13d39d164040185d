import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { caseIdsIn } from '../../scripts/reliability/case-ids.js'
import { problemsOfNames, readCatalogue } from '../../scripts/reliability/catalogue.js'
import { cell, readPage, renderPage } from '../../scripts/reliability/page.js'
import { judge, type Report } from '../../scripts/reliability/reports.js'
import { readTestNames, testsOf } from '../../scripts/reliability/test-names.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

describe('the catalogue', () => {
  const catalogue = readCatalogue(root)
  const tests = readTestNames(root)

  test('has a test or a reason for every id, and no test carries another one', () => {
    expect(problemsOfNames(catalogue, tests)).toEqual([])
  })

  test('is what docs/reliability.md shows, with the files of its tests (npm test, then npm run docs:reliability)', () => {
    const page = readPage(readFileSync(`${root}/docs/reliability.md`, 'utf8'))
    expect(Object.keys(page)).toEqual(catalogue.ids)
    for (const { promises } of Object.values(catalogue.groups)) {
      for (const [id, promise] of Object.entries(promises)) {
        const files = new Set(tests.filter((one) => one.ids.includes(id)).map((one) => one.file))
        expect([id, page[id]?.files]).toEqual([id, [...files]])
        expect([id, page[id]?.promise]).toEqual([id, cell(promise)])
        expect([id, page[id]?.proof]).toEqual([
          id,
          expect.stringContaining(cell(catalogue.reasons[id] ?? '')),
        ])
      }
    }
  })
})

test('every test with a scale is a part of the long tier, and every file of a part is such a test', () => {
  const parts = Object.values(
    JSON.parse(readFileSync(`${root}/test/catalogue/long-parts.json`, 'utf8')) as Record<
      string,
      { readonly env: Record<string, string>; readonly files: readonly string[] }
    >,
  )
  const scaled: string[] = []
  for (const path of readdirSync(`${root}/test`, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.test.ts')) continue
    const text = readFileSync(`${root}/test/${path}`, 'utf8')
    const names = [
      ...text.matchAll(/process\.env\.([A-Z_]+_(?:RUNS|SEEDS|WORLDS|HOURS|EVERY|ACCOUNTS))\b/g),
    ].map(([, name]) => name!)
    if (/from '.*\/fault-scale\.js'/.test(text)) names.push('FAULT_SCALE')
    scaled.push(...names.map((name) => `${name} test/${path}`))
  }
  const named = parts.flatMap(({ env, files }) =>
    Object.keys(env).flatMap((name) => files.map((file) => `${name} ${file}`)),
  )
  expect(named.sort()).toEqual(scaled.sort())
})

test.each([
  ['P7: are marked', ['P7']],
  ['C1-C8, I2, I9: ends', ['C1', 'C2', 'C3', 'C4', 'C5', 'C6', 'C7', 'C8', 'I2', 'I9']],
  ['W2/W3 refuses (S1)', ['W2', 'W3', 'S1']],
  ['the UTF-16 of P1x, v-C3 and B6 is no case', []],
])('ids are read out of a name, form %#', (name, ids) => {
  expect(caseIdsIn(name)).toEqual(ids)
})

describe('what the names of tests prove', () => {
  const source = `
    describe('a list (P1)', () => {
      test.each([1, 2])('of %d pages ends', () => {})
      for (const fault of faults) it(\`H9: cut by \${fault}\`, () => {})
    })
    expect(/H3/.test('H3: no test')).toBe(true)`
  const tests = testsOf('test/unit/x.test.ts', source)
  const report = (...results: [title: string, status: string][]): Report => ({
    path: 'reports/ci.json',
    startTime: 0,
    tests: results.map(([title, status]) => ({
      file: 'test/unit/x.test.ts',
      titles: ['a list (P1)', title],
      status,
      figure: '3 pages',
    })),
  })

  test('is read from suites, tables and titles made at run time, and from tests only', () => {
    expect(tests.map(({ ids }) => ids)).toEqual([['P1'], ['P1', 'H9']])
  })

  test('is missing where no test carries an id, and wrong where it is unknown', () => {
    expect(problemsOfNames({ ids: ['P1', 'P2', 'P3'], reasons: { P3: 'none' } }, tests)).toEqual([
      expect.stringMatching(/^P2: no test/),
      expect.stringMatching(/^H9: unknown/),
    ])
  })

  test('counts only what passed; a failure and a test that did not run are named', () => {
    const passed = judge(
      tests,
      report(
        ['of 1 pages ends', 'passed'],
        ['of 2 pages ends', 'passed'],
        ['H9: cut by x', 'passed'],
      ),
    )
    expect(passed.problems).toEqual([])
    expect(passed.outcomes.map(({ cases }) => cases)).toEqual([2, 1])
    const failed = judge(
      tests,
      report(['of 1 pages ends', 'passed'], ['of 2 pages ends', 'failed']),
    )
    expect(failed.problems).toEqual([
      expect.stringMatching(/^P1: .* failed$/),
      expect.stringMatching(/^P1, H9: .* did not run$/),
    ])
  })

  test('an id that appears only at run time is named, for nobody could look it up', () => {
    expect(judge(tests, report(['H5: of 1 pages ends', 'passed'])).problems).toContainEqual(
      expect.stringMatching(/^P1, H5: .* at run time only/),
    )
  })

  test('stands in the page, which reads back as it was written', () => {
    const { outcomes } = judge(
      tests,
      report(
        ['of 1 pages ends', 'passed'],
        ['of 2 pages ends', 'passed'],
        ['H9: cut by x', 'passed'],
      ),
    )
    const groups = { P: { title: 'Pages', promises: { P1: 'ends | stops', P2: 'later' } } }
    const page = renderPage(
      { groups, ids: ['P1', 'P2'], reasons: { P2: 'No such list.' } },
      outcomes,
      {
        night: { P1: ['9 pages'] },
      },
    )
    expect(page).toContain('| a list (3) | CI, long | 9 pages |'.slice(2))
    expect(readPage(page)).toEqual({
      P1: {
        promise: 'ends \\| stops',
        files: ['test/unit/x.test.ts'],
        proof: '[unit/x](../test/unit/x.test.ts): a list (3)',
      },
      P2: { promise: 'later', files: [], proof: 'No such list.' },
    })
  })
})
