import type { App } from '../../../app.js'
import { ConfigError, EmbeddedDatabaseError, LeaseHeldError } from '../../../base/errors.js'
import { countOf } from '../../../base/phrases.js'
import { createSleep } from '../../../base/retry.js'
import type { Warehouse } from '../../../warehouse/connection/warehouse.js'
import type { MoveReport } from '../move-warehouse.js'
import type { Answer } from '../../../commands/command-io.js'
import { argument, declare } from '../../../commands/declare-command.js'
import { failpointOf } from '../../../commands/sync.js'
import { configWith } from '../../../config/needed-settings.js'
import type { moveSettings } from '../move-settings.js'

/** Name of our own sessions, to tell them from other processes. */
const SESSION_NAME = 'tracking-sync database move-to'

export const moveTo = declare({
  name: 'move-to',
  help:
    'Move the embedded warehouse to a server: all rows with history and bookkeeping, compared ' +
    'on both sides. A stopped move leaves the target empty. The embedded one stays as it is.',
  takes: {
    address: argument(
      '[url]',
      'Database without tables of ours, without a password in the address. ' +
        'With one: TRACKING_MOVE_TO_URL.',
    ),
  },
  run: async (app, { address }, io) => {
    refuseOtherDatabase(app)
    const url = await targetUrl(app, address)
    await requireEmbedded(app)
    const source = await app.connect({ applicationName: SESSION_NAME })
    await refuseOthers(source)
    const target = await app.connect({ url, applicationName: SESSION_NAME })
    const { moveWarehouse } = await import('../move-warehouse.js')
    const { holdLease } = await import('../../../sync/hold-lease.js')
    const lines = createLines(io.process.stderr)
    const report = await holdLease(
      'database move-to',
      { warehouse: source, logger: app.logger, signal: app.signal },
      (held) =>
        moveWarehouse(held.warehouse, target, {
          signal: held.signal,
          sleep: createSleep(),
          reachFailpoint: failpointOf(app),
          onProgress: lines,
        }),
    )
    return describeMove(report, app)
  },
})

/** Refuses the command for another database than the embedded one. */
export function refuseOtherDatabase({ config }: Pick<App, 'config'>): void {
  if (config.databaseUrl === undefined) return
  const problem = 'is set, so the embedded database is not used; unset it to use the embedded one'
  throw new ConfigError([{ setting: 'DATABASE_URL', problem }])
}

/** Checks the address like DATABASE_URL: all rows go there. */
async function targetUrl({ config }: App, address: string | undefined): Promise<string> {
  const { checkDatabaseLink, databaseUrl } = await import('../../../config/kinds.js')
  const { readEnvironment } = await import('../../../config/load.js')
  const setting = address === undefined ? 'TRACKING_MOVE_TO_URL' : 'the address'
  const refuse = (problem: string): never => {
    throw new ConfigError([{ setting, problem }])
  }
  const { moveToUrl } = configWith<typeof moveSettings>(config)
  if (address !== undefined && moveToUrl !== undefined) {
    refuse('is given, and TRACKING_MOVE_TO_URL is set; use one of them')
  }
  const url = address ?? moveToUrl ?? refuse('is not set; say where to move the warehouse')
  const parsed = databaseUrl.safeParse(url)
  if (!parsed.success) refuse(parsed.error.issues[0]?.message ?? '')
  if (address !== undefined && hasPassword(new URL(address))) {
    refuse(
      'holds a password, which every account of this machine can read on the command line; ' +
        'put the address into TRACKING_MOVE_TO_URL, or the password into PGPASSWORD',
    )
  }
  const { problem } = checkDatabaseLink(new URL(url), {
    isInsecureAllowed: config.allowInsecureDatabase,
    isNodeUnsafe: readEnvironment().NODE_TLS_REJECT_UNAUTHORIZED === '0',
  })
  if (problem !== undefined) refuse(problem)
  return url
}

const hasPassword = ({ password, searchParams }: URL): boolean =>
  password !== '' || searchParams.has('password')

/** Looking for the warehouse must not create one. */
async function requireEmbedded(app: App): Promise<void> {
  const { embeddedDatabaseStatus } = await import('../embedded-database.js')
  const { version } = await embeddedDatabaseStatus(app)
  if (version !== undefined) return
  throw new EmbeddedDatabaseError(
    `there is no embedded database in ${app.homeDirectory}; name its place with TRACKING_HOME`,
  )
}

/** `serve` stores deliveries without a lease, and would continue at the old place. */
async function refuseOthers(source: Warehouse): Promise<void> {
  const { sql } = await import('kysely')
  const [row] = await source.query(
    'look for other commands',
    sql<{ count: number }>`select count(*) as count
from pg_stat_activity
where datname = current_database() and starts_with(application_name, 'tracking-sync')
    and application_name <> ${SESSION_NAME}`,
  )
  if (row === undefined || row.count === 0) return
  throw new LeaseHeldError(
    'another tracking-sync uses the embedded database; stop it first, and `serve` with it',
  )
}

/** One line for each table when it is whole, and now and then for a large one. */
function createLines(stream: NodeJS.WritableStream) {
  let toldAt = performance.now()
  return (table: string, copied: number, rows: number): void => {
    const isTold = copied === rows || performance.now() - toldAt > LINE_EVERY_MS
    if (!isTold) return
    toldAt = performance.now()
    stream.write(`${table}: ${copied} of ${countOf(rows, 'row')}\n`)
  }
}

const LINE_EVERY_MS = 5_000

function describeMove(report: MoveReport, { config, homeDirectory }: App): Answer {
  const { tables, foreign } = report
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  return {
    data: report,
    text: [
      `${countOf(rows, 'row')} of ${countOf(tables.length, 'table')} were copied, and are the same ` +
        'on both sides.',
      ...foreign.map((name) => `${name} is not ours and was not moved.`),
      'Set DATABASE_URL to the new address and start `serve` again, then run ' +
        '`tracking-sync check` and `tracking-sync sync`.',
      'For logins that are not the owner, run `tracking-sync migrate --roles` there' +
        (config.strict ? ', which TRACKING_STRICT needs.' : '.'),
      `The embedded database is as it was. Delete ${homeDirectory} when you no longer want it.`,
    ],
  }
}
