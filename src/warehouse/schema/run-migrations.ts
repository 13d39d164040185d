import { sql } from 'kysely'
import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { projectFile } from '../../base/project-file.js'
import {
  MigrationError,
  WarehouseConflictError,
  WarehouseSchemaError,
  toError,
} from '../../base/errors.js'
import { LIFT_TIME_LIMIT } from '../connection/bound-connection.js'
import { refuseReadOnly } from '../connection/read-only.js'
import { roleNames, withSchemaNames, type SchemaNames } from '../connection/schema-names.js'
import type { Session, Warehouse } from '../connection/warehouse.js'
import { fromMigrations, refuseUnknownTables } from './shipped-tables.js'
import { refuseMissingRights } from './roles.js'
import { tableRef, rawStatement } from '../connection/typed-database.js'

/** A file of `sql/migrations`, in order of its number. */
export interface Migration {
  readonly version: number
  readonly name: string
  readonly sqlText: string
  /** SHA-256 of the file, before schema names are put in. */
  readonly checksum: string
}

export interface MigrateOptions {
  /** Waits before another try for the lock; injected so that tests need no time. */
  readonly sleep: (ms: number) => Promise<void>
}

/** Report of `migrate`: the migrations applied now, and the version of the database. */
export interface MigrationReport {
  readonly applied: readonly string[]
  readonly version: number
}

/** The reason why this program cannot use a read-only database. */
export const NOT_UPGRADED = 'the schemas are not those of this version of the program'

const DIRECTORY = projectFile('sql/migrations/')
const FILE_NAME = /^(\d{4})_[a-z0-9_]+\.sql$/

/** The shipped migrations. Throws MigrationError for a malformed, missing or repeated number. */
export async function readMigrations(directory: string = DIRECTORY): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort()
  const migrations: Migration[] = []
  for (const name of names) {
    const version = Number(FILE_NAME.exec(name)?.[1])
    if (version !== migrations.length + 1) {
      throw new MigrationError(
        `migration file ${name}: expected number ${String(migrations.length + 1).padStart(4, '0')}; the package is damaged, install it again`,
      )
    }
    const sqlText = await readFile(`${directory}/${name}`, 'utf8')
    const checksum = createHash('sha256').update(sqlText).digest('hex')
    migrations.push({ version, name: name.replace(/\.sql$/, ''), sqlText, checksum })
  }
  return migrations
}

/** Tries for the lock, each as long as `lock_timeout`, before its holder is reported. */
const MAX_TRIES = 10
const DDL_LOCK_TIMEOUT = '3s'

/**
 * Brings the schemas to the version of this program. Forward only; each migration in a transaction
 * of its own under an advisory lock: of concurrent starters one applies it and the others find it
 * done. Refuses a database that is newer than the program, and one whose applied migrations differ
 * from the shipped files. Idempotent. Throws MigrationError.
 */
export async function migrate(
  warehouse: Warehouse,
  migrations: readonly Migration[],
  options: MigrateOptions,
): Promise<MigrationReport> {
  await ensureUtf8(warehouse)
  // Most starts find everything done: one read, no lock.
  const before = await readSchemaVersion(warehouse, migrations)
  if (before.version < migrations.length) await refuseReadOnly(warehouse, NOT_UPGRADED)
  const applied: string[] = []
  for (const migration of migrations.slice(before.version)) {
    const isApplied = await withMigrationLock(warehouse, options, 'migrate', async (session) => {
      const { version } = await readSchemaVersion(session, migrations)
      if (version >= migration.version) return false
      if (version === 0) {
        await refuseUnknownTables(session, true)
        await refuseMissingRights(session)
      }
      await apply(session, migration)
      return true
    })
    if (isApplied) applied.push(migration.name)
  }
  return { applied, version: migrations.length }
}

export interface SchemaVersion {
  /** Number of the last applied migration; 0 without one. */
  readonly version: number
  readonly expected: number
}

/** Compares the database with the program. Reads only; throws for a newer or edited one. */
export async function readSchemaVersion(
  session: Session,
  migrations: readonly Migration[],
): Promise<SchemaVersion> {
  const { names } = session
  const rows = await appliedMigrations(session)
  for (const [index, row] of rows.entries()) {
    const shipped = migrations[index]
    if (shipped === undefined) {
      throw new MigrationError(
        `the database is at migration ${rows.length} and this program knows ${migrations.length}: ` +
          'install the newer tracking-sync',
      )
    }
    if (shipped.version !== row.version || shipped.name !== row.name) {
      throw ofAnotherBuild(`it has ${row.name} as number ${row.version}`, shipped, names)
    }
    if (shipped.checksum !== row.checksum) {
      throw ofAnotherBuild('it applied another text (the checksum differs)', shipped, names)
    }
  }
  return { version: rows.length, expected: migrations.length }
}

/**
 * Runs `work` in a transaction under the lock of these schemas. Waits in short pieces for the lock
 * or a long reader, so that readers queue behind us for seconds at most.
 */
export async function withMigrationLock<Result>(
  warehouse: Warehouse,
  { sleep }: MigrateOptions,
  action: string,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await warehouse.transaction(action, async (session) => {
        await takeMigrationLock(session)
        return work(session)
      })
    } catch (thrown) {
      if (!(thrown instanceof WarehouseConflictError) || attempt >= MAX_TRIES) throw thrown
      await sleep(Math.random() * 200 * attempt)
    }
  }
}

/** A lock per set of schemas. It ends with the transaction, even that of a killed starter. */
export async function takeMigrationLock(session: Session): Promise<void> {
  await session.query('migrate', sql`set local lock_timeout = ${sql.lit(DDL_LOCK_TIMEOUT)}`)
  await session.query('migrate', LIFT_TIME_LIMIT)
  await session.query(
    'take the migration lock',
    sql`select pg_advisory_xact_lock(${LOCK_CLASS}, hashtext(${session.names.sync}))`,
  )
}

/** Our own constant: the first key of our advisory locks. */
const LOCK_CLASS = 820_311

async function apply(session: Session, migration: Migration): Promise<void> {
  const { version, name, checksum } = migration
  try {
    if (version === 1) await createMigrationsTable(session)
    // One by one: if several are sent at once, Citus has each node run all of them.
    for (const statement of splitStatements(withSchemaNames(migration.sqlText, session.names))) {
      await session.query(`apply migration ${name}`, rawStatement(statement))
    }
    await session.db.insertInto('sync.migrations').values({ version, name, checksum }).execute()
  } catch (thrown) {
    if (thrown instanceof WarehouseConflictError) throw thrown
    throw new MigrationError(
      `migration ${name} failed and was rolled back; nothing after it was applied: ` +
        toError(thrown).message,
      { cause: thrown },
    )
  }
}

async function createMigrationsTable(session: Session): Promise<void> {
  const { names } = session
  const table = tableRef('sync.migrations')
  await session.query(
    'create the table of migrations',
    sql`create schema if not exists ${sql.id(names.sync)};
    create table ${table} (
        version integer not null,
        name text not null,
        checksum text not null,
        applied_at timestamptz not null default now(),
        constraint migrations_pkey primary key (version)
    );
    comment on table ${table} is 'One row per applied migration.';
    comment on column ${table}.version is 'Number of the migration.';
    comment on column ${table}.name is 'Name of its file.';
    comment on column ${table}.checksum is 'SHA-256 of its file: an edited one is refused.';
    comment on column ${table}.applied_at is 'When it was applied. UTC.';`,
  )
}

async function appliedMigrations(
  session: Session,
): Promise<Pick<Migration, 'version' | 'name' | 'checksum'>[]> {
  const { names } = session
  // Reads the catalog itself: `to_regclass` may answer from before the wait for the lock.
  const [found] = await session.query(
    'look for the table of migrations',
    sql<{ role: string; isReadable: boolean; isHidden: boolean }>`select
        current_user::text as role,
        has_schema_privilege(relnamespace, 'usage')
            and has_table_privilege(pg_class.oid, 'select') as "isReadable",
        row_security_active(pg_class.oid) as "isHidden"
    ${fromMigrations(names)}`,
  )
  if (found === undefined) return []
  if (!found.isReadable) {
    const { reader, writer } = roleNames(names)
    throw new WarehouseSchemaError(
      `${found.role} may not read the schemas of ${names.data}; their owner runs ` +
        `\`tracking-sync migrate --roles\` and grants it ${reader} to read, or ${writer} to write`,
    )
  }
  if (found.isHidden) {
    throw new WarehouseSchemaError(
      `row-level security was switched on for the tables of ${names.data} from outside, and hides ` +
        `their rows from ${found.role}; their owner runs \`tracking-sync migrate --roles\`, which ` +
        'switches it off',
    )
  }
  return session.db
    .selectFrom('sync.migrations')
    .select(['version', 'name', 'checksum'])
    .orderBy('version')
    .execute()
}

/** Releases never change a migration: this is a build between releases, or an edited file. */
function ofAnotherBuild(what: string, shipped: Migration, names: SchemaNames): MigrationError {
  const schemas = Object.values(names).join(', ')
  return new MigrationError(
    `the warehouse ${names.data} was made by another build of tracking-sync: where this program has ` +
      `migration ${shipped.name}, ${what}. Nothing was changed. Go on with the build that made it, ` +
      'or load the data again: set TRACKING_SCHEMA to a new name, or drop the schemas ' +
      `${schemas}; then run \`tracking-sync backfill\``,
  )
}

async function ensureUtf8(session: Session): Promise<void> {
  const [row] = await session.query(
    'read the encoding of the database',
    sql<{ encoding: string }>`select getdatabaseencoding() as encoding`,
  )
  if (row?.encoding !== 'UTF8') {
    throw new MigrationError(
      `the database has encoding ${row?.encoding ?? 'unknown'}; create it with encoding UTF8`,
    )
  }
}

/** Texts that may contain semicolons, and the semicolon that ends a statement. */
const PIECES = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$\w*\$)[\s\S]*?\1|;/g

/**
 * The statements of a shipped SQL text, in order, without semicolons and mere comments. Does not
 * support nested comments and `E'\''`.
 */
export function splitStatements(sqlText: string): string[] {
  const statements: string[] = []
  let start = 0
  let isCode = false
  const take = (end: number): void => {
    if (isCode) statements.push(sqlText.slice(start, end).trim())
    isCode = false
  }
  let last = 0
  for (const { 0: piece, index } of sqlText.matchAll(PIECES)) {
    isCode ||= sqlText.slice(last, index).trim() !== ''
    last = index + piece.length
    if (piece === ';') {
      take(index)
      start = last
    }
  }
  isCode ||= sqlText.slice(last).trim() !== ''
  take(sqlText.length)
  return statements
}
