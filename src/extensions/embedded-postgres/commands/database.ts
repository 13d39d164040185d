import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { App } from '../../../app.js'
import { EmbeddedDatabaseError } from '../../../base/errors.js'
import { EXIT_CODES, exitCodeOfSignal, stopSignalOf } from '../../../base/exit-code.js'
import { moveTo, refuseOtherDatabase } from './database-move.js'
import { declare, group, type AddCommand } from '../../../commands/declare-command.js'

const server = () => import('../embedded-database.js')

const start = declare({
  name: 'start',
  isForAccount: false,
  help: 'Start it and leave it running.',
  run: async (app) => {
    refuseOtherDatabase(app)
    const { startEmbeddedDatabase } = await server()
    const { homeDirectory, logger } = app
    const running = await startEmbeddedDatabase({
      homeDirectory,
      logger,
      keepRunning: true,
    })
    await running.stop()
    const { port, dataDirectory } = running
    return {
      data: { port, dataDirectory },
      text: [
        `The embedded database runs on 127.0.0.1:${port}; its data are in ${dataDirectory}.`,
        '`tracking-sync database url` prints its address, `tracking-sync database stop` stops it.',
      ],
    }
  },
})

const stop = declare({
  name: 'stop',
  isForAccount: false,
  help: 'Stop it and keep its data.',
  run: async (app) => {
    refuseOtherDatabase(app)
    const { stopEmbeddedDatabase } = await server()
    const outcome = await stopEmbeddedDatabase(app)
    const isStopped = outcome === 'stopped'
    return {
      data: { outcome },
      text: [isStopped ? 'The embedded database is stopped.' : 'It was not running.'],
    }
  },
})

const url = declare({
  name: 'url',
  isForAccount: false,
  help: 'Print its address, password included, for a tool to connect with.',
  run: async (app) => {
    const address =
      app.config.databaseUrl ?? (await (await server()).embeddedDatabaseStatus(app)).url
    if (address !== undefined) return { data: { url: address }, text: [address] }
    throw new EmbeddedDatabaseError(
      'the embedded database is not running; start it with `tracking-sync database start`',
    )
  },
})

const psql = declare({
  name: 'psql',
  isForAccount: false,
  help: 'Open psql on it (psql itself must be installed).',
  json: false,
  // In psql, Ctrl-C ends a statement and not the program.
  isInterruptIgnored: true,
  run: openPsql,
})

/** `others`: commands of other extensions about where rows are kept. */
export function database(others: readonly AddCommand[]): AddCommand {
  const help = 'The embedded PostgreSQL, stored views, and the nodes of Citus.'
  return group('database', help, [start, stop, url, psql, moveTo, ...others])
}

/** The variables that psql reads, by the parameter of the address with the same meaning. */
const PSQL_VARIABLES = {
  require_auth: 'PGREQUIREAUTH',
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
}

/** These apply if the address leaves something out, as for every connection of ours. */
const LOGIN_VARIABLES = ['PGUSER', 'PGPASSWORD', 'PGPASSFILE']

/** The address goes into psql's environment: everyone on a machine can read command lines. */
async function openPsql(app: App): Promise<number> {
  const { readEnvironment } = await import('../../../config/load.js')
  const address = new URL((await app.openDatabase()).url)
  const { hostname, port, username, password, pathname, searchParams } = address
  const { schema } = app.config
  // A service or a mode of another database would win over the address.
  const own = Object.fromEntries(
    Object.entries(readEnvironment()).filter(
      ([name]) => !name.startsWith('PG') || LOGIN_VARIABLES.includes(name),
    ),
  )
  const child = spawn('psql', [], {
    stdio: 'inherit',
    env: {
      ...own,
      PGHOST: hostname,
      PGPORT: port === '' ? '5432' : port,
      ...(username === '' ? {} : { PGUSER: decodeURIComponent(username) }),
      ...(password === '' ? {} : { PGPASSWORD: decodeURIComponent(password) }),
      PGDATABASE: decodeURIComponent(pathname.slice(1)),
      ...Object.fromEntries(
        Object.entries(PSQL_VARIABLES).flatMap(([parameter, variable]) => {
          const value = searchParams.get(parameter)
          return value === null ? [] : [[variable, value]]
        }),
      ),
      PGOPTIONS: `-c search_path=${schema},${schema}_analytics`,
    },
  })
  const forward = (): void => {
    child.kill(stopSignalOf(app.signal.reason))
  }
  if (app.signal.aborted) forward()
  app.signal.addEventListener('abort', forward, { once: true })
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
    const stopSignal = stopSignalOf(app.signal.aborted ? app.signal.reason : signal)
    if (stopSignal !== undefined) return exitCodeOfSignal(stopSignal)
    return code ?? EXIT_CODES.bug
  } catch (cause) {
    throw new EmbeddedDatabaseError(
      'psql cannot be run; install the PostgreSQL client, or connect another tool with the ' +
        'address that `tracking-sync database url` prints',
      { cause },
    )
  }
}
