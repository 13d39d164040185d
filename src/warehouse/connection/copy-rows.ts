import pg from 'pg'

/** A field of a row: a text as PostgreSQL reads the column's type, null otherwise. */
export type CopiedField = string | null | undefined

/** Rows in the text format of COPY, instead of the parameters of a statement. */
export class CopiedRows {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** What ends a field or a row, or begins an escape, in the text format of COPY. */
const SPECIAL = /[\\\t\n\r]/
const SPECIALS = /[\\\t\n\r]/g
const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
}

/** One row for `CopiedRows`, its fields in the order of the columns. */
export function copiedRow(fields: readonly CopiedField[]): string {
  let row = ''
  for (let at = 0; at < fields.length; at += 1) {
    const field = fields[at] ?? null
    if (at > 0) row += '\t'
    if (field === null) row += '\\N'
    else row += SPECIAL.test(field) ? field.replace(SPECIALS, escapeOf) : field
  }
  return `${row}\n`
}

function escapeOf(character: string): string {
  return ESCAPES[character] ?? character
}

/** In one message the text would stand in memory three times over. */
const CHUNK_BYTES = 64 * 1024

/**
 * Sends `copy … from stdin` and its rows at once, without waiting for the server to ask for them:
 * so it travels together with the statements before and after it. A server that refuses the
 * statement passes over the rows, as the protocol says.
 */
export function copyIn(
  client: pg.ClientBase,
  sqlText: string,
  rows: CopiedRows,
): Promise<pg.QueryResult> {
  return new Promise((resolve, reject) => {
    const query = new CopyQuery(sqlText, rows)
    query.callback = (error, result) => {
      if (error === null) resolve(result)
      else reject(error)
    }
    client.query(query)
  })
}

class CopyQuery extends pg.Query {
  readonly #sqlText: string
  readonly #rows: CopiedRows
  /** What the driver tells of how it ended. */
  declare callback: (error: Error | null, result: pg.QueryResult) => void

  constructor(sqlText: string, rows: CopiedRows) {
    super(sqlText)
    this.#sqlText = sqlText
    this.#rows = rows
  }

  override readonly submit = (connection: pg.Connection): void => {
    const copying = connection as CopyConnection
    copying.stream.cork()
    copying.query(this.#sqlText)
    const bytes = Buffer.from(this.#rows.text)
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
      copying.sendCopyFromChunk(bytes.subarray(at, at + CHUNK_BYTES))
    }
    copying.endCopyFrom()
    copying.stream.uncork()
  }

  /** The rows are under way already. */
  handleCopyInResponse(): void {
    return
  }
}

/** What the types of the driver do not name. */
interface CopyConnection extends pg.Connection {
  query(sqlText: string): void
  sendCopyFromChunk(bytes: Buffer): void
  endCopyFrom(): void
}
