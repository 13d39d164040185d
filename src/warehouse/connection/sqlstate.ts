import pg from 'pg'
import {
  ConnectorError,
  WarehouseConflictError,
  WarehouseDataError,
  WarehouseSchemaError,
  WarehouseUnavailableError,
  toError,
  type ErrorContext,
} from '../../base/errors.js'

type WarehouseErrorClass = new (
  message: string,
  options: { readonly cause: unknown; readonly context: ErrorContext },
) => ConnectorError

interface Rule {
  /** A SQLSTATE, or its first characters. */
  readonly prefix: string
  /** Undefined for any severity. */
  readonly severity?: 'ERROR'
  /** Undefined for any message. */
  readonly words?: string
  readonly error: WarehouseErrorClass
  readonly advice: string
}

/** Shown only after the last retry. */
const TRY_AGAIN =
  'nothing was written; see what else works in the database, then run the command again'

const CHECK_REACHABLE = 'check that PostgreSQL runs and DATABASE_URL points to it'

const CHECK_LOGIN =
  'check user and password in DATABASE_URL, or in TRACKING_READER_URL where your own SQL is asked'

const SLOW = 'the statement took too long: look for locks or load, and run the command again'

const OUR_FAULT =
  'PostgreSQL runs but refuses this statement: please report it as a fault of tracking-sync'

/** SQLSTATE → what happens next. The first fitting rule applies: exact codes before classes. */
const RULES: readonly Rule[] = [
  // 40001 serialization_failure, 40P01 deadlock_detected, 55P03 lock_not_available
  { prefix: '40001', error: WarehouseConflictError, advice: TRY_AGAIN },
  { prefix: '40P01', error: WarehouseConflictError, advice: TRY_AGAIN },
  { prefix: '55P03', error: WarehouseConflictError, advice: TRY_AGAIN },
  // 25006 read_only_sql_transaction: a standby after a failover, or a default of the login
  {
    prefix: '25006',
    error: WarehouseUnavailableError,
    advice:
      'it takes no writes: a standby, so connect to the primary server; or ' +
      'default_transaction_read_only is on for this login or database, which providers set on a ' +
      'full disk, so reset it (`alter role … reset default_transaction_read_only`)',
  },
  // 25P04 transaction_timeout, 57P05 idle_session_timeout: limits of the login, not an outage
  {
    prefix: '25P04',
    error: WarehouseSchemaError,
    advice:
      'transaction_timeout of this login is too short for our batches: ' +
      '`alter role … set transaction_timeout = 0`',
  },
  {
    prefix: '57P05',
    error: WarehouseUnavailableError,
    advice:
      'idle_session_timeout of this login ended a session that waited: ' +
      '`alter role … set idle_session_timeout = 0`',
  },
  // 08P01 protocol_violation of one statement, as by too many parameters. PgBouncer uses it, FATAL,
  // for its own errors.
  { prefix: '08P01', severity: 'ERROR', error: WarehouseDataError, advice: OUR_FAULT },
  { prefix: '08P01', error: WarehouseUnavailableError, advice: 'see the log of the pooler' },
  // 08* connection_exception, 57P0* admin_shutdown, crash_shutdown, cannot_connect_now
  { prefix: '08', error: WarehouseUnavailableError, advice: CHECK_REACHABLE },
  { prefix: '57P0', error: WarehouseUnavailableError, advice: CHECK_REACHABLE },
  // 53300 too_many_connections, 53100 disk_full and the rest of insufficient_resources
  {
    prefix: '53300',
    error: WarehouseUnavailableError,
    advice: 'close idle connections, or raise max_connections',
  },
  {
    prefix: '53100',
    error: WarehouseUnavailableError,
    advice: 'give the server disk, or free room on it',
  },
  { prefix: '53', error: WarehouseUnavailableError, advice: 'give the server disk or memory' },
  // 25P03 idle_in_transaction_session_timeout: this process was stopped or very slow
  { prefix: '25P03', error: WarehouseUnavailableError, advice: TRY_AGAIN },
  // 57014 query_canceled by statement_timeout
  { prefix: '57014', error: WarehouseUnavailableError, advice: SLOW },
  // 28* invalid authorization, 3D000 no such database, 42501 insufficient_privilege
  {
    prefix: '28',
    error: WarehouseSchemaError,
    advice: CHECK_LOGIN,
  },
  {
    prefix: '3D000',
    error: WarehouseSchemaError,
    advice: 'create the database, or correct its name',
  },
  {
    prefix: '42501',
    words: 'row-level security',
    error: WarehouseSchemaError,
    advice:
      'it was switched on for the tables from outside: their owner runs ' +
      '`tracking-sync migrate --roles`, which switches it off; an event trigger that forces it on ' +
      'their owner has to leave them out',
  },
  {
    prefix: '42501',
    error: WarehouseSchemaError,
    advice: 'use a login that may, or have its owner grant it (`tracking-sync migrate --roles`)',
  },
  // 42* undefined table, column, function
  { prefix: '42', error: WarehouseSchemaError, advice: 'run `tracking-sync migrate`' },
  { prefix: '3F000', error: WarehouseSchemaError, advice: 'run `tracking-sync migrate`' },
  // 22* data_exception, 23* integrity_constraint_violation, 54* program_limit_exceeded (a value too
  // large)
  { prefix: '22', error: WarehouseDataError, advice: 'the message names the value' },
  { prefix: '23', error: WarehouseDataError, advice: 'the message names the constraint' },
  { prefix: '54', error: WarehouseDataError, advice: 'the message names the limit' },
]

/** Errors of the socket, before there is a SQLSTATE. */
const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
])

/**
 * Wraps an error of `pg` into the taxonomy, once, at this boundary. `action` is the work in hand
 * ("write containers"). Keeps the server's message but not its `detail`, which can hold row values.
 */
export function toWarehouseError(thrown: unknown, action: string): Error {
  if (thrown instanceof ConnectorError) return thrown
  const error = toError(thrown)
  const code = errorCode(error)
  const wrap = (Class: WarehouseErrorClass, text: string): Error =>
    new Class(`${action}: ${text}`, { cause: error, context: { action, code } })
  const pooling = poolerProblem(error)
  if (pooling !== undefined) return wrap(WarehouseSchemaError, `${error.message}; ${pooling}`)
  const rule = findRule(error, code)
  if (rule !== undefined) {
    return wrap(rule.error, `PostgreSQL says "${error.message}" (${code ?? ''}); ${rule.advice}`)
  }
  const distrust = linkProblem(error, code)
  if (distrust !== undefined) return wrap(WarehouseSchemaError, `${error.message}; ${distrust}`)
  if (isConnectionFailure(error, code)) {
    const reason = error.message === '' ? (code ?? 'no connection') : error.message
    return wrap(WarehouseUnavailableError, `${reason}; ${CHECK_REACHABLE}`)
  }
  // Our own code threw the rest inside a transaction: a bug stays a bug.
  if (!(error instanceof pg.DatabaseError)) return error
  return wrap(WarehouseSchemaError, `${error.message} (${code ?? 'no code'})`)
}

/** Advice for settings with which a pooler never works. It has one code for all its errors. */
function poolerProblem(error: Error): string | undefined {
  if (!(error instanceof pg.DatabaseError) || error.code !== '08P01') return undefined
  if (error.message.includes('statement pooling')) {
    return 'transactions are needed: set pool_mode = transaction, or session, at the pooler'
  }
  if (/authentication failed|no such user/.test(error.message)) {
    return `${CHECK_LOGIN}, and the list of users of the pooler`
  }
  return error.message.startsWith('unsupported startup parameter')
    ? 'take it out of DATABASE_URL, or let the pooler pass over it (ignore_startup_parameters)'
    : undefined
}

function findRule(error: Error, code: string | undefined): Rule | undefined {
  if (!(error instanceof pg.DatabaseError)) return undefined
  return RULES.find(
    ({ prefix, severity = error.severity, words = '' }) =>
      code?.startsWith(prefix) === true &&
      severity === error.severity &&
      error.message.includes(words),
  )
}

function errorCode(error: Error): string | undefined {
  if (!('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

const CERTIFICATE =
  /^(?:CERT_|ERR_TLS_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(?:GET|VERIFY|DECRYPT|DECODE)_|HOSTNAME_MISMATCH|INVALID_CA)/

/** Advice for a link that waiting does not mend: TLS and its files. Else undefined. */
function linkProblem(error: Error, code: string | undefined): string | undefined {
  if (code !== undefined && CERTIFICATE.test(code)) {
    return (
      `the server's certificate is not trusted (${code}): connect by the name it is made for, ` +
      'and name its authority with sslrootcert in DATABASE_URL'
    )
  }
  if (error.message === 'The server does not support SSL connections') {
    return 'switch TLS on at the server'
  }
  const isFile = 'syscall' in error && error.syscall === 'open'
  return isFile ? 'check sslrootcert, sslcert and sslkey in DATABASE_URL' : undefined
}

/** `pg` reports some lost or refused connections without a code, in its own words. */
const PG_CONNECTION_WORDS =
  /^(?:Connection terminated|timeout exceeded|Query read timeout|Client has encountered|Client was closed)/

function isConnectionFailure(error: Error, code: string | undefined): boolean {
  if (code !== undefined && UNREACHABLE.has(code)) return true
  if (error instanceof AggregateError) return true
  // The socket of a server on this machine is missing or forbidden.
  if ('syscall' in error && error.syscall === 'connect') return true
  return PG_CONNECTION_WORDS.test(error.message)
}
