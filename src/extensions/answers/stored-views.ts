import { createHash } from 'node:crypto'
import { storedTable, type ShippedView } from '../../warehouse/schema/shipped-views.js'

/** A view that is stored. */
export interface StorableView {
  /** Name among the stored views: with a prefix for the compatibility schema. */
  readonly name: string
  readonly source: Pick<ShippedView, 'schema' | 'name'>
  /** A time that reports filter by: rows are stored in its order, so that a month is together. */
  readonly orderedBy?: string
  /** Other filter columns, for tables too large to read as a whole. */
  readonly indexed?: readonly string[]
  /** Like `indexed`, for texts of the source, which can be too long for a btree. */
  readonly indexedTexts?: readonly string[]
}

function ofAnalytics(
  name: string,
  options: Omit<StorableView, 'name' | 'source'> = {},
): StorableView {
  return { name, source: { schema: 'analytics', name }, ...options }
}

function ofDatasync(name: string, options: Omit<StorableView, 'name' | 'source'>): StorableView {
  return { name: `datasync_${name}`, source: { schema: 'datasync', name }, ...options }
}

/**
 * Views that take more than three seconds over 100,000 containers: more than thirty over a million
 * (docs/performance.md).
 */
export const STORED_VIEWS: readonly StorableView[] = [
  ofAnalytics('changes', {
    indexed: ['pod_terminal_id', 'learned_at'],
    indexedTexts: ['shipping_line_scac'],
  }),
  ofAnalytics('charge_clocks', {
    indexed: ['pod_terminal_id'],
    indexedTexts: ['shipping_line_scac'],
  }),
  ofAnalytics('charged_days', {
    orderedBy: 'charged_on',
    indexed: ['pod_terminal_id'],
    indexedTexts: ['shipping_line_scac'],
  }),
  ofAnalytics('timeline', { orderedBy: 'occurred_at' }),
  ofAnalytics('evidence', {
    indexed: ['pod_terminal_id', 'seen_at'],
    indexedTexts: ['shipping_line_scac'],
  }),
  ofAnalytics('attention'),
  ofDatasync('containers', { indexed: ['pod_discharged_at'] }),
  ofDatasync('transport_events', {
    indexed: ['event_timestamp'],
    indexedTexts: ['facility_firms_code'],
  }),
]

/** Views of the schema `stored`: `database store-views` creates them, an upgrade drops them. */
export function storedViewsOf(
  views: readonly ShippedView[],
  storables: readonly StorableView[] = STORED_VIEWS,
): ShippedView[] {
  return storables.flatMap((storable) => {
    const { source } = storable
    const view = views.find(({ schema, name }) => schema === source.schema && name === source.name)
    return view === undefined ? [] : [toStoredView(view, storable)]
  })
}

/**
 * A stored view and the table of its rows. Without stored rows the view reads its source. Rows and
 * their mark (a row of stored_views) are written in one transaction, and both tables are unlogged:
 * a crash of the server empties both. A change of the source's text, or of this one, empties them
 * too.
 */
function toStoredView(view: ShippedView, storable: StorableView): ShippedView {
  const { name, orderedBy, indexed = [], indexedTexts = [] } = storable
  const source = `{{${view.schema}}}.${view.name}`
  const table = `{{sync}}.${storedTable(name)}`
  const index = (column: string, method: string): string =>
    `create index if not exists ${storedTable(name)}_${column}_idx
    on ${table} using ${method} (${column});`
  const times = orderedBy === undefined ? indexed : [orderedBy, ...indexed]
  const sqlText = `-- The rows of ${source} as they were stored last
create unlogged table if not exists ${table} as
select shown.*, null::timestamptz as _stored_at from ${source} as shown
with no data;
comment on table ${table} is
    'Rows of the stored view ${name}, where its columns are explained. Unlogged: empty after a crash.';
${[
  ...times.map((column) => index(column, 'btree')),
  ...indexedTexts.map((column) => index(column, 'spgist')),
].join('\n')}
truncate ${table};
delete from {{sync}}.stored_views where view_name = '${name}';

create view {{stored}}.${name} as
select stored.* from ${table} as stored
union all
select shown.*, null::timestamptz
from ${source} as shown
where not exists (select view_name from {{sync}}.stored_views where view_name = '${name}');

${copiedComments(name, source)}
`
  return {
    schema: 'stored',
    name,
    title: view.title,
    definition: view.definition,
    sqlText,
    checksum: createHash('sha256').update(sqlText).update(view.sqlText).digest('hex'),
  }
}

/** Copies the meaning of the source's columns. */
function copiedComments(name: string, source: string): string {
  return `do $comments$
declare
    explained record;
begin
    for explained in
        select attname, col_description(attrelid, attnum) as meaning
        from pg_attribute
        where attrelid = '${source}'::regclass and attnum > 0
    loop
        execute format(
            'comment on column {{stored}}.${name}.%I is %L', explained.attname, explained.meaning
        );
    end loop;
end;
$comments$;
comment on column {{stored}}.${name}._stored_at is
    'When the row was stored. Null: nothing is stored, and this is the view as it is now. UTC.';
comment on view {{stored}}.${name} is
    'The rows of ${source.replace(/[{}]/g, '')} as they were at _stored_at: for reports that read all of them.';`
}
