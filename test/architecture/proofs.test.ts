import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { applyEdit, readMutants } from '../../scripts/mutants/mutants.js'
import { readTaggedTests } from '../../scripts/reliability/test-tags.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** `npm run test:mutants` runs for long; that its list still fits the code is seen here. */
test('every safeguard that the mutants take out stands where the list says, once', () => {
  const mutants = readMutants(root)
  const tagged = new Set(
    readTaggedTests(root).flatMap(({ file, tags }) => tags.map((id) => `${file} ${id}`)),
  )
  const named = new Set(mutants.map((one) => one.safeguard))
  expect(named.size).toBe(mutants.length)
  expect(mutants.length).toBeGreaterThanOrEqual(30)
  for (const mutant of mutants) {
    const text = readFileSync(`${root}/${mutant.file}`, 'utf8')
    expect(applyEdit(text, mutant)).not.toBe(text)
    expect(tagged.has(`${mutant.test.file} ${mutant.test.id}`), mutant.safeguard).toBe(true)
  }
})
