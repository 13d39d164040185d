/**
 * `npm run test:long`: the parts of test/catalogue/long-parts.json one after the other, or those
 * named as arguments, and a table at the end. Each part leaves its report in reports/long, from
 * where `npm run docs:reliability` takes its figures. A part that fails does not keep the others
 * from running; the exit code is 1 then.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { printTable, runTests } from './reliability/run-tests.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const parts = JSON.parse(readFileSync(`${root}/test/catalogue/long-parts.json`, 'utf8'))
const named = process.argv.slice(2)
const unknown = named.filter((name) => parts[name] === undefined)
if (unknown.length > 0) {
  process.stderr.write(
    `There is no part ${unknown.join(', ')}; there are ${Object.keys(parts).join(', ')}.\n`,
  )
  process.exit(2)
}

const rows = []
for (const name of named.length > 0 ? named : Object.keys(parts)) {
  const { files } = parts[name]
  process.stdout.write(`--- ${name}: TEST_SCALE=full ${files.join(' ')}\n`)
  const outcome = await runTests({
    root,
    env: { TEST_SCALE: 'full' },
    report: `reports/long/${name}.json`,
    // One of them needs no database.
    args: ['--project', 'pure', ...files],
  })
  rows.push({ name, ...outcome })
}
printTable('part', rows)
process.exitCode = rows.every((row) => row.ok) ? 0 : 1
