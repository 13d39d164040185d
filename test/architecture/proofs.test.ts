import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { applyEdit, readMutants } from '../../scripts/mutants/mutants.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

test('every finding has a test that carries its id', () => {
  const findings = Object.keys(
    JSON.parse(readFileSync(`${root}/test/catalogue/findings.json`, 'utf8')) as object,
  )
  const carried = new Set<string>()
  for (const path of readdirSync(`${root}/test`, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.test.ts') || path.includes('architecture/proofs')) continue
    for (const [, tags] of readFileSync(`${root}/test/${path}`, 'utf8').matchAll(
      /\btags: \[([^\]]*)\]/g,
    )) {
      for (const [, id] of tags!.matchAll(/'(F[A-G]\d+)'/g)) carried.add(id!)
    }
  }
  expect(findings.filter((id) => !carried.has(id))).toEqual([])
})

/** `npm run test:mutants` runs for long; that its list still fits the code is seen here. */
test('every safeguard that the mutants take out stands where the list says, once', () => {
  const mutants = readMutants(root)
  const named = new Set(mutants.map((one) => one.safeguard))
  expect(named.size).toBe(mutants.length)
  expect(mutants.length).toBeGreaterThanOrEqual(30)
  for (const mutant of mutants) {
    const text = readFileSync(`${root}/${mutant.file}`, 'utf8')
    expect(applyEdit(text, mutant)).not.toBe(text)
    expect([mutant.test.file, existsSync(`${root}/${mutant.test.file}`)]).toEqual([
      mutant.test.file,
      true,
    ])
    expect(readFileSync(`${root}/${mutant.test.file}`, 'utf8')).toContain(mutant.test.id)
  }
})
