import type pg from 'pg'
import type { PreparedSession } from './session-settings.js'

/**
 * Lifts both limits on a statement, the server's and ours, until the end of the transaction: for
 * migrations of large tables.
 */
export const WITHOUT_TIME_LIMIT = 'set local statement_timeout = 0'

/** The part of a pool's client that a query builder uses. */
export interface BoundConnection {
  query(sqlText: string, parameters: readonly unknown[]): Promise<pg.QueryResult>
  release(): void
}

/**
 * A client of the pool whose statements end within a time, whatever the server does. PostgreSQL
 * itself ends a statement that takes too long, unless it is PostgreSQL that hangs, or the way to it
 * that has gone: then nothing ever comes back, and the connection is given up here. A connection
 * that was given up, or that could not roll back, is destroyed and not used again.
 */
export function boundConnection(
  client: pg.PoolClient,
  limitMs: number,
  session: PreparedSession = { isShared: false, begin: 'begin' },
): BoundConnection {
  let isUnlimited = false
  let isInTransaction = false
  let isBroken = false

  async function giveUp(): Promise<never> {
    isBroken = true
    // Destroys the socket, because a statement is under way; what it was waiting for is rejected by
    // that.
    await client.end().catch(() => undefined)
    throw new Error(`Connection terminated: PostgreSQL did not answer within ${limitMs} ms`)
  }

  async function queryInTime(
    sqlText: string,
    parameters: readonly unknown[],
  ): Promise<pg.QueryResult> {
    let timer: NodeJS.Timeout | undefined
    const tooLong = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, limitMs)
    })
    try {
      const answer = client.query(sqlText, [...parameters])
      return await Promise.race([answer, tooLong.then(giveUp)])
    } finally {
      clearTimeout(timer)
    }
  }

  /**
   * In a session that others use as well, a statement by itself needs a transaction for our
   * settings.
   */
  async function queryAlone(
    sqlText: string,
    parameters: readonly unknown[],
  ): Promise<pg.QueryResult> {
    await queryInTime(session.begin, [])
    try {
      const result = await queryInTime(sqlText, parameters)
      await queryInTime('commit', [])
      return result
    } catch (thrown) {
      await queryInTime('rollback', []).catch(() => (isBroken = true))
      throw thrown
    }
  }

  return {
    query: async (sqlText, parameters) => {
      isUnlimited ||= sqlText === WITHOUT_TIME_LIMIT
      try {
        if (sqlText === 'begin') isInTransaction = true
        else if (sqlText === 'commit' || sqlText === 'rollback') isInTransaction = false
        else if (session.isShared && !isInTransaction) return await queryAlone(sqlText, parameters)
        if (isUnlimited) return await client.query(sqlText, [...parameters])
        return await queryInTime(sqlText === 'begin' ? session.begin : sqlText, parameters)
      } catch (thrown) {
        if (sqlText !== 'rollback') throw thrown
        // The server rolls back when the connection goes. Why it had to is told by whoever asked
        // for it.
        isBroken = true
        return { command: 'ROLLBACK', rowCount: 0, oid: 0, fields: [], rows: [] }
      }
    },
    release: () => {
      client.release(isBroken)
    },
  }
}
