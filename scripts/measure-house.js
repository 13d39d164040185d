/**
 * The house in figures: lines and files of the core and of its extensions, arrows between them,
 * how statements are made, what an account brings, tests, prose.
 *
 *   node scripts/measure-house.js [--json]
 *
 * The architecture test holds what has been reached (test/architecture/house.test.ts).
 */
import { fileURLToPath } from 'node:url'
import { measureHouse } from './house/measure.js'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

const figures = measureHouse(ROOT)
if (process.argv.includes('--json')) {
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`)
} else {
  const width = Math.max(...Object.keys(figures).map((name) => name.length))
  for (const [name, value] of Object.entries(figures)) {
    process.stdout.write(`${name.padEnd(width)}  ${value}\n`)
  }
}
