import { sql } from 'kysely'
import type { CatalogReader } from '../../../warehouse/schema/shipped-tables.js'

/**
 * Obstacles on which Citus, or the way back, would fail, by kind: a sentence that ends with the
 * places.
 */
const OBSTACLES = {
  trigger: 'a distributed table cannot have a trigger; drop first: ',
  'foreign key': 'a foreign key cannot lead to a table on another node; drop first: ',
  policy:
    'nodes know no policy of row security (`tracking-sync migrate --drop-customers` drops ' +
    'ours); drop first: ',
  publication: 'a publication here cannot send rows of a node (`drop publication`); drop first: ',
  'view on a view': 'our views are created again, and your objects read them; drop first: ',
  "another's view":
    'Citus creates views on our tables again, which only their owners may; drop first: ',
  "another's table":
    'this login cannot grant rights on objects of others in our schemas; move each to another ' +
    'schema, or change its owner: ',
  owner: 'only the owner of our tables may do this; run it with the login ',
} as const

/** Finds the obstacles before anything is changed, each a sentence. Any login may ask. */
export async function findObstacles(
  { query, names }: CatalogReader,
  tables: readonly string[],
): Promise<string[]> {
  const rows = await query(
    'look for what cannot be distributed',
    sql<{ kind: keyof typeof OBSTACLES; places: readonly string[] }>`with ours as (
    select name::regclass as relation from unnest(${tables}::text[]) as name
),
reading as (
    select rule.ev_class as view, depend.refobjid as relation
    from pg_depend as depend
    inner join pg_rewrite as rule
        on rule.oid = depend.objid
            and depend.classid = 'pg_rewrite'::regclass
            and depend.refclassid = 'pg_class'::regclass
),
standing as (
    select
        pg_class.oid as relation,
        nspname || '.' || relname as place,
        relkind,
        relowner,
        nspname = any(${Object.values(names)}::text[]) as is_in_ours,
        pg_has_role(relowner, 'usage') as is_own
    from pg_class
    inner join pg_namespace
        on pg_namespace.oid = relnamespace
),
found as (
    select 'trigger' as kind, 'trigger ' || tgname || ' on ' || tgrelid::regclass as place
    from pg_trigger
    where tgrelid in (select relation from ours) and not tgisinternal
    union all
    select 'foreign key', 'foreign key ' || conname || ' of ' || conrelid::regclass
    from pg_constraint
    where contype = 'f'
        and (conrelid in (select relation from ours)) <> (confrelid in (select relation from ours))
    union all
    select 'policy', 'policy ' || polname || ' on ' || polrelid::regclass
    from pg_policy
    where polrelid in (select relation from ours)
    union all
    select 'publication', 'publication ' || pubname
    from pg_publication_tables
    inner join standing
        on standing.place = schemaname || '.' || tablename
    where standing.relation in (select relation from ours)
    union all
    select 'view on a view', 'view ' || view.place
    from reading
    inner join standing as own
        on own.relation = reading.relation and own.is_in_ours and own.relkind = 'v'
    inner join standing as view
        on view.relation = reading.view and not view.is_in_ours
    union all
    select 'another''s view', 'view ' || view.place || ' of ' || pg_get_userbyid(view.relowner)
    from reading
    inner join standing as view
        on view.relation = reading.view and not view.is_in_ours and not view.is_own
    where reading.relation in (select relation from ours)
    union all
    select 'another''s table', standing.place || ' of ' || pg_get_userbyid(relowner)
    from standing
    where is_in_ours
        and relkind in ('r', 'p', 'v', 'm', 'f')
        and not is_own
        and relowner not in (
            select owned.relowner
            from standing as owned
            where owned.relation in (select relation from ours)
        )
    union all
    select 'owner', pg_get_userbyid(relowner)::text
    from standing
    where relation in (select relation from ours) and not is_own
)
select kind, array_agg(distinct place order by place) as places
from found
group by kind
order by kind`,
  )
  return rows.map(({ kind, places }) => `${OBSTACLES[kind]}${places.join(', ')}`)
}
