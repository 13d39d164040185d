/**
 * Where one home directory keeps its database.
 *
 *   <home>/database/password         0600; of the everyday login, the owner of the database
 *   <home>/database/admin-password   0600; of the superuser, for starting and creating
 *   <home>/database/lock.N           the start lock
 *   <home>/database/location         only when the area is elsewhere: its absolute path
 *   <area>/data                      the PostgreSQL data directory, 0700, of the server's account
 *   <area>/server.conf, server.log, port, users/, native-<version>/
 *
 * The area is <home>/database, except for root with a home that the server's account cannot enter
 * (a clone in /root, a directory made by mktemp): then it is a new directory in
 * /var/lib/tracking-sync. Its name is random, so that a home that was deleted and made again starts
 * with an empty database, as it would for an ordinary user. The account owns only `data`. Root
 * writes nothing into that but a replacement of a stale `postmaster.pid`.
 */
import { chmod, mkdir, mkdtemp, readFile, realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { EmbeddedDatabaseError } from '../../base/errors.js'
import type { Logger } from '../../base/logger.js'
import { exists, readIfThere, writeFileAtomically } from './files.js'

export interface DatabaseArea {
  /** `<home>/database`. */
  readonly home: string
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

/** Makes `<home>/database` when missing and returns its real path. */
export async function makeDatabaseHome(homeDirectory: string): Promise<string> {
  await makeDirectory(resolve(homeDirectory))
  const home = join(await realpath(homeDirectory), 'database')
  await mkdir(home, { recursive: true, mode: 0o700 })
  return home
}

/** A read-only disk is reported only by a call without `recursive`. */
async function makeDirectory(directory: string): Promise<void> {
  if (await exists(directory)) return
  await makeDirectory(dirname(directory))
  await mkdir(directory).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  })
}

/** The area of a home, made when missing. Idempotent; call it under the start lock. */
export async function openDatabaseArea(home: string, logger: Logger): Promise<DatabaseArea> {
  if (process.getuid?.() === 0) await prepareForRoot(home, logger)
  const area = await describeArea(home)
  const { account, directory } = area
  const blocked = account && (await findBlockedDirectory(directory, account))
  if (blocked === undefined) return area
  throw new EmbeddedDatabaseError(
    `The account of the database (${account?.name}) cannot enter ${blocked}; ` +
      `run "chmod o+x ${blocked}", or move the data and set TRACKING_HOME.`,
  )
}

/** The area of a home without making anything; undefined when the home never had one. */
export async function findDatabaseArea(homeDirectory: string): Promise<DatabaseArea | undefined> {
  const home = join(resolve(homeDirectory), 'database')
  return (await exists(home)) ? describeArea(await realpath(home)) : undefined
}

async function describeArea(home: string): Promise<DatabaseArea> {
  const directory = await readPlace(home)
  const dataDirectory = join(directory, 'data')
  return {
    home,
    directory,
    dataDirectory,
    passwordFile: join(home, 'password'),
    adminPasswordFile: join(home, 'admin-password'),
    portFile: join(directory, 'port'),
    settingsFile: join(directory, 'server.conf'),
    logFile: join(directory, 'server.log'),
    account: process.getuid?.() === 0 ? await accountForRoot(dataDirectory) : undefined,
  }
}

async function readPlace(home: string): Promise<string> {
  const pointer = join(home, 'location')
  const place = (await readIfThere(pointer))?.trim()
  if (place === undefined) return home
  if (isAbsolute(place) && (await exists(place))) return place
  throw new EmbeddedDatabaseError(
    `The database of this home is kept in ${place}, which is gone; ` +
      `bring that directory back, or delete ${pointer} to begin with an empty database.`,
  )
}

/** Existing data decide: PostgreSQL accepts only their owner. */
async function accountForRoot(dataDirectory: string): Promise<Account> {
  if (await exists(dataDirectory)) {
    const { uid, gid } = await stat(dataDirectory)
    refuseRootOwner(uid, dataDirectory)
    return { name: `uid ${uid}`, uid, gid }
  }
  const account = chooseAccount(await readFile('/etc/passwd', 'utf8').catch(() => ''))
  if (account !== undefined) return account
  throw new EmbeddedDatabaseError(
    "PostgreSQL refuses to run as root, and /etc/passwd has neither a 'postgres' nor a 'nobody' " +
      'account to run it under; run as an ordinary user, or set DATABASE_URL.',
  )
}

/** Throws where the data belong to root, as after a copy that kept no owners. */
export function refuseRootOwner(uid: number, dataDirectory: string): void {
  if (uid !== 0) return
  throw new EmbeddedDatabaseError(
    `The data in ${dataDirectory} belong to root, and PostgreSQL refuses to run as root; give them ` +
      `back to the account that made them, like \`chown -R postgres: ${dataDirectory}\`.`,
  )
}

/** Opens a new area to the server's account, or puts it where the account can enter. */
async function prepareForRoot(home: string, logger: Logger): Promise<void> {
  if ((await stat(home)).uid === 0) await chmod(home, 0o755)
  if ((await readPlace(home)) !== home || (await exists(join(home, 'data')))) return
  const account = await accountForRoot(join(home, 'data'))
  if ((await findBlockedDirectory(home, account)) === undefined) return
  const place = await makeSharedDirectory(account, home)
  await writeFileAtomically(join(home, 'location'), `${place}\n`, 0o644)
  logger.info('the database is kept outside the home, which its account cannot enter', { place })
}

async function makeSharedDirectory(account: Account, home: string): Promise<string> {
  try {
    const isNew = (await mkdir(SHARED_BASE, { recursive: true })) !== undefined
    // The umask does not decide it.
    if (isNew) await chmod(SHARED_BASE, 0o755)
    if ((await findBlockedDirectory(SHARED_BASE, account)) === undefined) {
      const place = await mkdtemp(join(SHARED_BASE, 'database-'))
      await chmod(place, 0o755)
      return place
    }
  } catch (error) {
    throw unreachable(account, home, error)
  }
  throw unreachable(account, home)
}

function unreachable(account: Account, home: string, cause?: unknown): EmbeddedDatabaseError {
  return new EmbeddedDatabaseError(
    `The account '${account.name}', under which PostgreSQL runs for root, can use neither ${home} ` +
      `nor ${SHARED_BASE}; set TRACKING_HOME to a directory every user can enter, ` +
      'or set DATABASE_URL.',
    { cause },
  )
}

/** The operating system account PostgreSQL runs under when we are root, which it refuses to be. */
export interface Account {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

/** In this order: the account made for PostgreSQL, then the one that owns nothing. */
const PREFERRED_NAMES = ['postgres', 'nobody']

/** `passwd` is the text of /etc/passwd. Never picks uid 0. */
export function chooseAccount(passwd: string): Account | undefined {
  const accounts = passwd.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':')
    if (name === undefined || !/^\d+$/.test(uid ?? '') || !/^\d+$/.test(gid ?? '')) return []
    return Number(uid) === 0 ? [] : [{ name, uid: Number(uid), gid: Number(gid) }]
  })
  return PREFERRED_NAMES.map((name) => accounts.find((account) => account.name === name)).find(
    (account) => account !== undefined,
  )
}

export interface FilePermissions {
  readonly mode: number
  readonly uid: number
  readonly gid: number
}

/**
 * Plain mode bits, for an account without supplementary groups (that is how children are started).
 */
export function mayAccess(
  file: FilePermissions,
  account: Account,
  want: 'enter' | 'read',
): boolean {
  const bit = want === 'enter' ? 0o1 : 0o4
  if (file.uid === account.uid) return (file.mode & (bit << 6)) !== 0
  if (file.gid === account.gid) return (file.mode & (bit << 3)) !== 0
  return (file.mode & bit) !== 0
}

/** The first directory on the way to `directory`, or itself, that the account cannot enter. */
export async function findBlockedDirectory(
  directory: string,
  account: Account,
): Promise<string | undefined> {
  const ancestors: string[] = []
  for (let path = await realpath(directory); ; path = dirname(path)) {
    ancestors.unshift(path)
    if (path === dirname(path)) break
  }
  for (const path of ancestors) {
    if (!mayAccess(await stat(path), account, 'enter')) return path
  }
  return undefined
}
