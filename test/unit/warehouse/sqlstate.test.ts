import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { exitCodeOf } from '../../../src/base/exit-code.js'
import { toWarehouseError } from '../../../src/warehouse/connection/sqlstate.js'

/** SQLSTATE, the name of the error, and what to do. */
const TOLD: readonly (readonly [string, string, RegExp])[] = [
  ['25006', 'WarehouseUnavailableError', /a standby, so connect to the primary server; or defau/],
  ['25P04', 'WarehouseSchemaError', /transaction_timeout of this login is too short/],
  ['57P05', 'WarehouseUnavailableError', /idle_session_timeout of this login ended/],
  ['53100', 'WarehouseUnavailableError', /give the server disk, or free room on it$/],
  ['57P01', 'WarehouseUnavailableError', /check that PostgreSQL runs/],
]

describe('what PostgreSQL refuses is told with its own fix', { tags: ['JD7', 'JE9'] }, () => {
  it.each(TOLD)('%s', (code, name, fix) => {
    const thrown = Object.assign(new pg.DatabaseError('in its own words', 0, 'error'), { code })
    const error = toWarehouseError(thrown, 'write ports')
    expect(error.name).toBe(name)
    expect(exitCodeOf(error)).toBe(5)
    expect(error.message).toMatch(
      new RegExp(`^write ports: PostgreSQL says "in its own words" \\(${code}\\); .*${fix.source}`),
    )
  })
  it('a pooler that knows no such login is not waited for', () => {
    const said = new pg.DatabaseError('SASL authentication failed', 0, 'error')
    const error = toWarehouseError(Object.assign(said, { code: '08P01', severity: 'FATAL' }), 'ask')
    expect(error.name).toBe('WarehouseSchemaError')
    expect(error.message).toMatch(
      /; check user and password .*, and the list of users of the pooler$/,
    )
  })
})
