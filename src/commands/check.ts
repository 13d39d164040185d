import type { Command } from 'commander'
import type { App } from '../app.js'
import type { SettingName } from '../config/settings.js'
import {
  ConnectorError,
  IncompleteRunError,
  MigrationError,
  toError,
  WarehouseSchemaError,
} from '../base/errors.js'
import { requireService } from '../config/needed-settings.js'
import { EXIT_CODES, exitCodeOf } from '../base/exit-code.js'
import type { Warehouse } from '../warehouse/connection/warehouse.js'
import { addSettingFlags, settingFlagsOf, type CommandIo } from './command-io.js'
import { paint, type Terminal } from './output/terminal.js'

const SETTINGS: readonly SettingName[] = [
  'apiUrl',
  'allowInsecureApiUrl',
  'requestTimeoutSeconds',
  'webhookUrl',
  'webhookIds',
  'webhookEvents',
]

interface CheckResult {
  readonly name: string
  readonly isOk: boolean
  readonly detail: string
  readonly exitCode: number
}

export function addCheckCommand(program: Command, io: CommandIo): void {
  const command = program
    .command('check')
    .description(
      'Check settings, database, time zone data, schema version, service and, where one is set, our webhook: one line each, with the fix. Changes nothing.',
    )
    .option('--json', 'Print as JSON.')
  addSettingFlags(command, SETTINGS).action(async (options: Record<string, unknown>) => {
    await io.withApp(settingFlagsOf(options), async (app) => {
      const results = await runChecks(app)
      if (options.json === true) io.printJson(results)
      else for (const result of results) io.print(formatResult(app, result, io.terminal))
      return results.find(({ isOk }) => !isOk)?.exitCode ?? EXIT_CODES.complete
    })
  })
}

function formatResult(app: App, { name, isOk, detail }: CheckResult, terminal: Terminal): string {
  const verdict = isOk ? paint('ok  ', 'good', terminal) : paint('FAIL', 'bad', terminal)
  return `${verdict}  ${name.padEnd(9)} ${app.redact(detail)}`
}

/** Each check stands alone: a dead database does not hide a wrong key. */
async function runChecks(app: App): Promise<CheckResult[]> {
  return [
    await attempt('settings', () => checkSettings(app)),
    await attempt('database', () => checkDatabase(app)),
    await attempt('zones', () => checkZones(app)),
    await attempt('schema', () => checkSchema(app)),
    await attempt('service', () => checkService(app)),
    ...(await checkOwnWebhook(app)),
  ]
}

/** Malformed ones have ended the program before. */
function checkSettings(app: App): Promise<string> {
  requireService(app.config)
  return Promise.resolve('complete and well-formed')
}

async function attempt(name: string, work: () => Promise<string>): Promise<CheckResult> {
  try {
    return { name, isOk: true, detail: await work(), exitCode: EXIT_CODES.complete }
  } catch (thrown) {
    if (!(thrown instanceof ConnectorError)) throw thrown
    const detail = toError(thrown).message.replaceAll('\n', '; ')
    return { name, isOk: false, detail, exitCode: exitCodeOf(thrown) }
  }
}

/** The oldest server our statements are made for. */
const OLDEST_SERVER = 140_000

async function checkDatabase(app: App): Promise<string> {
  const { describeExcessRights } = await import('../warehouse/schema/role-rights.js')
  const { isEmbedded } = await app.openDatabase()
  const warehouse = await app.openWarehouse({ isMigrating: false })
  const [row] = await warehouse.query<{
    version: string
    number: number
    role: string
  }>(
    'ask the database for its version',
    `select current_setting('server_version') as version,
    current_setting('server_version_num')::integer as number,
    current_user::text as role`,
  )
  // Nobody else has the password of the embedded one, and nothing else is in it: its owner is the
  // one to work there.
  const excess = isEmbedded ? undefined : await describeExcessRights(warehouse)
  if (excess !== undefined && app.config.strict) throw new WarehouseSchemaError(excess)
  const kind = isEmbedded ? 'embedded PostgreSQL' : 'PostgreSQL'
  const version = row?.version ?? 'of unknown version'
  if ((row?.number ?? 0) < OLDEST_SERVER) {
    throw new WarehouseSchemaError(`${kind} ${version} is too old; use PostgreSQL 14 or later`)
  }
  const warning = excess === undefined ? '' : `; warning: ${excess}`
  return `${kind} ${version}, as ${row?.role ?? 'unknown user'}${warning}`
}

/** They decide every local day. */
async function checkZones(app: App): Promise<string> {
  const { describeZoneData } = await import('../warehouse/rows/zone-data.js')
  return describeZoneData(await app.openWarehouse({ isMigrating: false }))
}

async function checkSchema(app: App): Promise<string> {
  const { readMigrations, readSchemaVersion } =
    await import('../warehouse/schema/run-migrations.js')
  const warehouse = await app.openWarehouse({ isMigrating: false })
  const { version, expected } = await readSchemaVersion(warehouse, await readMigrations())
  if (version === expected) return checkShape(warehouse, version)
  if (version === 0) await refuseLostBookkeeping(warehouse)
  const state = `${warehouse.names.data} is at version ${version} of ${expected}`
  if (app.config.migrate) return `${state}; the next command upgrades it`
  throw new MigrationError(`${state}; run \`tracking-sync migrate\``)
}

/**
 * Tables without a word of how they came there: an upgrade would find its own tables in the way.
 */
async function refuseLostBookkeeping(warehouse: Warehouse): Promise<void> {
  const { names } = warehouse
  const tables = await warehouse.query(
    'look for tables',
    'select from pg_tables where schemaname = $1 limit 1',
    [names.data],
  )
  if (tables.length === 0) return
  throw new WarehouseSchemaError(
    `the tables of ${names.data} are there and their bookkeeping is gone (${names.sync}.migrations); bring ${names.sync} back from a backup, or drop the schemas ${Object.values(names).join(', ')} and run \`tracking-sync backfill\``,
  )
}

/** Differences told at most; the rest are counted. */
const MAX_DIFFERENCES = 10

/** At the right version, and yet somebody may have changed it by hand. */
async function checkShape(warehouse: Warehouse, version: number): Promise<string> {
  const { compareSchema } = await import('../warehouse/schema/compare-schema.js')
  const { broken, foreign } = await compareSchema(warehouse)
  const state = `${warehouse.names.data} is at version ${version}`
  if (broken.length > 0) {
    throw new WarehouseSchemaError(
      `${state}, but was changed: ${listSome(broken)}; put it back as in sql/schema.sql`,
    )
  }
  return foreign.length === 0 ? state : `${state}; not ours and left alone: ${listSome(foreign)}`
}

function listSome(differences: readonly string[]): string {
  const rest = differences.length - MAX_DIFFERENCES
  const told = differences.slice(0, MAX_DIFFERENCES).join(', ')
  return rest > 0 ? `${told} and ${rest} more` : told
}

async function checkService(app: App): Promise<string> {
  const { service, stats } = await app.openService()
  for await (const page of service.listShipments({ pageSize: 1, signal: app.signal })) {
    const total = page.total === undefined ? 'an unknown number of' : String(page.total)
    const skew = Math.round(stats().clockOffsetMs / 1000)
    const clock = Math.abs(skew) > 60 ? `; its clock is ${skew} s from ours` : ''
    return `answers, the key is accepted, ${total} ${page.total === 1 ? 'shipment' : 'shipments'}${clock}`
  }
  return 'answers, the key is accepted'
}

/** No line for those who do without webhooks. */
async function checkOwnWebhook(app: App): Promise<CheckResult[]> {
  const { watchSettingsOf } = await import('../config/needed-settings.js')
  const settings = { ...watchSettingsOf(app.config), isReactivating: false }
  if (settings.url === undefined && settings.ids.length === 0) return []
  return [
    await attempt('webhook', async () => {
      const { checkWebhook } = await import('../webhooks/manage/watch-webhook.js')
      const { service } = await app.openService()
      const { logger, signal } = app
      const report = await checkWebhook({ service, logger, signal, settings })
      const sentences = report.alerts.map(({ sentence }) => sentence)
      if (sentences.length > 0) throw new IncompleteRunError(sentences.join('; '))
      const ids = report.webhooks.map(({ webhookId }) => webhookId).join(', ')
      return [`${ids} is active and sends what we need`, ...report.notes].join('; ')
    }),
  ]
}
