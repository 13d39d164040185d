import type pg from 'pg'
import { CopiedRows, copyIn } from './copy-rows.js'
import type { PreparedSession } from './session-settings.js'
import type { RunStatement } from './typed-statements.js'

/**
 * Lifts both limits on a statement, the server's and ours, until the end of the transaction: for
 * migrations of large tables.
 */
export const WITHOUT_TIME_LIMIT = 'set local statement_timeout = 0'

export interface BoundConnection {
  readonly query: RunStatement
  readonly release: () => void
}

const NOTHING: pg.QueryResult = { command: '', rowCount: 0, oid: 0, fields: [], rows: [] }

/**
 * A client of the pool whose statements end within a time, whatever the server does. PostgreSQL
 * itself ends a statement that takes too long, unless it is PostgreSQL that hangs, or the way to it
 * that has gone: then nothing ever comes back, and the connection is given up here. A connection
 * that was given up, or that could not roll back, is destroyed and not used again.
 *
 * Statements that are asked for without awaiting the one before travel together: the client sends
 * them at once, and PostgreSQL answers them in order. So `begin` is not waited for either: it is
 * answered with the first statement of its transaction. The time begins anew with each answer.
 */
export function boundConnection(
  client: pg.PoolClient,
  limitMs: number,
  session: PreparedSession = { isShared: false, begin: 'begin' },
): BoundConnection {
  let isUnlimited = false
  let isInTransaction = false
  let isOver = false
  let isBroken = false
  let isGivenUp = false
  let begun: Promise<unknown> = Promise.resolve()
  let unanswered = 0
  let watch: NodeJS.Timeout | undefined

  function watchAnswers(): void {
    clearTimeout(watch)
    if (unanswered > 0 && !isUnlimited) watch = setTimeout(giveUp, limitMs)
  }

  /**
   * Cuts the connection, which fails everything that is under way on it. `client.end()` would wait
   * for the answers first.
   */
  function giveUp(): void {
    isGivenUp = true
    const { connection } = client as unknown as { readonly connection: pg.Connection }
    connection.stream.destroy()
  }

  async function queryInTime(
    sqlText: string,
    parameters: readonly unknown[] | CopiedRows,
  ): Promise<pg.QueryResult> {
    unanswered += 1
    watchAnswers()
    try {
      return parameters instanceof CopiedRows
        ? await copyIn(client, sqlText, parameters)
        : await client.query(sqlText, [...parameters])
    } catch (thrown) {
      if (!isGivenUp) throw thrown
      isBroken = true
      throw new Error(`Connection terminated: PostgreSQL did not answer within ${limitMs} ms`, {
        cause: thrown,
      })
    } finally {
      unanswered -= 1
      watchAnswers()
    }
  }

  function begin(): void {
    begun = queryInTime(session.begin, [])
    // The first statement reports its failure.
    begun.catch(() => undefined)
  }

  async function queryBegun(
    sqlText: string,
    parameters: readonly unknown[] | CopiedRows,
  ): Promise<pg.QueryResult> {
    const [, result] = await Promise.all([begun, queryInTime(sqlText, parameters)])
    return result
  }

  /**
   * In a session that others use as well, a statement by itself needs a transaction for our
   * settings.
   */
  async function queryAlone(
    sqlText: string,
    parameters: readonly unknown[] | CopiedRows,
  ): Promise<pg.QueryResult> {
    begin()
    try {
      const result = await queryBegun(sqlText, parameters)
      await queryInTime('commit', [])
      return result
    } catch (thrown) {
      await queryInTime('rollback', []).catch(() => (isBroken = true))
      throw thrown
    }
  }

  return {
    query: async (sqlText, parameters) => {
      if (sqlText === 'begin') {
        isInTransaction = true
        begin()
        return NOTHING
      }
      if (session.isShared && !isInTransaction) return queryAlone(sqlText, parameters)
      isUnlimited ||= sqlText === WITHOUT_TIME_LIMIT
      if (isOver && sqlText !== 'rollback') {
        throw new Error('the transaction of this statement is over')
      }
      if (sqlText === 'commit' || sqlText === 'rollback') isOver = true
      try {
        return await queryBegun(sqlText, parameters)
      } catch (thrown) {
        if (sqlText !== 'rollback') throw thrown
        // The server rolls back when the connection goes. Why it had to is told by whoever asked
        // for it.
        isBroken = true
        return NOTHING
      }
    },
    release: () => {
      client.release(isBroken)
    },
  }
}
