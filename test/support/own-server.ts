import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  startEmbeddedDatabase,
  type EmbeddedDatabase,
} from '../../src/extensions/embedded-postgres/embedded-database.js'
import { isAlive } from '../../src/extensions/embedded-postgres/processes.js'
import { silentLogger } from '../../src/base/logger.js'
import { prepareHome } from './prepared-home.js'
import { waitUntil } from './run-cli.js'

export type OwnServer = Awaited<ReturnType<typeof openOwnServer>>

/**
 * A PostgreSQL that a test has for itself, to stop, crash and start again, with settings beside
 * those of an embedded database. It keeps what it has committed as any server does.
 */
export async function openOwnServer({
  settings,
}: { readonly settings?: Readonly<Record<string, string>> } = {}) {
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
    /** The same address each time. */
    start: async (): Promise<EmbeddedDatabase> => {
      server = await startEmbeddedDatabase({
        homeDirectory,
        logger: silentLogger,
        extraSettings: settings,
      })
      return server
    },
    /**
     * Sends a signal to the postmaster and waits for its end: SIGINT is a fast shutdown, SIGQUIT an
     * immediate one, SIGKILL a crash.
     */
    end: async (signal: NodeJS.Signals): Promise<void> => {
      const pid = await postmasterPid()
      process.kill(pid, signal)
      await waitUntil('the database has ended', async () => !(await isAlive(pid)))
    },
    /** Stops it, however it is, and takes its files away. */
    remove: async (): Promise<void> => {
      await server?.stop()
      // A process whose postmaster was killed may still write its last.
      const options = { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }
      if (server !== undefined) await rm(dirname(server.dataDirectory), options)
      await rm(homeDirectory, options)
    },
  }
}
