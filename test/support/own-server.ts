import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  startEmbeddedDatabase,
  type EmbeddedDatabase,
} from '../../src/extensions/embedded-postgres/embedded-database.js'
import { silentLogger } from '../../src/base/logger.js'
import { prepareHome } from './prepared-home.js'
import { waitUntil } from './run-cli.js'

/**
 * A PostgreSQL that a test has for itself, to stop, crash and start again. It keeps what it has
 * committed as any server does.
 */
export interface OwnServer {
  /** The same address each time. */
  start(): Promise<EmbeddedDatabase>
  /**
   * Sends a signal to the postmaster and waits for its end: SIGINT is a fast shutdown, SIGQUIT an
   * immediate one, SIGKILL a crash.
   */
  end(signal: NodeJS.Signals): Promise<void>
  postmasterPid(): Promise<number>
  /** Stops it, however it is, and takes its files away. */
  remove(): Promise<void>
}

export interface OwnServerOptions {
  /** Of PostgreSQL, beside those of an embedded database. */
  readonly settings?: Readonly<Record<string, string>>
}

export async function openOwnServer({ settings }: OwnServerOptions = {}): Promise<OwnServer> {
  const homeDirectory = await mkdtemp(join(tmpdir(), 'tracking-sync-outage-'))
  await chmod(homeDirectory, 0o755)
  await prepareHome(homeDirectory)
  let server: EmbeddedDatabase | undefined

  async function postmasterPid(): Promise<number> {
    const text = await readFile(join(server?.dataDirectory ?? '', 'postmaster.pid'), 'utf8')
    return Number(text.split('\n', 1)[0])
  }

  return {
    postmasterPid,
    start: async () => {
      server = await startEmbeddedDatabase({
        homeDirectory,
        logger: silentLogger,
        extraSettings: settings,
      })
      return server
    },
    end: async (signal) => {
      const pid = await postmasterPid()
      process.kill(pid, signal)
      await waitUntil('the database has ended', () => !isAlive(pid))
    },
    remove: async () => {
      await server?.stop()
      // A process whose postmaster was killed may still write its last.
      const options = { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }
      if (server !== undefined) await rm(dirname(server.dataDirectory), options)
      await rm(homeDirectory, options)
    },
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
