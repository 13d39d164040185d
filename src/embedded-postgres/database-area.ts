/**
 * Where one home directory keeps its database.
 *
 *   <home>/database/password    always here, 0600; of the everyday login, the owner of the database
 *   <home>/database/admin-password   0600; of the superuser, for starting and creating. Not where a version before it made the data
 *   <home>/database/location    only when the area is elsewhere: its absolute path
 *   <area>/data                 the PostgreSQL data directory, 0700, of the account the server runs under
 *   <area>/server.conf, server.log, port, lock.N, users/, keep-running, native-<version>/
 *
 * The area is <home>/database, except for root with a home that the server's account cannot enter
 * (a clone in /root, a directory made by mktemp): then it is a new directory in
 * /var/lib/tracking-sync. Its name is partly random on purpose: a home that was deleted and made
 * again starts with an empty database, as it would for an ordinary user. The account owns only
 * `data`. Root writes nothing into that but a replacement of a stale `postmaster.pid`, and that
 * through an open file, so that it cannot be led elsewhere by a planted link.
 */
import { createHash, randomUUID } from 'node:crypto'
import {
  chmod,
  link,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  realpath,
  rm,
  rmdir,
  stat,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { EmbeddedDatabaseError } from '../base/errors.js'
import type { Logger } from '../base/logger.js'
import { chooseAccount, findBlockedDirectory, type Account } from './os-account.js'

export interface DatabaseArea {
  readonly directory: string
  readonly dataDirectory: string
  readonly passwordFile: string
  readonly adminPasswordFile: string
  readonly portFile: string
  readonly settingsFile: string
  readonly logFile: string
  /** Undefined: the server runs as we do. */
  readonly account: Account | undefined
}

const SHARED_BASE = '/var/lib/tracking-sync'

/** The area of a home, made when missing. Idempotent and safe beside other processes. */
export async function openDatabaseArea(
  homeDirectory: string,
  logger: Logger,
): Promise<DatabaseArea> {
  const isRoot = process.getuid?.() === 0
  await makeDirectory(resolve(homeDirectory))
  const home = await realpath(homeDirectory)
  const inHome = join(home, 'database')
  await mkdir(inHome, { recursive: true, mode: 0o700 })
  // By every starter, not only by the one that made it: no other may look at it in between and
  // place the data elsewhere.
  if (isRoot && (await stat(inHome)).uid === 0) await chmod(inHome, 0o755)
  const directory = isRoot ? await placeForRoot(home, inHome, logger) : await readPlace(inHome)
  const area = await describeArea(inHome, directory)
  await refuseBlockedArea(area)
  return area
}

/**
 * Node tells ENOENT of a directory that cannot be made on a read-only disk; one level at a time the
 * reason is told.
 */
async function makeDirectory(directory: string): Promise<void> {
  if (await exists(directory)) return
  await makeDirectory(dirname(directory))
  await mkdir(directory).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  })
}

/** The area of a home without making anything; undefined when the home never had one. */
export async function findDatabaseArea(homeDirectory: string): Promise<DatabaseArea | undefined> {
  const inHome = join(resolve(homeDirectory), 'database')
  if (!(await exists(inHome))) return undefined
  const real = await realpath(inHome)
  return describeArea(real, await readPlace(real))
}

async function describeArea(inHome: string, directory: string): Promise<DatabaseArea> {
  const dataDirectory = join(directory, 'data')
  return {
    directory,
    dataDirectory,
    passwordFile: join(inHome, 'password'),
    adminPasswordFile: join(inHome, 'admin-password'),
    portFile: join(directory, 'port'),
    settingsFile: join(directory, 'server.conf'),
    logFile: join(directory, 'server.log'),
    account: process.getuid?.() === 0 ? await accountForRoot(dataDirectory) : undefined,
  }
}

/** Existing data decide: PostgreSQL accepts only their owner. */
async function accountForRoot(dataDirectory: string): Promise<Account> {
  try {
    const { uid, gid } = await stat(dataDirectory)
    return { name: `uid ${uid}`, uid, gid }
  } catch {
    // No data yet: chosen below.
  }
  const account = chooseAccount(await readFile('/etc/passwd', 'utf8').catch(() => ''))
  if (account !== undefined) return account
  throw new EmbeddedDatabaseError(
    "PostgreSQL refuses to run as root, and /etc/passwd has neither a 'postgres' nor a 'nobody' account to run it under; run as an ordinary user, or set DATABASE_URL.",
  )
}

async function readPlace(inHome: string): Promise<string> {
  const pointer = join(inHome, 'location')
  if (!(await exists(pointer))) return inHome
  const place = (await readFile(pointer, 'utf8')).trim()
  if (isAbsolute(place) && (await exists(place))) return place
  throw new EmbeddedDatabaseError(
    `The database of this home is kept in ${place}, which is gone; bring that directory back, or delete ${pointer} to begin with an empty database.`,
  )
}

async function placeForRoot(home: string, inHome: string, logger: Logger): Promise<string> {
  const known = await readPlace(inHome)
  if (known !== inHome || (await exists(join(inHome, 'data')))) return known
  const account = await accountForRoot(join(inHome, 'data'))
  if ((await findBlockedDirectory(inHome, account)) === undefined) return inHome

  const place = await makeReachableDirectory(home, account, logger)
  const pointer = join(inHome, 'location')
  const draft = `${pointer}.${randomUUID()}`
  await writeFile(draft, `${place}\n`)
  try {
    // A hard link, unlike a rename, fails when another starter was first; then its place is ours
    // too.
    await link(draft, pointer)
    logger.info('the database is kept outside the home, which its account cannot enter', { place })
  } catch (error) {
    await rmdir(place)
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await rm(draft)
  }
  return readPlace(inHome)
}

async function makeReachableDirectory(
  home: string,
  account: Account,
  logger: Logger,
): Promise<string> {
  const prefix = `${createHash('sha256').update(home).digest('hex').slice(0, 16)}-`
  for (const base of [SHARED_BASE, tmpdir()]) {
    try {
      if ((await mkdir(base, { recursive: true, mode: 0o755 })) !== undefined) {
        await chmod(base, 0o755)
      }
      if ((await findBlockedDirectory(base, account)) !== undefined) continue
      const older = (await readdir(base)).filter((name) => name.startsWith(prefix))
      if (older.length > 0) {
        logger.warn('earlier databases of this home remain; delete them when not needed', {
          directories: older.map((name) => join(base, name)),
        })
      }
      // mkdtemp: never a directory that somebody else prepared under a name known beforehand.
      const place = await mkdtemp(join(base, prefix))
      await chmod(place, 0o755)
      if (base !== SHARED_BASE) {
        logger.warn('the database is in a temporary directory and may not survive a reboot', {
          place,
        })
      }
      return place
    } catch (error) {
      logger.debug('a place for the database cannot be used', { base, error })
    }
  }
  throw new EmbeddedDatabaseError(
    `The account '${account.name}', under which PostgreSQL runs for root, can enter neither ${home} nor ${SHARED_BASE}; set TRACKING_HOME to a directory every user can enter, or set DATABASE_URL.`,
  )
}

/** A home that was open when the data were made may have been closed since. */
async function refuseBlockedArea(area: DatabaseArea): Promise<void> {
  if (area.account === undefined) return
  const blocked = await findBlockedDirectory(dirname(area.dataDirectory), area.account)
  if (blocked === undefined) return
  throw new EmbeddedDatabaseError(
    `The account of the database (${area.account.name}) cannot enter ${blocked}; run "chmod o+x ${blocked}", or move the data and set TRACKING_HOME.`,
  )
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
