import pg from 'pg'
import type { BoundStatement } from './ask-question.js'

/** The statement with its values, texts or null, in their places: `query` takes it as own SQL. */
export function withValues({ sql, parameters }: BoundStatement): string {
  return sql.trimEnd().replaceAll(/\$(\d+)\b/g, (_, number: string) => {
    const value = parameters[Number(number) - 1]
    return typeof value === 'string' ? pg.escapeLiteral(value) : 'null'
  })
}
