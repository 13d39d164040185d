/**
 * Names the licence of every package that an installation of this program brings, and ends with 1
 * when one is not on the list below. Reads the lock file, and of what is installed its own
 * manifest, which is what counts. `npm run licences`; takes another directory as its argument.
 */
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Licences that let anybody use and pass on the program without opening their own. */
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Unlicense',
])

const directory = resolve(process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url)))
const { packages } = JSON.parse(await readFile(join(directory, 'package-lock.json'), 'utf8'))
const counts = new Map()
const refused = []
for (const [path, locked] of Object.entries(packages)) {
  if (path === '' || locked.dev === true) continue
  const licence = (await installedLicence(path)) ?? locked.license ?? 'none'
  counts.set(licence, (counts.get(licence) ?? 0) + 1)
  if (!isAllowed(licence)) refused.push(`${path.replace(/^.*node_modules\//, '')}: ${licence}`)
}
for (const [licence, count] of [...counts].sort()) process.stdout.write(`${licence} ${count}\n`)
if (refused.length > 0) {
  process.stderr.write(`not on the list of licences:\n${refused.join('\n')}\n`)
  process.exitCode = 1
}

/** `MIT`, or a choice of which one is allowed: `(MIT OR GPL-2.0)`. */
function isAllowed(licence) {
  const choice = licence.replace(/^\((.*)\)$/, '$1').split(' OR ')
  return choice.some((one) => ALLOWED.has(one))
}

/**
 * Undefined where it is not installed: the programs of another platform. Old manifests hold an
 * object or a list.
 */
async function installedLicence(path) {
  const text = await readFile(join(directory, path, 'package.json'), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const { license, licenses } = JSON.parse(text)
  const stated = license ?? licenses
  if (stated === undefined) return undefined
  const all = Array.isArray(stated) ? stated : [stated]
  return all.map((one) => (typeof one === 'string' ? one : one.type)).join(' OR ')
}
