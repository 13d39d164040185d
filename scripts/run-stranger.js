/** `npm run test:stranger -- [--seed N] [--days N] [--shipments N]`: needs Python 3.9 and psql. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../test/stranger/run.py', import.meta.url))
const { status, error } = spawnSync('python3', [program, ...process.argv.slice(2)], {
  stdio: 'inherit',
})
if (error !== undefined) {
  process.stderr.write('test:stranger: python3 is missing: install Python 3.9 or later\n')
}
process.exitCode = status ?? 1
