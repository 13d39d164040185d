/**
 * Errors are sorted by what the caller must do next (`fate`), not by the library that threw. Wrap
 * once at the boundary (api, warehouse, database) with `cause`; switch on `fate` or `code`, never
 * on a message. A message says what, where and the next step, and holds no secret and no payload.
 */

export type Fate = 'stop' | 'retry' | 'skip' | 'quarantine'

export type ErrorContext = Readonly<Record<string, unknown>>

export interface ConnectorErrorOptions {
  readonly cause?: unknown
  /** Facts for the log; values must be safe to print. */
  readonly context?: ErrorContext
}

export abstract class ConnectorError extends Error {
  abstract readonly code: string
  readonly fate: Fate = 'stop'
  readonly context: ErrorContext

  constructor(message: string, options: ConnectorErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = new.target.name
    this.context = options.context ?? {}
  }
}

/** One wrong setting: which one, and what to do about it. Never holds the value of a secret. */
export interface ConfigProblem {
  readonly setting: string
  readonly problem: string
}

/** The operator must change a setting or a command line. Lists all problems at once. */
export class ConfigError extends ConnectorError {
  readonly code = 'config'
  readonly problems: readonly ConfigProblem[]

  constructor(problems: readonly ConfigProblem[], options: ConnectorErrorOptions = {}) {
    super(problems.map(({ setting, problem }) => `${setting} ${problem}`).join('\n'), options)
    this.problems = problems
  }
}

/** 401 or 403: the key is wrong, revoked, or lacks a permission. Never retried. */
export class ApiAuthError extends ConnectorError {
  readonly code = 'api_auth'
}

abstract class ApiRetryError extends ConnectorError {
  override readonly fate = 'retry'
  /** The wait of the service's `Retry-After`; undefined when the header is missing or unusable. */
  readonly retryAfterMs: number | undefined

  constructor(
    message: string,
    options: ConnectorErrorOptions & { readonly retryAfterMs?: number | undefined } = {},
  ) {
    super(message, options)
    this.retryAfterMs = options.retryAfterMs
  }
}

/** 429. The wait that the service asks for is the minimum before the next attempt. */
export class ApiRateLimitedError extends ApiRetryError {
  readonly code = 'api_rate_limited'
}

/** 5xx, 408, a timeout, a cut connection, or a body that is not a JSON:API document. */
export class ApiUnavailableError extends ApiRetryError {
  readonly code = 'api_unavailable'
}

/** The connection cannot work as configured: a bad certificate or a wrong host name. */
export class ApiConnectionError extends ConnectorError {
  readonly code = 'api_connection'
}

/** 404: the record is gone at the source. */
export class ApiNotFoundError extends ConnectorError {
  readonly code = 'api_not_found'
  override readonly fate = 'skip'
  /** Start of the request on the source's clock; undefined when it was not asked. */
  readonly observedAt: Date | undefined

  constructor(
    message: string,
    options: ConnectorErrorOptions & { readonly observedAt?: Date | undefined } = {},
  ) {
    super(message, options)
    this.observedAt = options.observedAt
  }
}

/** Another 4xx. Its context holds method, path, status and the JSON:API errors. */
export class ApiRequestError extends ConnectorError {
  readonly code = 'api_request'
  readonly status: number

  constructor(message: string, options: ConnectorErrorOptions & { readonly status: number }) {
    super(message, options)
    this.status = options.status
  }
}

/** An unsafe answer: a link to another origin, a redirect, or more bytes than the limit. */
export class ApiRefusedError extends ConnectorError {
  readonly code = 'api_refused'
}

/** The paging does not end: a repeated link, or pages without new records. */
export class PaginationLoopError extends ConnectorError {
  readonly code = 'pagination_loop'
}

/** A record cannot become a row. Costs only that record. */
export class ApiContractError extends ConnectorError {
  readonly code = 'api_contract'
  override readonly fate = 'quarantine'
  /** A JSON pointer into the record. */
  readonly pointer: string

  constructor(message: string, options: ConnectorErrorOptions & { readonly pointer: string }) {
    super(message, options)
    this.pointer = options.pointer
  }
}

/** PostgreSQL cannot be reached or is shutting down (SQLSTATE 08*, 53300, 57P0*). */
export class WarehouseUnavailableError extends ConnectorError {
  readonly code = 'warehouse_unavailable'
  override readonly fate = 'retry'
}

/** A deadlock or a serialization failure (40001, 40P01, 55P03): repeat the whole batch. */
export class WarehouseConflictError extends ConnectorError {
  readonly code = 'warehouse_conflict'
  override readonly fate = 'retry'
}

/** A value PostgreSQL refused (22*, 23*). */
export class WarehouseDataError extends ConnectorError {
  readonly code = 'warehouse_data'
  override readonly fate = 'quarantine'
}

/** A missing table, column or grant (42*, 28*, 3D*): run `migrate`, or fix the grants. */
export class WarehouseSchemaError extends ConnectorError {
  readonly code = 'warehouse_schema'
}

/** A migration failed or was edited, or the database is newer than the program. */
export class MigrationError extends ConnectorError {
  readonly code = 'migration'
}

/** The embedded database cannot be prepared, started or stopped. */
export class EmbeddedDatabaseError extends ConnectorError {
  readonly code = 'embedded_database'
}

/** The run ended, but not everything was seen: an incomplete pass, too much in quarantine. */
export class IncompleteRunError extends ConnectorError {
  readonly code = 'incomplete_run'
}

/** Another run holds the lease. */
export class LeaseHeldError extends ConnectorError {
  readonly code = 'lease_held'
}

/** This run no longer holds the lease and must not write: another may write now. */
export class LeaseLostError extends ConnectorError {
  readonly code = 'lease_lost'
}

/** An answer to one request that says nothing of the account or the service as a whole. */
export function isAboutOneRecord(thrown: unknown): boolean {
  if (thrown instanceof ApiAuthError) return thrown.context.status === 403
  if (thrown instanceof ApiUnavailableError) return thrown.context.wasSent !== false
  return [
    ApiNotFoundError,
    ApiRequestError,
    ApiContractError,
    ApiRefusedError,
    PaginationLoopError,
  ].some((type) => thrown instanceof type)
}

/** Any thrown value as an `Error`, so that a log line always has a message and a stack. */
export function toError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown
  return new Error(typeof thrown === 'string' ? thrown : `thrown: ${typeof thrown}`, {
    cause: thrown,
  })
}
