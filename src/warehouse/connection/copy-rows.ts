import pg from 'pg'

/** A field of a row: a text that PostgreSQL reads as the column's type; otherwise null. */
export type CopiedField = string | null | undefined

const NULL = '\\N'

/** Characters that end a field or a row, or begin an escape. */
const SPECIAL = /[\\\t\n\r]/
const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
}

const FIRST_CAPACITY = 64 * 1024

const LINE_FEED = 0x0a

/** Most bytes of a UTF-16 unit in UTF-8. */
const MOST_BYTES = 3

/**
 * Rows in the text format of COPY, for `Session.copy`. Added one by one: a page may have thousands.
 */
export class CopiedRows {
  #bytes: Buffer = Buffer.allocUnsafe(FIRST_CAPACITY)
  #end = 0

  /** Adds a row: the fields of `first`, then those of `second`, in the order of the columns. */
  addRow(first: readonly CopiedField[], second: readonly CopiedField[]): void {
    const fields = new Array<string>(first.length + second.length)
    let count = 0
    for (const field of first) fields[count++] = encodeField(field)
    for (const field of second) fields[count++] = encodeField(field)
    const row = fields.join('\t')
    this.#reserve(row.length * MOST_BYTES + 1)
    this.#end += this.#bytes.write(row, this.#end)
    this.#bytes[this.#end++] = LINE_FEED
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#end)
  }

  #reserve(length: number): void {
    const needed = this.#end + length
    if (needed <= this.#bytes.length) return
    const grown = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2))
    this.#bytes.copy(grown, 0, 0, this.#end)
    this.#bytes = grown
  }
}

function encodeField(field: CopiedField): string {
  if (field === null || field === undefined) return NULL
  if (!SPECIAL.test(field)) return field
  return field.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? character)
}

/** A single message would hold the rows in memory three times. */
const CHUNK_BYTES = 64 * 1024

/**
 * Sends `copy … from stdin` and its rows at once, without waiting for the server to ask for them:
 * the copy is pipelined with the statements before and after it. A server that refuses the
 * statement skips the rows, as the protocol says.
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
  /** Called by the driver at the end. */
  declare callback: (error: Error | null, result: pg.QueryResult) => void

  constructor(sqlText: string, rows: CopiedRows) {
    super(sqlText)
    this.#sqlText = sqlText
    this.#rows = rows
  }

  override readonly submit = (connection: pg.Connection): void => {
    const copying = connection as CopyConnection
    const { bytes } = this.#rows
    copying.stream.cork()
    copying.query(this.#sqlText)
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
      copying.sendCopyFromChunk(bytes.subarray(at, at + CHUNK_BYTES))
    }
    copying.endCopyFrom()
    copying.stream.uncork()
  }

  /** The rows are already sent. */
  handleCopyInResponse(): void {
    return
  }
}

/** Members that the driver's types lack. */
interface CopyConnection extends pg.Connection {
  query(sqlText: string): void
  sendCopyFromChunk(bytes: Buffer): void
  endCopyFrom(): void
}
