import pg from 'pg'
import { WarehouseSchemaError } from '../../base/errors.js'

/** A statement that takes longer is stuck: our largest batch takes a fraction of a second. */
export const STATEMENT_TIMEOUT_MS = 30_000
const LOCK_TIMEOUT_MS = 5_000
/** Less than the life of a silent lease: the next holder must not wait for a lock. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 45_000

/** We and the server notice a vanished host after about a minute instead of hours. */
export const KEEPALIVE_IDLE_S = 30
const KEEPALIVES = {
  tcp_keepalives_idle: String(KEEPALIVE_IDLE_S),
  tcp_keepalives_interval: '10',
  tcp_keepalives_count: '3',
}

/**
 * A killed process must not leave a long statement and its locks behind. The server checks for its
 * client only with this setting, and refuses it if its platform cannot check.
 */
const WATCH = 'client_connection_check_interval'
const WATCH_INTERVAL = '10s'

/** Settings as `pg_settings` shows them, times in milliseconds. */
export type SessionSettings = Readonly<Record<string, string>>

export interface SessionSettingsOptions {
  readonly statementTimeoutMs?: number | undefined
  readonly isReadOnly?: boolean | undefined
}

export function sessionSettings(options: SessionSettingsOptions): SessionSettings {
  return {
    TimeZone: 'UTC',
    DateStyle: 'ISO, MDY',
    IntervalStyle: 'iso_8601',
    search_path: 'pg_catalog, pg_temp',
    client_encoding: 'UTF8',
    standard_conforming_strings: 'on',
    array_nulls: 'on',
    bytea_output: 'hex',
    extra_float_digits: '1',
    transform_null_equals: 'off',
    quote_all_identifiers: 'off',
    default_transaction_isolation: 'read committed',
    statement_timeout: String(options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS),
    lock_timeout: String(LOCK_TIMEOUT_MS),
    idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION_TIMEOUT_MS),
    // The pool closes idle sessions itself; a session that the server closes fails the next
    // statement.
    idle_session_timeout: '0',
    // Compiling the plan of a large view takes far longer than running it: `attention` over 4,000
    // containers 16 s instead of half a second.
    jit: 'off',
    ...(options.isReadOnly === true ? { default_transaction_read_only: 'on' } : {}),
  }
}

/**
 * How our settings apply on a connection. Our own session is set once. Behind a pooler each
 * transaction may run in another session, so every `begin` carries the settings, and a single
 * statement needs a transaction too.
 */
export interface PreparedSession {
  readonly isShared: boolean
  /** Begins a transaction with our settings. */
  readonly begin: string
}

/**
 * Sets the settings by statement, over those of the role, the database and `options` of the
 * address, and reads back the settings that decide the meaning of a value. Recognizes a pooler: the
 * process that answers is another than the one that the connection named. Throws
 * WarehouseSchemaError if a setting does not hold: nothing may be written then.
 */
export async function prepareSession(
  client: pg.ClientBase,
  wanted: SessionSettings,
  limitMs: number,
): Promise<PreparedSession> {
  const ask = async <Row extends object>(text: string, values?: readonly unknown[]) => {
    const config = { text, query_timeout: limitMs, ...(values && { values: [...values] }) }
    return (await client.query<Row>(config)).rows
  }
  const isShared = await setUnlessShared(client, ask, { ...wanted, ...KEEPALIVES })
  const needed = isShared ? forOneTransaction(wanted) : wanted
  const begin = isShared ? await beginShared(client, ask, needed) : 'begin'
  const found = await ask<{ name: string; setting: string }>(
    'select name, setting from pg_catalog.pg_settings where name = any ($1::text[])',
    [[...MEANING]],
  )
  if (isShared) await ask('rollback')
  else await ask(`set ${WATCH} = '${WATCH_INTERVAL}'`).catch(() => undefined)
  refuseOthers(needed, found)
  return { isShared, begin }
}

type Ask = <Row extends object>(text: string, values?: readonly unknown[]) => Promise<Row[]>

/** One statement that leaves nothing behind in a shared session. */
async function setUnlessShared(
  client: pg.ClientBase,
  ask: Ask,
  settings: SessionSettings,
): Promise<boolean> {
  const { processID = null } = client as { readonly processID?: number | null }
  const [row] = await ask<{ isShared: boolean }>(
    `select
    pg_catalog.pg_backend_pid() operator(pg_catalog.<>) $1::pg_catalog.int4 as "isShared",
    pg_catalog.count(pg_catalog.set_config(
        wanted.key, wanted.value, pg_catalog.pg_backend_pid() operator(pg_catalog.<>) $1::pg_catalog.int4
    ))
from pg_catalog.jsonb_each_text($2::pg_catalog.jsonb) as wanted`,
    [processID ?? 0, JSON.stringify(settings)],
  )
  return row?.isShared !== false
}

/** Leaves a transaction with our settings open. */
async function beginShared(
  client: pg.ClientBase,
  ask: Ask,
  needed: SessionSettings,
): Promise<string> {
  const settings = { ...addressOptions(client), ...needed }
  const watched = beginWith({ ...settings, [WATCH]: WATCH_INTERVAL })
  try {
    await ask(watched)
    return watched
  } catch {
    await ask('rollback')
  }
  const unwatched = beginWith(settings)
  await ask(unwatched)
  return unwatched
}

/** A transaction that has begun ignores defaults. */
function forOneTransaction(settings: SessionSettings): SessionSettings {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [
      name.replace(/^default_(?=trans)/, ''),
      value,
    ]),
  )
}

/** One message, so one round trip. All of it is constant except the address's own options. */
function beginWith(settings: SessionSettings): string {
  const assignments = Object.entries(settings).map(
    ([name, value]) =>
      `pg_catalog.set_config(${pg.escapeLiteral(name)}, ${pg.escapeLiteral(value)}, true)`,
  )
  return `begin isolation level read committed; select ${assignments.join(', ')}`
}

/** Settings that decide how texts become values and values become texts. */
const MEANING = new Set([
  'TimeZone',
  'DateStyle',
  'IntervalStyle',
  'search_path',
  'client_encoding',
  'standard_conforming_strings',
  'transform_null_equals',
])

/** `-c name=value` and `--name=value` of the address, which a pooler may have dropped. */
function addressOptions(client: pg.ClientBase): SessionSettings {
  const { connectionParameters } = client as {
    readonly connectionParameters?: { readonly options?: unknown }
  }
  const text = connectionParameters?.options
  if (typeof text !== 'string') return {}
  const found = text.matchAll(/(?:-c\s*|--)([\w.-]+)=((?:\\.|\S)*)/g)
  const settings = [...found].map(([, name = '', value = '']): [string, string] => [
    name.replaceAll('-', '_'),
    value.replace(/\\(.)/g, '$1'),
  ])
  return forOneTransaction(Object.fromEntries(settings))
}

function refuseOthers(
  wanted: SessionSettings,
  found: readonly { readonly name: string; readonly setting: string }[],
): void {
  const settings = new Map(found.map(({ name, setting }) => [name, setting]))
  const others = Object.entries(wanted).filter(
    ([name, value]) => MEANING.has(name) && settings.get(name) !== value,
  )
  if (others.length === 0) return
  const list = others.map(
    ([name, value]) => `${name} is ${settings.get(name) ?? 'unknown'} and not ${value}`,
  )
  throw new WarehouseSchemaError(
    `the session of the database does not keep its settings: ${list.join(', ')}; times would be ` +
      'wrong, so nothing is done. Connect to PostgreSQL itself, or through a pooler that passes ' +
      'settings on',
  )
}
