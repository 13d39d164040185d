import { randomBytes } from 'node:crypto'
import { chmod, chown, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { EmbeddedDatabaseError } from '../../base/errors.js'
import { type Binaries, runProgram } from './binaries.js'
import type { DatabaseArea } from './area.js'
import { ADMIN_USER } from './server-client.js'
import { explainProgramFailure } from './explain-failure.js'
import { readIfThere, writeFileAtomically } from './files.js'

const STAGING_PREFIX = 'initializing-'

/**
 * Makes the data directory when it is missing, and checks that its version fits when it is there.
 * It is built beside its place and renamed when complete, so `data` is always whole. Leftovers of a
 * killed attempt are removed.
 */
export async function ensureDataDirectory(
  area: DatabaseArea,
  binaries: Binaries,
  options: { readonly isDisposable: boolean },
): Promise<void> {
  await removeLeftovers(area)
  const version = await readDataVersion(area)
  if (version === undefined) await initialize(area, binaries, options.isDisposable)
  else if (version !== String(binaries.majorVersion)) {
    throw new EmbeddedDatabaseError(
      `The database in ${area.dataDirectory} was made by PostgreSQL ${version}, but this ` +
        `installation brings PostgreSQL ${binaries.majorVersion}; install the version of ` +
        'tracking-sync that made it, or move that directory away and run a backfill into a new ' +
        'database.',
    )
  }
}

async function removeLeftovers(area: DatabaseArea): Promise<void> {
  for (const entry of await readdir(area.directory)) {
    if (!entry.startsWith(STAGING_PREFIX)) continue
    const leftover = join(area.directory, entry)
    // The initdb of a killed starter may still write there; it fails soon, and a later start
    // removes the rest.
    await rm(leftover, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined)
  }
}

/** The major version that made the data, as PostgreSQL wrote it; undefined without data. */
export async function readDataVersion(area: DatabaseArea): Promise<string | undefined> {
  return (await readIfThere(join(area.dataDirectory, 'PG_VERSION')))?.trim()
}

async function initialize(
  area: DatabaseArea,
  binaries: Binaries,
  isDisposable: boolean,
): Promise<void> {
  const password = randomBytes(24).toString('hex')
  // Before the data: data without their passwords would be lost, passwords without data are only
  // replaced.
  await writeFileAtomically(area.adminPasswordFile, `${password}\n`, 0o600)
  await writeFileAtomically(area.passwordFile, `${randomBytes(24).toString('hex')}\n`, 0o600)
  const staging = await mkdtemp(join(area.directory, STAGING_PREFIX))
  const data = join(staging, 'data')
  const passwordCopy = join(staging, 'password')
  try {
    await chmod(staging, 0o755)
    await mkdir(data, { mode: 0o700 })
    await writeFile(passwordCopy, `${password}\n`, { mode: 0o600, flag: 'wx' })
    if (area.account !== undefined) {
      await chown(data, area.account.uid, area.account.gid)
      await chown(passwordCopy, area.account.uid, area.account.gid)
    }
    const { exitCode, output } = await runProgram(
      binaries.initdb,
      initdbArguments(data, passwordCopy, binaries.majorVersion, isDisposable),
      { directory: staging, account: area.account },
    )
    if (exitCode !== 0) {
      throw explainProgramFailure('create its data directory', output, area.directory)
    }
    await rename(data, area.dataDirectory)
  } finally {
    await rm(staging, { recursive: true, force: true, maxRetries: 5 })
  }
}

function initdbArguments(
  dataDirectory: string,
  passwordFile: string,
  majorVersion: number,
  isDisposable: boolean,
): string[] {
  return [
    `--pgdata=${dataDirectory}`,
    `--username=${ADMIN_USER}`,
    '--auth=scram-sha-256',
    `--pwfile=${passwordFile}`,
    '--encoding=UTF8',
    '--locale=C',
    // Independent of the system's locales, yet lower() and ILIKE know all letters ("Ålesund"). New
    // in PostgreSQL 17.
    ...(majorVersion >= 17 ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8'] : []),
    '--data-checksums',
    ...(isDisposable ? ['--no-sync'] : []),
  ]
}
