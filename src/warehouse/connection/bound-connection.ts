import type pg from 'pg'
import { CopiedRows, copyIn } from './copy-rows.js'
import type { PreparedSession } from './session-settings.js'
import { rawStatement } from './typed-database.js'
import type { RunStatement } from './typed-statements.js'

/** Lifts the time limits of statements until the end of the transaction, for large migrations. */
export const LIFT_TIME_LIMIT = rawStatement('set local statement_timeout = 0')

export interface BoundConnection {
  readonly query: RunStatement
  readonly release: () => void
}

const NOTHING: pg.QueryResult = { command: '', rowCount: 0, oid: 0, fields: [], rows: [] }

/**
 * A client of the pool whose statements end in time, even if the server hangs or the network fails.
 * PostgreSQL itself ends a slow statement; if no answer comes at all, the connection is given up
 * here. A connection that was given up or that failed to roll back is destroyed and not used again.
 *
 * Statements that do not await the one before are pipelined: the client sends them at once, and
 * PostgreSQL answers them in order. `begin` is not awaited either: its answer comes with that of
 * the first statement of its transaction. Each answer restarts the time.
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

  function giveUp(): void {
    isGivenUp = true
    cut(client)
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

  /** In a shared session a single statement needs a transaction for our settings. */
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
      isUnlimited ||= sqlText === LIFT_TIME_LIMIT.sql
      if (isOver && sqlText !== 'rollback') {
        throw new Error('the transaction of this statement has ended')
      }
      if (sqlText === 'commit' || sqlText === 'rollback') isOver = true
      try {
        return await queryBegun(sqlText, parameters)
      } catch (thrown) {
        if (sqlText !== 'rollback') throw thrown
        // The server rolls back when the connection closes. The caller reports why it asked for it.
        isBroken = true
        return NOTHING
      }
    },
    release: () => {
      client.release(isBroken)
    },
  }
}

/** Fails all statements of a connection; `client.end()` would wait for their answers. */
export function cut(client: pg.ClientBase): void {
  const { connection } = client as unknown as { readonly connection: pg.Connection }
  connection.stream.destroy()
}
