import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Command } from 'commander'
import type { App } from '../app.js'
import { ConfigError, EmbeddedDatabaseError } from '../base/errors.js'
import { EXIT_CODES, exitCodeOfSignal, stopSignalOf } from '../base/exit-code.js'
import type { CommandIo } from './command-io.js'
import { declare } from './declare-command.js'

export function addDatabaseCommand(program: Command, io: CommandIo): void {
  const group = program
    .command('database')
    .description('The embedded PostgreSQL, for psql and BI tools.')
  declare(group, io, {
    name: 'start',
    help: 'Start it and leave it running.',
    run: async (app, options) => {
      refuseOtherDatabase(app)
      const { startEmbeddedDatabase } = await import('../embedded-postgres/embedded-database.js')
      const { homeDirectory, logger, config } = app
      const running = await startEmbeddedDatabase({
        homeDirectory,
        logger,
        port: config.databasePort,
        keepRunning: true,
      })
      await running.stop()
      const { port, dataDirectory } = running
      io.show(options, { port, dataDirectory }, () =>
        [
          `The embedded database runs on 127.0.0.1:${port}; its data are in ${dataDirectory}.`,
          '`tracking-sync database url` prints its address, ' +
            '`tracking-sync database stop` stops it.',
        ].join('\n'),
      )
    },
  })
  declare(group, io, {
    name: 'stop',
    help: 'Stop it and keep its data.',
    run: async (app, options) => {
      refuseOtherDatabase(app)
      const { stopEmbeddedDatabase } = await import('../embedded-postgres/embedded-database.js')
      const { homeDirectory, logger } = app
      const outcome = await stopEmbeddedDatabase({ homeDirectory, logger })
      io.show(options, { outcome }, () =>
        outcome === 'stopped' ? 'The embedded database is stopped.' : 'It was not running.',
      )
    },
  })
  declare(group, io, {
    name: 'url',
    help: 'Print its address, password included, for a tool to connect with.',
    run: async (app, options) => {
      const url = await runningUrl(app)
      io.show(options, { url }, () => url)
    },
  })
  declare(group, io, {
    name: 'psql',
    help: 'Open psql on it (psql itself must be installed).',
    json: false,
    // In psql, Ctrl-C ends a statement and not the program.
    isInterruptIgnored: true,
    run: openPsql,
  })
}

function refuseOtherDatabase(app: App): void {
  if (app.config.databaseUrl === undefined) return
  const problem = 'is set, so the embedded database is not used; unset it to work with that one'
  throw new ConfigError([{ setting: 'DATABASE_URL', problem }])
}

async function runningUrl({ config, homeDirectory, logger }: App): Promise<string> {
  if (config.databaseUrl !== undefined) return config.databaseUrl
  const { embeddedDatabaseStatus } = await import('../embedded-postgres/embedded-database.js')
  const status = await embeddedDatabaseStatus({ homeDirectory, logger })
  if (status.url !== undefined) return status.url
  throw new EmbeddedDatabaseError(
    'the embedded database is not running; start it with `tracking-sync database start`',
  )
}

/** The address goes into psql's environment: everyone on a machine can read command lines. */
async function openPsql(app: App): Promise<number> {
  const { readEnvironment } = await import('../config/load.js')
  const { url } = await app.openDatabase()
  const { hostname, port, username, password, pathname, searchParams } = new URL(url)
  const method = searchParams.get('require_auth')
  const security = searchParams.get('sslmode')
  const authority = searchParams.get('sslrootcert')
  const child = spawn('psql', [], {
    stdio: 'inherit',
    env: {
      ...readEnvironment(),
      PGHOST: hostname,
      PGPORT: port === '' ? '5432' : port,
      PGUSER: decodeURIComponent(username),
      PGPASSWORD: decodeURIComponent(password),
      PGDATABASE: decodeURIComponent(pathname.slice(1)),
      ...(method === null ? {} : { PGREQUIREAUTH: method }),
      ...(security === null ? {} : { PGSSLMODE: security }),
      ...(authority === null ? {} : { PGSSLROOTCERT: authority }),
      PGOPTIONS: `-c search_path=${app.config.schema},${app.config.schema}_analytics`,
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
