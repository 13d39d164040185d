import { describe, expect, test } from 'vitest'
import * as errors from '../../../src/base/errors.js'
import { ConnectorError, toError } from '../../../src/base/errors.js'

const { ApiContractError, ApiRateLimitedError, ApiRequestError, ApiUnavailableError, ConfigError } =
  errors

const noOptions = [
  errors.ApiAuthError,
  errors.ApiConnectionError,
  errors.ApiNotFoundError,
  errors.ApiRefusedError,
  errors.PaginationLoopError,
  errors.WarehouseUnavailableError,
  errors.WarehouseConflictError,
  errors.WarehouseDataError,
  errors.WarehouseSchemaError,
  errors.MigrationError,
  errors.EmbeddedDatabaseError,
  errors.IncompleteRunError,
  errors.LeaseHeldError,
  errors.LeaseLostError,
].map((Kind) => new Kind('what happened'))

const all: readonly ConnectorError[] = [
  ...noOptions,
  new ConfigError([]),
  new ApiRateLimitedError('slow down', { retryAfterMs: 1000 }),
  new ApiUnavailableError('try again'),
  new ApiRequestError('not understood', { status: 422 }),
  new ApiContractError('no id', { pointer: '/id' }),
]

describe('errors say what happens next', () => {
  test.each([
    ['ConfigError', 'config', 'stop'],
    ['ApiAuthError', 'api_auth', 'stop'],
    ['ApiConnectionError', 'api_connection', 'stop'],
    ['ApiRefusedError', 'api_refused', 'stop'],
    ['ApiRequestError', 'api_request', 'stop'],
    ['PaginationLoopError', 'pagination_loop', 'stop'],
    ['WarehouseSchemaError', 'warehouse_schema', 'stop'],
    ['MigrationError', 'migration', 'stop'],
    ['EmbeddedDatabaseError', 'embedded_database', 'stop'],
    ['IncompleteRunError', 'incomplete_run', 'stop'],
    ['LeaseHeldError', 'lease_held', 'stop'],
    ['LeaseLostError', 'lease_lost', 'stop'],
    ['ApiRateLimitedError', 'api_rate_limited', 'retry'],
    ['ApiUnavailableError', 'api_unavailable', 'retry'],
    ['WarehouseUnavailableError', 'warehouse_unavailable', 'retry'],
    ['WarehouseConflictError', 'warehouse_conflict', 'retry'],
    ['ApiNotFoundError', 'api_not_found', 'skip'],
    ['ApiContractError', 'api_contract', 'quarantine'],
    ['WarehouseDataError', 'warehouse_data', 'quarantine'],
  ])('%s has the code %s and the fate %s', (name, code, fate) => {
    const error = all.find((candidate) => candidate.name === name)
    expect(error).toMatchObject({ code, fate })
    expect(error).toBeInstanceOf(ConnectorError)
  })

  test('no class is missing from the list above, and no two share a code', () => {
    const classes = Object.values(errors).filter(
      (exported) => typeof exported === 'function' && exported.prototype instanceof ConnectorError,
    )
    expect(classes).toHaveLength(all.length)
    expect(new Set(all.map(({ code }) => code)).size).toBe(all.length)
  })
})

describe('any thrown value', () => {
  test('is an error: itself, a text as its message, anything else by its type', () => {
    const error = new Error('x')
    expect(toError(error)).toBe(error)
    expect(toError('broken').message).toBe('broken')
    expect(toError(undefined).message).toBe('thrown: undefined')
    expect(toError({ secret: 'canary' }).message).toBe('thrown: object')
    expect(toError({ a: 1 }).cause).toEqual({ a: 1 })
  })
})
