import pg from 'pg'

/**
 * Called for each row of `copy … to stdout`, with its bytes and the end of its line. The bytes are
 * valid until it returns. A returned promise pauses the server until it resolves; a few rows that
 * have already arrived still come.
 */
export type TakeRow = (row: Buffer) => Promise<void> | undefined

/**
 * Runs `copy … to stdout` and hands out row by row: the protocol sends one row per message. The
 * first promise of `takeRow` that rejects cuts the connection and rejects this.
 */
export function copyOut(client: pg.ClientBase, sqlText: string, takeRow: TakeRow): Promise<void> {
  return new Promise((resolve, reject) => {
    const query = new CopyOutQuery(sqlText, takeRow)
    query.callback = (error) => {
      const failure = query.failure ?? error
      if (failure === null) resolve()
      else reject(failure)
    }
    client.query(query)
  })
}

class CopyOutQuery extends pg.Query {
  readonly #takeRow: TakeRow
  #waiting = 0
  /** Why the copy was cut. */
  failure: Error | undefined
  /** Called by the driver at the end. */
  declare callback: (error: Error | null) => void

  constructor(sqlText: string, takeRow: TakeRow) {
    super(sqlText)
    this.#takeRow = takeRow
  }

  handleCopyData({ chunk }: { readonly chunk: Buffer }, { stream }: pg.Connection): void {
    if (this.failure !== undefined) return
    const taken = this.#takeRow(chunk)
    if (taken === undefined) return
    this.#waiting += 1
    stream.pause()
    taken.then(
      () => {
        this.#waiting -= 1
        if (this.#waiting === 0) stream.resume()
      },
      (thrown: unknown) => {
        this.failure = thrown instanceof Error ? thrown : new Error(String(thrown))
        stream.destroy()
      },
    )
  }
}
