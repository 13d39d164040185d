import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Command } from 'commander'
import type { App } from '../app.js'
import { ConfigError, EmbeddedDatabaseError } from '../base/errors.js'
import { EXIT_CODES, exitCodeOfSignal, stopSignalOf } from '../base/exit-code.js'
import { addSettingFlags, settingFlagsOf, type CommandIo } from './command-io.js'

export function addDatabaseCommand(program: Command, io: CommandIo): void {
  const database = program
    .command('database')
    .description('The embedded PostgreSQL, for psql and BI tools.')
  const add = (
    name: string,
    description: string,
    work: (app: App, isJson: boolean) => Promise<number>,
  ): void => {
    const command = database
      .command(name)
      .description(description)
      .option('--json', 'Print as JSON.')
    addSettingFlags(command).action(async (options: Record<string, unknown>) => {
      await io.withApp(settingFlagsOf(options), (app) => work(app, options.json === true))
    })
  }
  add('start', 'Start it and leave it running.', (app, isJson) => start(app, io, isJson))
  add('stop', 'Stop it; the data stay.', (app, isJson) => stop(app, io, isJson))
  add('url', 'Print its address, password included, for a tool to connect with.', (app, isJson) =>
    printUrl(app, io, isJson),
  )
  const psql = database
    .command('psql')
    .description('Open psql on it (psql itself must be installed).')
  addSettingFlags(psql).action(async (options: Record<string, unknown>) => {
    // In psql, Ctrl-C ends a statement and not the program.
    const isInterruptIgnored = true
    await io.withApp(settingFlagsOf(options), (app) => openPsql(app, io), { isInterruptIgnored })
  })
}

const isOurs = (app: App): void => {
  if (app.config.databaseUrl === undefined) return
  throw new ConfigError([
    {
      setting: 'DATABASE_URL',
      problem:
        'is set, so the embedded database is not in use; unset it to work with the embedded one',
    },
  ])
}

async function start(app: App, io: CommandIo, isJson: boolean): Promise<number> {
  isOurs(app)
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
  if (isJson) io.printJson({ port, dataDirectory })
  else {
    io.print(`The embedded database runs on 127.0.0.1:${port}; its data are in ${dataDirectory}.`)
    io.print(
      '`tracking-sync database url` prints its address, `tracking-sync database stop` ends it.',
    )
  }
  return EXIT_CODES.complete
}

async function stop(app: App, io: CommandIo, isJson: boolean): Promise<number> {
  isOurs(app)
  const { stopEmbeddedDatabase } = await import('../embedded-postgres/embedded-database.js')
  const { homeDirectory, logger } = app
  const outcome = await stopEmbeddedDatabase({ homeDirectory, logger })
  if (isJson) io.printJson({ outcome })
  else io.print(outcome === 'stopped' ? 'The embedded database is stopped.' : 'It was not running.')
  return EXIT_CODES.complete
}

async function runningUrl(app: App): Promise<string> {
  if (app.config.databaseUrl !== undefined) return app.config.databaseUrl
  const { embeddedDatabaseStatus } = await import('../embedded-postgres/embedded-database.js')
  const { homeDirectory, logger } = app
  const status = await embeddedDatabaseStatus({ homeDirectory, logger })
  if (status.url !== undefined) return status.url
  throw new EmbeddedDatabaseError(
    'the embedded database is not running; start it with `tracking-sync database start`',
  )
}

async function printUrl(app: App, io: CommandIo, isJson: boolean): Promise<number> {
  const url = await runningUrl(app)
  if (isJson) io.printJson({ url })
  else io.print(url)
  return EXIT_CODES.complete
}

/**
 * The address goes in the environment of psql, because command lines can be read by everyone on the
 * machine.
 */
async function openPsql(app: App, io: CommandIo): Promise<number> {
  const { url } = await app.openDatabase()
  const { hostname, port, username, password, pathname, searchParams } = new URL(url)
  const method = searchParams.get('require_auth')
  const security = searchParams.get('sslmode')
  const authority = searchParams.get('sslrootcert')
  const environment = await io.environment()
  const child = spawn('psql', [], {
    stdio: 'inherit',
    env: {
      ...environment,
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
      'psql cannot be run; install the PostgreSQL client, or connect another tool with `tracking-sync database url`',
      { cause },
    )
  }
}
