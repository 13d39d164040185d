import { WarehouseSchemaError } from '../../base/errors.js'
import {
  quoteIdentifier,
  USERS_TABLES,
  type SchemaNames,
  type TableName,
} from '../connection/schema-names.js'
import { isDistributed } from '../connection/citus.js'
import type { Session, Warehouse } from '../connection/warehouse.js'
import { readShippedTables } from './compare-schema.js'
import { takeMigrationLock } from './run-migrations.js'

/** What the publication sends, as it was left. */
export interface PublicationReport {
  readonly name: string
  /** Names of our tables that it sends. */
  readonly tables: readonly string[]
  /** Those among them that were added now. */
  readonly added: readonly string[]
}

/** A publication with the name of ours; null in place of one that there is not. */
interface PublicationState {
  readonly walLevel: string
  readonly role: string
  /** Statement that lets this login create a publication; null: it may. */
  readonly grant: string | null
  /** Whose our tables are, of those that this login may not act for. */
  readonly tableOwner: string | null
  readonly publicationOwner: string | null
  readonly isOwner: boolean | null
  readonly sendsAllTables: boolean | null
}

/** One for each warehouse of a database: publications have no schema. */
function publicationName(names: SchemaNames): string {
  return names.data
}

/**
 * Throws WarehouseSchemaError, with what is to be done, where this server or this login cannot
 * publish. Reads the catalogs only: ask it before anything is changed.
 */
export async function refuseUnpublishable(warehouse: Warehouse): Promise<void> {
  if (await isDistributed(warehouse)) {
    throw new WarehouseSchemaError(
      'nothing was changed: the warehouse is distributed, and a publication here would send no row ' +
        'of its nodes; let the other side read it, or `tracking-sync export parquet`',
    )
  }
  const name = publicationName(warehouse.names)
  const state = await readState(warehouse)
  if (state.walLevel !== 'logical') {
    throw new WarehouseSchemaError(
      `nothing was changed: this server runs with wal_level = ${state.walLevel}, and a publication ` +
        "needs logical. An administrator runs alter system set wal_level = 'logical' and restarts " +
        'the server; a hosted one has a setting for it (docs/replicas.md)',
    )
  }
  refuseOtherOwner(state, name)
  if (state.sendsAllTables === true) {
    throw new WarehouseSchemaError(
      `nothing was changed: the publication ${name} sends every table of the database, with the ` +
        `bookkeeping; use it as it is, or run drop publication ${quoteIdentifier(name)} first`,
    )
  }
  if (state.publicationOwner === null && state.grant !== null) {
    throw new WarehouseSchemaError(
      `nothing was changed: ${state.role} may not create a publication; ` +
        `the owner of the database grants it: ${state.grant}`,
    )
  }
  if (state.tableOwner !== null) {
    throw new WarehouseSchemaError(
      `nothing was changed: only the owner of the tables may publish them; ` +
        `run this as ${state.tableOwner}`,
    )
  }
}

function refuseOtherOwner(state: PublicationState, name: string): void {
  if (state.isOwner !== false) return
  throw new WarehouseSchemaError(
    `nothing was changed: the publication ${name} belongs to ${state.publicationOwner ?? ''}; ` +
      'run this as that role',
  )
}

/**
 * Creates the publication of this warehouse, or adds to it the tables that it does not send yet. It
 * sends the tables of data and what users imported, which views read; no bookkeeping. What an
 * administrator changed of it stays. Idempotent; one transaction. Ask `refuseUnpublishable` first.
 */
export async function createPublication(warehouse: Warehouse): Promise<PublicationReport> {
  return warehouse.transaction('publish the tables', async (session) => {
    await takeMigrationLock(session, warehouse.names)
    const name = publicationName(warehouse.names)
    const { publicationOwner } = await readState(session)
    if (publicationOwner === null) {
      // Without a list it sends nothing yet.
      await session.query('create the publication', `create publication ${quoteIdentifier(name)}`)
    }
    const added = await addMissingTables(session)
    const tables = (await publishableTables(warehouse.names)).map(({ shown }) => shown)
    return { name, tables, added }
  })
}

/**
 * After an upgrade, where the publication is there and of this login: tables that are new are sent
 * as well. Another's is left alone, and `check` names what it lacks.
 */
export async function renewPublication(session: Session): Promise<void> {
  const { isOwner, sendsAllTables } = await readState(session)
  if (isOwner === true && sendsAllTables === false) await addMissingTables(session)
}

/** Takes the publication away; false where there was none. Slots that were made for it stay. */
export async function dropPublication(warehouse: Warehouse): Promise<boolean> {
  const name = publicationName(warehouse.names)
  const state = await readState(warehouse)
  if (state.publicationOwner === null) return false
  refuseOtherOwner(state, name)
  await warehouse.query('drop the publication', `drop publication ${quoteIdentifier(name)}`)
  return true
}

/** Tables that the publication should send and does not; empty also where there is none. */
export async function findUnpublishedTables(
  warehouse: Pick<Warehouse, 'names' | 'query'>,
): Promise<string[]> {
  const { publicationOwner } = await readState(warehouse)
  if (publicationOwner === null) return []
  return (await missingTables(warehouse)).map(({ shown }) => shown)
}

/**
 * Throws WarehouseSchemaError where a subscription fills our tables: a row that is written there too
 * stops it.
 */
export async function refuseSubscriber({
  names,
  query,
}: Pick<Warehouse, 'names' | 'query'>): Promise<void> {
  const [row] = await query(
    'look for a subscription',
    `select
    from pg_subscription_rel
    inner join pg_class
        on pg_class.oid = srrelid
    where relnamespace = (select oid from pg_namespace where nspname = $1)
    limit 1`,
    [names.data],
  )
  if (row === undefined) return
  throw new WarehouseSchemaError(
    `a subscription fills the tables of ${names.data} here; run this on the server that publishes ` +
      'them, or drop the subscription first (docs/replicas.md)',
  )
}

interface PublishableTable {
  readonly table: TableName
  /** With its schema, for people. */
  readonly shown: string
}

async function publishableTables(names: SchemaNames): Promise<PublishableTable[]> {
  const shipped = await readShippedTables(names)
  return shipped.flatMap((shown) => {
    const [schema = '', table = ''] = shown.split('.')
    const isImported = schema === names.analytics && USERS_TABLES.some((own) => own === table)
    return schema === names.data || isImported ? [{ table: table as TableName, shown }] : []
  })
}

async function missingTables({
  names,
  query,
}: Pick<Session, 'names' | 'query'>): Promise<PublishableTable[]> {
  const rows = await query<{ sent: string }>(
    'look at what the publication sends',
    `select schemaname || '.' || tablename as sent from pg_publication_tables where pubname = $1`,
    [publicationName(names)],
  )
  const sent = new Set(rows.map((row) => row.sent))
  return (await publishableTables(names)).filter(({ shown }) => !sent.has(shown))
}

async function addMissingTables(session: Session): Promise<string[]> {
  const { names } = session
  const missing = await missingTables(session)
  for (const { table } of missing) {
    await session.query(
      `publish ${table}`,
      `alter publication ${quoteIdentifier(publicationName(names))} add table ${names.table(table)}`,
    )
  }
  return missing.map(({ shown }) => shown)
}

async function readState({
  names,
  query,
}: Pick<Session, 'names' | 'query'>): Promise<PublicationState> {
  const [state] = await query<PublicationState>(
    'look for the publication',
    `select
        current_setting('wal_level') as "walLevel",
        current_user::text as role,
        case when not has_database_privilege(current_database(), 'create')
            then format('grant create on database %I to %I', current_database(), current_user)
        end as "grant",
        (
            select min(pg_get_userbyid(relowner)::text)
            from pg_class
            inner join pg_namespace
                on pg_namespace.oid = relnamespace
            where nspname = $2 and relkind in ('r', 'p') and not pg_has_role(relowner, 'usage')
        ) as "tableOwner",
        pg_get_userbyid(publication.pubowner)::text as "publicationOwner",
        pg_has_role(publication.pubowner, 'usage') as "isOwner",
        publication.puballtables as "sendsAllTables"
    from (select) as one
    left join pg_publication as publication
        on publication.pubname = $1`,
    [publicationName(names), names.data],
  )
  if (state === undefined) throw new Error('a left join of one row has a row')
  return state
}
