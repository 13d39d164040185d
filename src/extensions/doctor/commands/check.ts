import type { App } from '../../../app.js'
import {
  ConnectorError,
  IncompleteRunError,
  MigrationError,
  toError,
  WarehouseSchemaError,
} from '../../../base/errors.js'
import { EXIT_CODES, exitCodeOf } from '../../../base/exit-code.js'
import { countOf } from '../../../base/phrases.js'
import { describeOtherPath } from '../../../webhooks/receive/receiver-path.js'
import { requireService, watchSettingsOf } from '../../../config/needed-settings.js'
import type { Config } from '../../../config/settings.js'
import type { Warehouse } from '../../../warehouse/connection/warehouse.js'
import { declare, SERVICE_ONLY } from '../../../commands/declare-command.js'

interface CheckResult {
  readonly name: string
  readonly isOk: boolean
  readonly detail: string
  readonly exitCode: number
}

export const check = declare({
  name: 'check',
  help:
    'Check settings, database, time zones, schema, service and, if there is one, our webhook: ' +
    'one line each, with the fix. Changes nothing.',
  settings: [...SERVICE_ONLY, 'webhookUrl', 'webhookIds'],
  run: async (app) => {
    const results = await runChecks(app)
    return {
      data: results,
      text: results.map((result) => ({ ...result, detail: app.redact(result.detail) })),
      exitCode: results.find(({ isOk }) => !isOk)?.exitCode ?? EXIT_CODES.complete,
    }
  },
})

/** Each check is independent: a dead database does not hide a wrong key. */
async function runChecks(app: App): Promise<CheckResult[]> {
  return [
    await attempt('settings', () => checkSettings(app)),
    ...(await checkWarehouse(app)),
    await attempt('service', () => checkService(app)),
    ...(await checkOwnWebhook(app)),
  ]
}

const OF_THE_DATABASE = ['zones', 'schema', 'own SQL'] as const

async function checkWarehouse(app: App): Promise<CheckResult[]> {
  if (!(await app.hasDatabase())) {
    return [await attempt('database', () => Promise.resolve(TO_BE_MADE))]
  }
  const database = await attempt('database', () => checkDatabase(app))
  if (!database.isOk) {
    const detail = 'not tested: the database does not answer'
    return [database, ...OF_THE_DATABASE.map((name) => ({ ...database, name, detail }))]
  }
  return [
    database,
    await attempt('zones', () => checkZones(app)),
    await attempt('schema', () => checkSchema(app)),
    await attempt('own SQL', () => checkReader(app)),
    ...(await checkExtensions(app)),
    ...(await checkDeliveries(app)),
  ]
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

/** A look would create it, and this command changes nothing. */
const TO_BE_MADE = 'none yet: the first run creates the embedded PostgreSQL'

/** Malformed settings have ended the program before. */
async function checkSettings(app: App): Promise<string> {
  requireService(app.config)
  return `complete and well-formed; ${await describePreset(app)}`
}

/** The preset in use, and the settings that override it. */
async function describePreset({ config: { service }, origins }: App): Promise<string> {
  const preset = `preset ${service} (${origins.service})`
  if (service === 'generic') return preset
  const { PRESET_SETTINGS } = await import('../../../config/load.js')
  const { coreSettings } = await import('../../../config/settings.js')
  const given = PRESET_SETTINGS.filter(
    (name) => !['preset', 'default'].includes(origins[name]),
  ).map((name) => `${coreSettings[name].variable} (${origins[name]})`)
  return given.length === 0 ? preset : `${preset}, overridden by ${given.join(', ')}`
}

/** The oldest server that our statements work on. */
const OLDEST_SERVER = 140_000

/** Server, version and login in one line; throws what is wrong. */
export async function checkDatabase(app: App): Promise<string> {
  const { sql } = await import('kysely')
  const { describeExcessRights } = await import('../../../warehouse/schema/roles.js')
  const { isEmbedded } = await app.openDatabase()
  const warehouse = await app.connect()
  const [row] = await warehouse.query(
    'ask the database for its version',
    sql<{
      version: string
      number: number
      role: string
    }>`select current_setting('server_version') as version,
    current_setting('server_version_num')::integer as number,
    current_user::text as role`,
  )
  if (row === undefined) throw new Error('a query without a from clause has one row')
  const server = `${isEmbedded ? 'embedded PostgreSQL' : 'PostgreSQL'} ${row.version}`
  // Only this program has the password of the embedded one.
  const excess = isEmbedded ? undefined : await describeExcessRights(warehouse)
  if (excess !== undefined && app.config.strict) throw new WarehouseSchemaError(excess)
  if (row.number < OLDEST_SERVER) {
    throw new WarehouseSchemaError(`${server} is too old; use PostgreSQL 14 or later`)
  }
  const warning = excess === undefined ? '' : `; warning: ${excess}`
  return `${server}, as ${row.role}${warning}`
}

/** Time zone data decide every local day. */
async function checkZones(app: App): Promise<string> {
  const { describeZoneData } = await import('../zone-data.js')
  return describeZoneData(await app.connect())
}

async function checkSchema(app: App): Promise<string> {
  const { readMigrations, readSchemaVersion } =
    await import('../../../warehouse/schema/run-migrations.js')
  const { isDistributed } = await import('../../accounts/distribute/citus.js')
  const warehouse = await app.connect()
  // Throws where no statement of ours would work.
  await isDistributed(warehouse)
  const { version, expected } = await readSchemaVersion(warehouse, await readMigrations())
  if (version === expected) {
    const { findNeverFilled } = await import('../find-never-filled.js')
    const shape = await checkShape(warehouse, version)
    const { describeRefused, readPasses } = await import('../../../status/read-vitals.js')
    const passes = await readPasses(warehouse, Number.MAX_SAFE_INTEGER)
    const refused = describeRefused(passes)
    const isRefused = (table: string): boolean =>
      passes.some(({ stream, lastOutcome }) => stream === table && lastOutcome === 'not_entitled')
    const isRead = (table: string): boolean => table !== 'raw_events' || app.config.rawEvents
    const empty = (await findNeverFilled(warehouse)).filter(
      (table) => isRead(table) && !isRefused(table),
    )
    return [
      shape,
      ...(refused === undefined ? [] : [refused]),
      ...(empty.length === 0
        ? []
        : [
            `no complete pass ever filled ${empty.join(', ')}: the service sends none, or does not ` +
              'show them to this account',
          ]),
    ].join('; ')
  }
  if (version === 0) {
    const { refuseUnknownTables } = await import('../../../warehouse/schema/shipped-tables.js')
    await refuseUnknownTables(warehouse, true)
  }
  const state = `${warehouse.names.data} is at version ${version} of ${expected}`
  if (app.config.migrate) return `${state}; the next command upgrades it`
  throw new MigrationError(`${state}; run \`tracking-sync migrate\``)
}

/** The login that `query "select …"` uses. */
async function checkReader(app: App): Promise<string> {
  const { describeReader } = await import('../reader-rights.js')
  const { url, readerUrl } = await app.openDatabase()
  return describeReader(await app.connectReader(), { url, isOwn: readerUrl !== undefined })
}

/**
 * Adds a line only if deliveries were refused recently. A dead database, and a schema that lacks
 * the table, have lines of their own.
 */
async function checkDeliveries(app: App): Promise<CheckResult[]> {
  const { describeRefusals } = await import('../describe-refusals.js')
  const result = await attempt('deliveries', async () => describeRefusals(await app.connect()))
  return result.isOk && result.detail !== '' ? [result] : []
}

/** Adds a line only if an extension reports something, or finds a fault. */
async function checkExtensions(app: App): Promise<CheckResult[]> {
  const results: CheckResult[] = []
  for (const { check: own } of app.extensions) {
    if (own === undefined) continue
    const describe = async () => (await own.describe(await app.connect())) ?? ''
    const result = await attempt(own.line, describe)
    if (!result.isOk || result.detail !== '') results.push(result)
  }
  return results
}

/** A schema at the right version may still have been changed by hand. */
async function checkShape(warehouse: Warehouse, version: number): Promise<string> {
  const { compareSchema } = await import('../schema/compare-schema.js')
  const { broken, foreign } = await compareSchema(warehouse)
  const state = `${warehouse.names.data} is at version ${version}`
  if (broken.length > 0) {
    throw new WarehouseSchemaError(
      `${state}, but was changed: ${listSome(broken)}; put it back as in sql/schema.sql`,
    )
  }
  const { findSealedTables } = await import('../../../warehouse/schema/roles.js')
  const sealed = await findSealedTables(warehouse)
  if (sealed.length > 0) {
    throw new WarehouseSchemaError(
      `${state}, but row-level security was switched on from outside for ${listSome(sealed)}, so ` +
        'readers see no rows; run `tracking-sync migrate --roles` as the owner to switch it off',
    )
  }
  return [
    state,
    ...(foreign.length === 0 ? [] : [`not ours and left alone: ${listSome(foreign)}`]),
  ].join('; ')
}

const SHOWN_DIFFERENCES = 10

function listSome(differences: readonly string[]): string {
  const rest = differences.length - SHOWN_DIFFERENCES
  const shown = differences.slice(0, SHOWN_DIFFERENCES).join(', ')
  return rest > 0 ? `${shown} and ${rest} more` : shown
}

/** The service's answer to this key in one line; throws if something is wrong. */
export async function checkService(app: App): Promise<string> {
  const { service, stats } = await app.openService()
  const options = { pageSize: 1, signal: app.signal }
  const through = app.config.httpsProxy === undefined ? '' : ', HTTPS_PROXY is heeded'
  for await (const page of service.listRecords('shipments', options)) {
    const total =
      page.total === undefined ? 'an unknown number of shipments' : countOf(page.total, 'shipment')
    const skew = Math.round(stats().clockOffsetMs / 1000)
    const clock = Math.abs(skew) > 60 ? `; its clock is ${skew} s from ours` : ''
    return `answers, accepts the key, has ${total}${clock}${through}`
  }
  return `answers, accepts the key${through}`
}

/** The path at which the receiver of the account takes deliveries. */
function pathOf({ webhookPath, account }: Config): string {
  return account === undefined ? webhookPath : `${webhookPath}/${account}`
}

/** Adds a line only if a webhook is set. */
async function checkOwnWebhook(app: App): Promise<CheckResult[]> {
  const settings = watchSettingsOf(app.config)
  if (settings.url === undefined && settings.ids.length === 0) return []
  return [
    await attempt('webhook', async () => {
      const { checkWebhook } = await import('../../../webhooks/manage/check-webhooks.js')
      const { service } = await app.openService()
      const report = await checkWebhook({ service, signal: app.signal, settings })
      const sentences = report.alerts.map(({ sentence }) => sentence)
      if (sentences.length > 0) throw new IncompleteRunError(sentences.join('; '))
      const ids = report.webhooks.map(({ webhookId }) => webhookId).join(', ')
      const otherPath = describeOtherPath(settings.url, pathOf(app.config))
      const notes = otherPath === undefined ? [] : [`warning: ${otherPath}`]
      return [`${ids} is active and sends what we need`, ...report.notes, ...notes].join('; ')
    }),
  ]
}
