/**
 * Writes `sbom.cdx.json`: every package that an installation of this program brings, with version,
 * licence and hash, as CycloneDX. Read from the lock file, so it needs no network and nothing
 * installed. `npm run sbom`; takes another file as its argument.
 */
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const directory = fileURLToPath(new URL('..', import.meta.url))
const file = resolve(process.argv[2] ?? 'sbom.cdx.json')

// Not `--omit dev`: that also leaves out what a development package shares with the program.
const command = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx']
const { stdout } = await promisify(execFile)('npm', command, {
  cwd: directory,
  maxBuffer: 64 * 1024 * 1024,
})
const sbom = JSON.parse(stdout)
// npm takes the name of the directory.
const { name } = JSON.parse(await readFile(`${directory}/package.json`, 'utf8'))
sbom.metadata.component.name = name

const isDevelopment = ({ properties }) =>
  properties.some(({ name, value }) => name === 'cdx:npm:package:development' && value === 'true')
const left = new Set(sbom.components.filter(isDevelopment).map((one) => one['bom-ref']))
sbom.components = sbom.components.filter((one) => !left.has(one['bom-ref']))
sbom.dependencies = sbom.dependencies
  .filter(({ ref }) => !left.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => !left.has(one)) }))
await writeFile(file, `${JSON.stringify(sbom, null, 2)}\n`)
process.stdout.write(`${file}: ${sbom.components.length} packages\n`)
