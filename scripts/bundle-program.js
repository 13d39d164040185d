/**
 * Makes the program that is run and shipped, `dist/program/`, of the modules in `src/`: what
 * starts together lies in one file, together with the packages that consist of a hundred small
 * files and more. Loading those one by one took half of the time that a command needs to start
 * (decision 16). All other packages stay what they are, and are loaded when they are needed.
 */
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const INLINED = ['kysely', 'undici', 'yaml', 'zod']
/**
 * The index of undici loads whatever it can do, a browser's `fetch` and sockets among it, and we
 * use one method of two classes, and the tunnel of a proxy. What the index does for that is done
 * here. An update that names the files otherwise fails the build.
 */
const UNDICI = `
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js'
import Pool from 'undici/lib/dispatcher/pool.js'
import EnvHttpProxyAgent from 'undici/lib/dispatcher/env-http-proxy-agent.js'
import connect from 'undici/lib/api/api-connect.js'
import request from 'undici/lib/api/api-request.js'
Object.assign(Dispatcher.prototype, { connect, request })
export { EnvHttpProxyAgent, Pool }`
/** The package has no point at which the program can be made to kill itself: tests have. */
const NO_FAILPOINTS = `
export const noFailpoints = () => undefined
export const createFailpoint = () => noFailpoints
export const FAILPOINT_VARIABLE = undefined
export const readFailpoint = () => undefined
export class SimulatedCrash extends Error {}`
const isPackaged = process.argv.includes('--packaged')
const directory = fileURLToPath(new URL('../', import.meta.url))
const target = `${directory}dist/program/`

const bundle = await rolldown({
  input: `${directory}src/cli.ts`,
  platform: 'node',
  // Types are taken out as they are read: `npm run demo` needs no compiler.
  resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
  // Else a comment says of each part which file it was, with its path on this machine where that
  // lies elsewhere.
  experimental: { attachDebugInfo: 'none' },
  external: (id) => isPackage(id) && !INLINED.some((name) => `${id}/`.startsWith(`${name}/`)),
  plugins: [
    {
      name: 'part of undici',
      resolveId: (id) => (id === 'undici' ? '\0undici' : undefined),
      load: (id) => (id === '\0undici' ? UNDICI : undefined),
    },
    {
      name: 'no failpoints',
      load: (id) =>
        isPackaged && id === `${directory}src/base/failpoint.ts` ? NO_FAILPOINTS : undefined,
    },
  ],
})
const { output } = await bundle.generate({ format: 'esm', chunkFileNames: '[name]-[hash].js' })
await bundle.close()

// A program that runs loads parts when it needs them, also after the next build: parts that nothing
// needs any more are left to `npm run clean`, and what has not changed is not touched. The first
// file comes last, so that whoever starts meanwhile finds what it names.
const entries = output.filter(({ isEntry }) => isEntry)
const parts = output.filter(({ isEntry }) => !isEntry)
await mkdir(target, { recursive: true })
await replace(`${target}licences.txt`, await licencesOf(INLINED))
for (const { fileName, code } of [...parts, ...entries]) await replace(`${target}${fileName}`, code)

await removeModulesWithoutSource()

/** A module that was moved away must not be found at its old place by what still names it. */
async function removeModulesWithoutSource() {
  const built = `${directory}dist`
  for (const name of await readdir(built, { recursive: true })) {
    if (!name.endsWith('.js') || /^program\b/.test(name)) continue
    const source = `${directory}src/${name.replace(/\.js$/, '.ts')}`
    if (!(await stat(source).catch(() => undefined))) await rm(`${built}/${name}`)
  }
}

/** At once and whole. */
async function replace(path, text) {
  const standing = await readFile(path, 'utf8').catch(() => undefined)
  if (standing === text) return
  const whole = `${path}.${process.pid}`
  await writeFile(whole, text)
  await rename(whole, path)
}

function isPackage(id) {
  return !id.startsWith('.') && !id.startsWith('/') && !/^[A-Za-z]:[\\/]/.test(id)
}

/** They must go with every copy, also with one in which the package is not to be told apart. */
async function licencesOf(names) {
  const texts = names.map(async (name) => {
    const text = await readFile(`${directory}node_modules/${name}/LICENSE`, 'utf8')
    return `${name}\n\n${text.trim()}\n`
  })
  return `This directory holds these packages too.\n\n${(await Promise.all(texts)).join('\n\n')}`
}
