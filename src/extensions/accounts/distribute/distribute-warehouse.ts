import { sql } from 'kysely'
import { ConnectorError, toError, WarehouseSchemaError } from '../../../base/errors.js'
import { LIFT_TIME_LIMIT } from '../../../warehouse/connection/bound-connection.js'
import type { SchemaNames } from '../../../warehouse/connection/schema-names.js'
import type { Session, Warehouse } from '../../../warehouse/connection/warehouse.js'
import { dropViews, makeViews } from '../../../warehouse/schema/install-views.js'
import { renewGrants } from '../../../warehouse/schema/roles.js'
import { takeMigrationLock } from '../../../warehouse/schema/run-migrations.js'
import { isDistributed } from './citus.js'
import { planDistribution, type DistributionPlan } from './plan-distribution.js'
import { rawStatement } from '../../../warehouse/connection/typed-database.js'

export interface DistributeOptions {
  readonly signal: AbortSignal
  /** Called after each statement with its text, its number and the number of all. */
  readonly onProgress?: (statement: string, done: number, all: number) => void
}

/**
 * Carries out a plan without refusals. The caller holds the lease. Moves all tables in one
 * transaction, which also tries every view: if the nodes cannot read one, or after a kill, nothing
 * has changed. Then frees the room that the rows took, table by table; after a kill the next plan
 * contains the rest.
 */
export async function carryOut(
  warehouse: Warehouse,
  plan: DistributionPlan,
  { signal, onProgress }: DistributeOptions,
): Promise<void> {
  const { names } = warehouse
  const all = plan.statements.length + plan.freeing.length
  let done = 0
  const run = async (session: Session, statement: string): Promise<void> => {
    signal.throwIfAborted()
    await session.query('distribute the warehouse', rawStatement(statement))
    done += 1
    onProgress?.(statement, done, all)
  }
  if (plan.statements.length > 0) {
    await warehouse.transaction('distribute the warehouse', async (session) => {
      await takeMigrationLock(session)
      const lost = await readWhatIsLost(session, names)
      // Citus would create each view on every node, and again for every table.
      await dropViews(session, names)
      for (const statement of plan.statements) await run(session, statement)
      await makeViews(session, names)
      await renewGrants(session, names)
      for (const statement of lost)
        await session.query('bring back what is lost', rawStatement(statement))
      await tryViews(session, names)
      // A stop before this line changes nothing.
      signal.throwIfAborted()
    })
  }
  for (const statement of plan.freeing) {
    await warehouse.transaction('free what was moved', async (session) => {
      await session.query('free what was moved', LIFT_TIME_LIMIT)
      await run(session, statement)
    })
  }
}

/**
 * After migrations: moves the tables that they created to the rest of a distributed warehouse. An
 * obstacle leaves a table where it is, and `check` reports it.
 */
export async function distributeAdded(warehouse: Warehouse): Promise<void> {
  if (!(await isDistributed(warehouse))) return
  const plan = await planDistribution(warehouse)
  if (plan.refusals.length > 0) return
  await carryOut(warehouse, plan, { signal: new AbortController().signal })
}

/**
 * Statements that restore what a new table or view loses: comments of tables, which Citus drops on
 * the way back, and rights that somebody granted on our views.
 */
async function readWhatIsLost(session: Session, names: SchemaNames): Promise<readonly string[]> {
  const rows = await session.query(
    'read comments and rights',
    sql<{ statement: string }>`select format(
    'comment on %s %s%s is %L',
    case when objsubid = 0 then 'table' else 'column' end,
    objoid::regclass,
    coalesce('.' || quote_ident(attname), ''),
    description
) as statement
from pg_description
inner join pg_class
    on pg_class.oid = objoid and classoid = 'pg_class'::regclass
inner join pg_namespace
    on pg_namespace.oid = relnamespace
left join pg_attribute
    on attrelid = objoid and attnum = objsubid and objsubid > 0
where nspname = any(${Object.values(names)}::text[]) and relkind = 'r'
union all
select format(
    'grant %s on %s to %s%s',
    granted.privilege_type,
    pg_class.oid::regclass,
    case granted.grantee when 0 then 'public' else granted.grantee::regrole::text end,
    case when granted.is_grantable then ' with grant option' else '' end
)
from pg_class
inner join pg_namespace
    on pg_namespace.oid = relnamespace
cross join lateral aclexplode(relacl) as granted
where nspname = any(${Object.values(names)}::text[]) and relkind = 'v' and granted.grantee <> relowner`,
  )
  return rows.map(({ statement }) => statement)
}

/**
 * Tries every view that reads one of our tables, ours or another's, in the order of their creation.
 * Stored ones read the others.
 */
async function tryViews(session: Session, names: SchemaNames): Promise<void> {
  const views = await session.query(
    'list the views',
    sql<{ schema: string; view: string }>`with recursive reading as (
    select pg_class.oid
    from pg_class
    inner join pg_namespace
        on pg_namespace.oid = relnamespace
    where nspname = any(${Object.values(names)}::text[]) and relkind = 'r'
    union
    select rule.ev_class
    from reading
    inner join pg_depend as depend
        on depend.refobjid = reading.oid and depend.refclassid = 'pg_class'::regclass
    inner join pg_rewrite as rule
        on rule.oid = depend.objid and depend.classid = 'pg_rewrite'::regclass
)
select nspname::text as schema, relname::text as view
from reading
inner join pg_class
    on pg_class.oid = reading.oid
inner join pg_namespace
    on pg_namespace.oid = relnamespace
where relkind in ('v', 'm') and nspname <> ${names.stored}
order by pg_class.oid`,
  )
  for (const { schema, view } of views) {
    try {
      await session.query(
        'try a view',
        sql`select shown.* from ${sql.id(schema, view)} as shown limit 0`,
      )
    } catch (thrown) {
      if (!(thrown instanceof ConnectorError) || thrown.fate === 'retry') throw thrown
      const said = thrown.cause instanceof Error ? thrown.cause.message : toError(thrown).message
      throw new WarehouseSchemaError(
        `the view ${schema}.${view} would become unreadable: ${said}. Nothing was changed; ` +
          'drop the view, or have it read from tables of one kind',
        { cause: thrown },
      )
    }
  }
}
