import { createHash } from 'node:crypto'
import {
  ConfigError,
  LeaseHeldError,
  MigrationError,
  WarehouseSchemaError,
} from '../../base/errors.js'
import type { ReachFailpoint } from '../../base/failpoint.js'
import { countOf } from '../../base/phrases.js'
import { WITHOUT_TIME_LIMIT } from '../connection/bound-connection.js'
import type { Session, Warehouse } from '../connection/warehouse.js'
import { prepareSchemas } from '../schema/prepare-schemas.js'
import { MOVE_MARK, readMigrations, readSchemaVersion } from '../schema/run-migrations.js'
import {
  copySequence,
  copyTable,
  isSame,
  listForeignTables,
  listMovedTables,
  readContents,
  type Contents,
  type MovedTable,
} from './table-contents.js'

export interface MoveOptions {
  readonly signal: AbortSignal
  readonly sleep: (ms: number) => Promise<void>
  readonly reachFailpoint: ReachFailpoint
  /** Rows of a table that were copied so far, of those it has. */
  readonly onProgress?: (table: string, copied: number, rows: number) => void
}

export interface MoveReport {
  /** Of every table: its rows, and whether they were there already. */
  readonly tables: readonly {
    readonly name: string
    readonly rows: number
    readonly isCopied: boolean
  }[]
  /** Not ours, and so left where they are. */
  readonly foreign: readonly string[]
}

/**
 * Copies every row of one warehouse into another database, and compares both sides, table by table,
 * by number and digest of the rows. The caller holds the source's lease; here its tables are locked
 * against writing too. Each table is one transaction, so a move that was killed goes on with the
 * next table; what is whole is known by its digest. Until the end a mark in the target keeps every
 * other command out. Changes nothing at the source. Throws ConfigError for a target that holds
 * anything else.
 */
export async function moveWarehouse(
  source: Warehouse,
  target: Warehouse,
  options: MoveOptions,
): Promise<MoveReport> {
  await requireCurrent(source)
  return source.transaction('read the warehouse', async (reading) => {
    await reading.query('read the warehouse', WITHOUT_TIME_LIMIT)
    await reading.query('read the warehouse', 'set local idle_in_transaction_session_timeout = 0')
    const tables = await listMovedTables(reading)
    await lockTables(reading, tables)
    return holdOtherDatabase(reading, target, async () => {
      const move = new Move(reading, target, tables, options)
      return { tables: await move.run(), foreign: await listForeignTables(reading) }
    })
  })
}

async function requireCurrent(source: Warehouse): Promise<void> {
  const { version, expected } = await readSchemaVersion(source, await readMigrations())
  if (version === expected) return
  throw new MigrationError(
    version === 0
      ? `there is no warehouse ${source.names.data} to move; run \`tracking-sync backfill\` first`
      : `the warehouse is at version ${version} of ${expected}; run \`tracking-sync migrate\` first`,
  )
}

/** Deliveries do not ask for the lease. Readers are let through. */
async function lockTables(
  { query, names }: Pick<Session, 'query' | 'names'>,
  tables: readonly MovedTable[],
): Promise<void> {
  for (const { schema, table } of tables) {
    await query('keep writers away', `lock table ${names.in(schema, table)} in share mode`)
  }
}

/** Any constant of our own: the first key of the advisory lock. */
const LOCK_CLASS = 820_314

/** Runs `work` unless the target is the source, or another move goes into it at this moment. */
async function holdOtherDatabase<Result>(
  source: Session,
  target: Warehouse,
  work: () => Promise<Result>,
): Promise<Result> {
  const take = `select pg_try_advisory_xact_lock($1, hashtext($2)) as "isTaken"`
  const key = [LOCK_CLASS, target.names.sync]
  await source.query('mark the source', take, key)
  return target.transaction('keep other moves away', async (session) => {
    await session.query(
      'keep other moves away',
      'set local idle_in_transaction_session_timeout = 0',
    )
    const [row] = await session.query<{ isTaken: boolean }>('look at the target', take, key)
    if (row?.isTaken === true) return work()
    throw new LeaseHeldError(
      'the target is the embedded database itself, or another move goes into it at this moment',
    )
  })
}

class Move {
  readonly #source: Session
  readonly #target: Warehouse
  readonly #tables: readonly MovedTable[]
  readonly #options: MoveOptions

  constructor(
    source: Session,
    target: Warehouse,
    tables: readonly MovedTable[],
    options: MoveOptions,
  ) {
    this.#source = source
    this.#target = target
    this.#tables = tables
    this.#options = options
  }

  async run(): Promise<MoveReport['tables']> {
    await this.#prepareTarget()
    const wanted = new Map<string, Contents>()
    const missing = new Set<string>()
    for (const table of this.#tables) {
      this.#options.signal.throwIfAborted()
      const contents = await readContents(this.#source, table)
      wanted.set(table.name, contents)
      const isThere = isSame(contents, await this.#readTarget(table))
      // What refers to rows that are copied anew is copied anew as well.
      if (!isThere || table.parents.some((parent) => missing.has(parent))) missing.add(table.name)
    }
    await this.#empty(this.#tables.filter(({ name }) => missing.has(name)))
    const report = []
    for (const table of this.#tables) {
      const contents = wanted.get(table.name)
      const isCopied = missing.has(table.name)
      if (contents === undefined) throw new Error(`${table.name} was not counted`)
      if (isCopied) await this.#copy(table, contents)
      report.push({ name: table.name, rows: contents.rows, isCopied })
    }
    await this.#finish()
    return report
  }

  async #readTarget(table: MovedTable): Promise<Contents> {
    return this.#target.transaction(`count ${table.name}`, async (session) => {
      await session.query(`count ${table.name}`, WITHOUT_TIME_LIMIT)
      return readContents(session, table)
    })
  }

  /** Our tables, and a mark that no other command goes on with them before the end. */
  async #prepareTarget(): Promise<void> {
    const { names } = this.#target
    const source = await this.#nameSource()
    const mark = await readMark(this.#target)
    if (mark !== undefined && mark !== source) {
      throw refused(`a move from another warehouse into ${names.data} there is not complete`)
    }
    if (mark !== undefined) return this.#requireSameVersion()
    await this.#refuseOtherRows()
    await prepareSchemas(this.#target, this.#options)
    await this.#target.query(
      'mark the target',
      `insert into ${names.table('migrations')} (version, name, checksum) values ($1, $2, $3)`,
      [MOVE_MARK.version, MOVE_MARK.name, source],
    )
  }

  /** The instants at which its schemas were made, which stay the same as long as it lives. */
  async #nameSource(): Promise<string> {
    const rows = await this.#source.query<{ applied_at: string }>(
      'name the source',
      `select applied_at from ${this.#source.names.table('migrations')} order by version limit 1`,
    )
    return createHash('sha256').update(JSON.stringify(rows)).digest('hex')
  }

  async #requireSameVersion(): Promise<void> {
    const { names } = this.#target
    const rows = await this.#target.query<{ checksum: string }>(
      'look at the version of the target',
      `select checksum from ${names.table('migrations')} where version > 0 order by version`,
    )
    const shipped = await readMigrations()
    const isSameVersion = shipped.every(({ checksum }, at) => rows[at]?.checksum === checksum)
    if (isSameVersion && rows.length === shipped.length) return
    throw new MigrationError(
      `the move into ${names.data} was begun by another version of this program; ` +
        `drop the schemas ${Object.values(names).join(', ')} there, and begin again`,
    )
  }

  /** Only an empty target is taken, or one with exactly our rows. */
  async #refuseOtherRows(): Promise<void> {
    const { names } = this.#target
    const existing = await this.#target.query<{ name: string }>(
      'look for tables at the target',
      `select name from unnest($1::text[]) as name where to_regclass(name) is not null`,
      [this.#tables.map(({ schema, table }) => names.in(schema, table))],
    )
    const found = this.#tables.filter(({ schema, table }) =>
      existing.some(({ name }) => name === names.in(schema, table)),
    )
    const filled: MovedTable[] = []
    for (const table of found) {
      const rows = await this.#target.query(
        `look into ${table.name}`,
        `select from ${names.in(table.schema, table.table)} limit 1`,
      )
      if (rows.length > 0) filled.push(table)
    }
    if (filled.length === 0) return
    for (const table of filled) {
      const contents = await readContents(this.#source, table)
      if (isSame(contents, await this.#readTarget(table))) continue
      const others = filled.length - 1
      throw refused(
        `${table.name} there has rows of its own` +
          (others > 0 ? `, and ${countOf(others, 'other table')} too` : ''),
      )
    }
  }

  async #empty(tables: readonly MovedTable[]): Promise<void> {
    await this.#target.transaction('empty what is not whole', async (session) => {
      await session.query('empty what is not whole', WITHOUT_TIME_LIMIT)
      // Those that refer to others come last, and go first.
      for (const { name, schema, table } of tables.toReversed()) {
        await session.query(`empty ${name}`, `delete from ${session.names.in(schema, table)}`)
      }
    })
  }

  async #copy(table: MovedTable, wanted: Contents): Promise<void> {
    const { signal, reachFailpoint, onProgress } = this.#options
    await this.#target.transaction(`move ${table.name}`, async (session) => {
      await session.query(`move ${table.name}`, WITHOUT_TIME_LIMIT)
      let copied = 0
      await copyTable(table, this.#source, session, (count) => {
        signal.throwIfAborted()
        reachFailpoint('mid_move')
        copied += count
        onProgress?.(table.name, copied, wanted.rows)
      })
      if (isSame(wanted, await readContents(session, table))) return
      throw new WarehouseSchemaError(
        `the rows of ${table.name} are not the same after they were copied; nothing of it is kept`,
      )
    })
    reachFailpoint('after_moved_table')
  }

  async #finish(): Promise<void> {
    const { names } = this.#target
    await this.#target.transaction('finish the move', async (session) => {
      await session.query('finish the move', WITHOUT_TIME_LIMIT)
      for (const table of this.#tables) {
        await copySequence(table, this.#source, session)
        await session.query(
          `analyze ${table.name}`,
          `analyze ${names.in(table.schema, table.table)}`,
        )
      }
      await session.query(
        'take the mark away',
        `delete from ${names.table('migrations')} where version = $1`,
        [MOVE_MARK.version],
      )
    })
  }
}

/** The source that a move into the target began from; undefined without one. */
async function readMark({
  query,
  names,
}: Pick<Warehouse, 'query' | 'names'>): Promise<string | undefined> {
  const migrations = names.table('migrations')
  const [found] = await query<{ isThere: boolean }>(
    'look at the target',
    'select to_regclass($1) is not null as "isThere"',
    [migrations],
  )
  if (found?.isThere !== true) return undefined
  const [mark] = await query<{ checksum: string }>(
    'look for a mark',
    `select checksum from ${migrations} where version = $1`,
    [MOVE_MARK.version],
  )
  return mark?.checksum
}

function refused(what: string): ConfigError {
  const problem = `${what}; name an empty database, or set TRACKING_SCHEMA to a name that is free in both`
  return new ConfigError([{ setting: 'the target', problem }])
}
