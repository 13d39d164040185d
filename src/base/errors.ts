/**
 * The error taxonomy. Errors are sorted by what the caller must do next (`fate`), never by which
 * library threw. Wrap once at the boundary (api, warehouse, database) with `cause`; callers switch
 * on `fate` or `code` and nobody matches message text. A message says what, where and the next
 * step; it never holds a secret or a whole payload.
 */

export type Fate = 'stop' | 'retry' | 'skip' | 'quarantine' | 'reject'

export type ErrorContext = Readonly<Record<string, unknown>>

export interface ConnectorErrorOptions {
  readonly cause?: unknown
  /** Facts for the log; values must be safe to print. */
  readonly context?: ErrorContext
}

export abstract class ConnectorError extends Error {
  abstract readonly code: string
  abstract readonly fate: Fate
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
  readonly fate = 'stop'
  readonly problems: readonly ConfigProblem[]

  constructor(problems: readonly ConfigProblem[], options: ConnectorErrorOptions = {}) {
    super(problems.map(({ setting, problem }) => `${setting}: ${problem}`).join('\n'), options)
    this.problems = problems
  }
}

/** 401 or 403: the key is wrong, revoked, or lacks a permission. Never retried. */
export class ApiAuthError extends ConnectorError {
  readonly code = 'api_auth'
  readonly fate = 'stop'
}

/** 429. The service's word (`retryAfterMs`) is the floor of the next wait. */
export class ApiRateLimitedError extends ConnectorError {
  readonly code = 'api_rate_limited'
  readonly fate = 'retry'
  /**
   * Milliseconds the service asked for, as it said them; undefined when it said nothing usable. The
   * retry policy limits them.
   */
  readonly retryAfterMs: number | undefined

  constructor(
    message: string,
    options: ConnectorErrorOptions & { readonly retryAfterMs?: number | undefined } = {},
  ) {
    super(message, options)
    this.retryAfterMs = options.retryAfterMs
  }
}

/**
 * 5xx, 408, a timeout, a cut connection, or a body that is no JSON:API document: try again, a
 * bounded number of times.
 */
export class ApiUnavailableError extends ConnectorError {
  readonly code = 'api_unavailable'
  readonly fate = 'retry'
  /** A `Retry-After` sent with a 503, as `ApiRateLimitedError.retryAfterMs`. */
  readonly retryAfterMs: number | undefined

  constructor(
    message: string,
    options: ConnectorErrorOptions & { readonly retryAfterMs?: number | undefined } = {},
  ) {
    super(message, options)
    this.retryAfterMs = options.retryAfterMs
  }
}

/**
 * The connection can never work as configured: bad certificate, wrong host name. Not retried, never
 * made insecure.
 */
export class ApiConnectionError extends ConnectorError {
  readonly code = 'api_connection'
  readonly fate = 'stop'
}

/** 404: the record is gone at the source. */
export class ApiNotFoundError extends ConnectorError {
  readonly code = 'api_not_found'
  readonly fate = 'skip'
  /**
   * Start of the request on the source's clock: then it was gone. Undefined where no answer said
   * so.
   */
  readonly observedAt: Date | undefined

  constructor(
    message: string,
    options: ConnectorErrorOptions & { readonly observedAt?: Date | undefined } = {},
  ) {
    super(message, options)
    this.observedAt = options.observedAt
  }
}

/**
 * Another 4xx: the service did not accept what we asked. Carries method, path, status and the
 * JSON:API errors.
 */
export class ApiRequestError extends ConnectorError {
  readonly code = 'api_request'
  readonly fate = 'stop'
  readonly status: number

  constructor(message: string, options: ConnectorErrorOptions & { readonly status: number }) {
    super(message, options)
    this.status = options.status
  }
}

/**
 * The service broke a rule that protects us: a link to another origin, a redirect, an answer beyond
 * the size cap.
 */
export class ApiRefusedError extends ConnectorError {
  readonly code = 'api_refused'
  readonly fate = 'stop'
}

/**
 * Paging cannot end or cannot be trusted: a repeated link, pages without new records. The walk is
 * incomplete.
 */
export class PaginationLoopError extends ConnectorError {
  readonly code = 'pagination_loop'
  readonly fate = 'stop'
}

/**
 * One record does not have what a row needs. Costs only that record. `pointer` is a JSON pointer
 * into the record.
 */
export class ApiContractError extends ConnectorError {
  readonly code = 'api_contract'
  readonly fate = 'quarantine'
  readonly pointer: string

  constructor(message: string, options: ConnectorErrorOptions & { readonly pointer: string }) {
    super(message, options)
    this.pointer = options.pointer
  }
}

/** PostgreSQL cannot be reached or is shutting down (SQLSTATE 08*, 53300, 57P0*). */
export class WarehouseUnavailableError extends ConnectorError {
  readonly code = 'warehouse_unavailable'
  readonly fate = 'retry'
}

/**
 * A deadlock or serialization failure (40001, 40P01, 55P03): the whole batch may be tried again.
 */
export class WarehouseConflictError extends ConnectorError {
  readonly code = 'warehouse_conflict'
  readonly fate = 'retry'
}

/** A value PostgreSQL refused (22*, 23*). */
export class WarehouseDataError extends ConnectorError {
  readonly code = 'warehouse_data'
  readonly fate = 'quarantine'
}

/** A missing table, column or grant (42*, 28*, 3D*): run `migrate`, or fix the grants. */
export class WarehouseSchemaError extends ConnectorError {
  readonly code = 'warehouse_schema'
  readonly fate = 'stop'
}

/**
 * A migration failed, was edited, or the database is newer than the program. Nothing after it runs.
 */
export class MigrationError extends ConnectorError {
  readonly code = 'migration'
  readonly fate = 'stop'
}

/** The embedded database cannot be prepared, started or stopped. */
export class EmbeddedDatabaseError extends ConnectorError {
  readonly code = 'embedded_database'
  readonly fate = 'stop'
}

/**
 * The run ended, but what it saw must not be fully trusted: an incomplete pass, too much in
 * quarantine.
 */
export class IncompleteRunError extends ConnectorError {
  readonly code = 'incomplete_run'
  readonly fate = 'stop'
}

/** Another run holds the lease. */
export class LeaseHeldError extends ConnectorError {
  readonly code = 'lease_held'
  readonly fate = 'stop'
}

/** This run held the lease and another may write now: this one must not write any more. */
export class LeaseLostError extends ConnectorError {
  readonly code = 'lease_lost'
  readonly fate = 'stop'
}

/**
 * Any thrown thing as an `Error`, so that a log line always has a message and a stack.
 */
export function toError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown
  return new Error(typeof thrown === 'string' ? thrown : `thrown: ${typeof thrown}`, {
    cause: thrown,
  })
}
