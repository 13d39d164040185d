import { chmod, mkdir, mkdtemp, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  embeddedDatabaseStatus,
  stopEmbeddedDatabase,
} from '../../src/extensions/embedded-postgres/embedded-database.js'
import { silentLogger } from '../../src/base/logger.js'
import { prepareHome } from './prepared-home.js'

/** An empty directory to run commands in, with a home for their embedded database. */
export interface FreshHome {
  readonly directory: string
  /** Does not exist until a command makes it. */
  readonly homeDirectory: string
}

const homes: FreshHome[] = []

/** `.tracking-sync` in it is where commands keep their database unless told otherwise. */
export async function makeFreshHome(homeName = '.tracking-sync', mode = 0o755): Promise<FreshHome> {
  const directory = await mkdtemp(join(tmpdir(), 'tracking-sync-e2e-'))
  // For root: open to the account the server runs under, so that everything stays in this one
  // directory.
  await chmod(directory, mode)
  const home = { directory, homeDirectory: join(directory, homeName) }
  homes.push(home)
  return home
}

/** As `makeFreshHome`, with a database that was made and stopped before. */
export async function makePreparedHome(): Promise<FreshHome> {
  const home = await makeFreshHome()
  await mkdir(home.homeDirectory)
  await prepareHome(home.homeDirectory)
  return home
}

export async function isServerRunning({ homeDirectory }: FreshHome): Promise<boolean> {
  const status = await embeddedDatabaseStatus({ homeDirectory, logger: silentLogger })
  return status.isRunning
}

/** Stops what still runs and removes every directory, also after a failed test. */
export async function removeFreshHomes(): Promise<void> {
  for (const { directory, homeDirectory } of homes.splice(0)) {
    const options = { homeDirectory, logger: silentLogger }
    await stopEmbeddedDatabase(options)
    const { dataDirectory } = await embeddedDatabaseStatus(options).catch(() => ({
      dataDirectory: undefined,
    }))
    if (dataDirectory !== undefined) {
      await rm(dirname(dataDirectory), { recursive: true, force: true })
    }
    await rm(directory, { recursive: true, force: true, maxRetries: 5 })
  }
  // Where root's relocated data would be; stays while other homes have theirs there.
  await rmdir('/var/lib/tracking-sync').catch(() => undefined)
}
