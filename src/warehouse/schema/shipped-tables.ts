import { sql, type RawBuilder } from 'kysely'
import { readFile } from 'node:fs/promises'
import { MigrationError } from '../../base/errors.js'
import { projectFile } from '../../base/project-file.js'
import { SchemaNames, type Schemas } from '../connection/schema-names.js'
import type { Session } from '../connection/warehouse.js'
import { readViews } from './shipped-views.js'

/** A reader of the catalogs: a warehouse, or one transaction of it. */
export type CatalogReader = Pick<Session, 'query' | 'names'>

const SCHEMA_FILE = projectFile('sql/schema.sql')

/** The schema name in `sql/schema.sql`. */
const SHIPPED_NAMES = new SchemaNames('tracking')

/** `sql/schema.sql` for these schemas. The name of a session's setting is the same for all. */
export async function readShippedSchema(names: SchemaNames): Promise<string> {
  const byShippedName = new Map(
    Object.entries(SHIPPED_NAMES).map(([kind, name]) => [name, names[kind as keyof Schemas]]),
  )
  return unquoteSchemas(await readFile(SCHEMA_FILE, 'utf8'), SHIPPED_NAMES).replace(
    /\b(tracking(?:_\w+)?)\.(?!as_of')/g,
    (text, name: string) => {
      const own = byShippedName.get(name)
      return own === undefined ? text : `${own}.`
    },
  )
}

/** PostgreSQL quotes a schema's name that is also a word of SQL; our functions always quote it. */
export function unquoteSchemas(text: string, names: SchemaNames): string {
  let plain = text
  for (const name of Object.values(names)) plain = plain.replaceAll(`"${name}".`, `${name}.`)
  return plain
}

/** The tables that this program ships, as `schema.table`, by the names of these schemas. */
export async function readShippedTables(names: SchemaNames): Promise<string[]> {
  const schema = await readShippedSchema(names)
  return [...schema.matchAll(/^create (?:unlogged )?table (\S+) \(/gm)].map(
    ([, table = '']) => table,
  )
}

const SHOWN = 3

/**
 * Finds the list of migrations in the bookkeeping schema, even if its rows are hidden. A table of
 * another program has other columns.
 */
export const fromMigrations = ({ sync }: SchemaNames): RawBuilder<unknown> => sql`from pg_class
    where relname = 'migrations'
        and relkind = 'r'
        and relnamespace in (select oid from pg_namespace where nspname = ${sync})
        and 3 = (
            select count(*)
            from pg_attribute
            where attrelid = pg_class.oid
                and (
                    attname = 'version' and atttypid = 'pg_catalog.int4'::regtype
                    or attname in ('name', 'checksum') and atttypid = 'pg_catalog.text'::regtype
                )
        )`

/**
 * Throws MigrationError if the name of a table or view of ours is taken and nothing shows that it
 * is ours: the list of migrations is missing or known to be empty.
 */
export async function refuseUnknownTables(
  { names, query }: CatalogReader,
  isListEmpty = false,
): Promise<void> {
  const views = (await readViews()).map(({ schema, name }) => `${names[schema]}.${name}`)
  const found = await query(
    'look for tables in the way',
    sql<{ name: string }>`select nspname || '.' || relname as name
from pg_class
inner join pg_namespace
    on pg_namespace.oid = relnamespace
where nspname || '.' || relname = any(${[...(await readShippedTables(names)), ...views]}::text[])
    and (${isListEmpty} or not exists (select ${fromMigrations(names)}))
order by 1`,
  )
  if (found.length === 0) return
  const shown = found.slice(0, SHOWN).map(({ name }) => name)
  const rest = found.length - shown.length
  throw new MigrationError(
    `${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''} ${found.length === 1 ? 'has a name' : 'have names'} ` +
      `that this program needs, but nothing shows that it made them ` +
      `(${names.sync}.migrations lists none of its migrations). If another program did, set ` +
      `TRACKING_SCHEMA to a name of its own; if this one did, restore ${names.sync} from a backup, ` +
      `or drop the schemas ${Object.values(names).join(', ')} and run \`tracking-sync backfill\``,
  )
}
