/**
 * `npm pack` with a lock in the tarball: `npm-shrinkwrap.json`, which npm heeds in a package of a
 * registry, unlike `package-lock.json`. It is the lock of this repository without what only
 * development needs. It is there while packing only: in a checkout npm would take it for the lock.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'

const SHRINKWRAP = 'npm-shrinkwrap.json'

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))
const packages = Object.entries(lock.packages).filter(([, { dev }]) => dev !== true)
const root = { ...lock.packages[''] }
delete root.devDependencies
const shrinkwrap = { ...lock, packages: { ...Object.fromEntries(packages), '': root } }

try {
  writeFileSync(SHRINKWRAP, `${JSON.stringify(shrinkwrap, null, 2)}\n`)
  const { status } = spawnSync('npm', ['pack', '--silent'], { stdio: 'inherit' })
  process.exitCode = status ?? 1
} finally {
  rmSync(SHRINKWRAP, { force: true })
}
