import { sql } from 'kysely'
import type { Session } from '../../src/warehouse/connection/warehouse.js'

type Statement = [text: TemplateStringsArray, ...values: unknown[]]

/**
 * Statements of a test. Each value in a text is a parameter, or a part of it made with `sql.raw`
 * or `sql.ref`.
 */
export interface RowReader {
  readonly rows: <Row = Record<string, unknown>>(...statement: Statement) => Promise<Row[]>
  /** The first value of each row. */
  readonly column: <Value = string>(...statement: Statement) => Promise<Value[]>
  /** The first value of the first row, which must be there. */
  readonly value: <Value = unknown>(...statement: Statement) => Promise<Value>
  /** For a statement that changes something. */
  readonly run: (...statement: Statement) => Promise<void>
}

export function rowReader(session: Pick<Session, 'query'>): RowReader {
  const rows: RowReader['rows'] = (...statement) =>
    session.query('run a statement of the test', sql(...statement))
  const column: RowReader['column'] = async <Value>(...statement: Statement) =>
    (await rows<object>(...statement)).map((row) => Object.values(row)[0] as Value)
  return {
    rows,
    column,
    value: async <Value>(...statement: Statement) => {
      const found = await column<Value>(...statement)
      if (found.length === 0) throw new Error(`there is no row for: ${statement[0].join('…')}`)
      return found[0] as Value
    },
    run: async (...statement) => {
      await rows(...statement)
    },
  }
}
