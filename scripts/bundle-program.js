/**
 * Makes the program that is run and shipped, `dist/program/`, of the modules in `dist/`: what starts together lies in one file, together with the two packages
 * that consist of hundreds of small files. Loading those one by one took half of the time that a command needs to start (decision 16). All other packages
 * stay what they are, and are loaded when they are needed.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const INLINED = ['kysely', 'zod']
const directory = fileURLToPath(new URL('../', import.meta.url))

const bundle = await rolldown({
  input: `${directory}dist/cli.js`,
  platform: 'node',
  // Else a comment says of each part which file it was, with its path on this machine where that lies elsewhere.
  experimental: { attachDebugInfo: 'none' },
  external: (id) => isPackage(id) && !INLINED.some((name) => `${id}/`.startsWith(`${name}/`)),
})
await bundle.write({
  dir: `${directory}dist/program`,
  format: 'esm',
  chunkFileNames: '[name]-[hash].js',
  cleanDir: true,
})
await bundle.close()
await writeFile(`${directory}dist/program/licences.txt`, await licencesOf(INLINED))

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
