import type * as DuckDB from '@duckdb/node-api'
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { ConfigError } from '../../base/errors.js'
import type { WorkFolder } from './lake-store.js'
import { refusePackage } from './missing-package.js'

/**
 * DuckDB's own limit. With the memory it does not count, and Node, it becomes about three times
 * that.
 */
const MEMORY_LIMIT = '128MB'

/**
 * DuckDB, as far as this program uses it: to read rows from a file and to write Parquet. Rows pass
 * through it, so that memory is bounded, and it loads no extension.
 */
export class ParquetWriter {
  readonly #instance: DuckDBInstance
  readonly #connection: DuckDBConnection
  readonly #work: WorkFolder

  private constructor(instance: DuckDBInstance, connection: DuckDBConnection, work: WorkFolder) {
    this.#instance = instance
    this.#connection = connection
    this.#work = work
  }

  /** Throws as `requireDuckDB` does. */
  static async open(work: WorkFolder): Promise<ParquetWriter> {
    const { DuckDBInstance } = await loadDuckDB()
    const instance = await DuckDBInstance.create(':memory:', {
      memory_limit: MEMORY_LIMIT,
      // PostgreSQL has the other one, and two would take the memory twice.
      threads: '1',
      temp_directory: work.pathOf('spill'),
      preserve_insertion_order: 'false',
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
    })
    const connection = await instance.connect()
    return new ParquetWriter(instance, connection, work)
  }

  /** Runs one statement, made of our own names and of what `quoteText` quotes; gives its rows. */
  async run(sqlText: string): Promise<Record<string, unknown>[]> {
    try {
      const reader = await this.#connection.runAndReadAll(sqlText)
      return reader.getRowObjectsJson()
    } catch (thrown) {
      const message = thrown instanceof Error ? (thrown.message.split('\n')[0] ?? '') : ''
      if (!message.startsWith('IO Error')) throw thrown
      throw new ConfigError(
        [{ setting: '--out', problem: `${this.#work.name} cannot be written: ${message}` }],
        { cause: thrown },
      )
    }
  }

  close(): void {
    this.#connection.closeSync()
    this.#instance.closeSync()
  }
}

/** Throws ConfigError, with what to install, before anything is opened. */
export async function requireDuckDB(): Promise<void> {
  await loadDuckDB()
}

function loadDuckDB(): Promise<typeof DuckDB> {
  return import('@duckdb/node-api').catch((cause: unknown) =>
    refusePackage('@duckdb/node-api', '', cause),
  )
}

/** A text of DuckDB: it knows no escapes but the doubled quote. */
export function quoteText(text: string): string {
  return `'${text.replaceAll(`'`, `''`)}'`
}
