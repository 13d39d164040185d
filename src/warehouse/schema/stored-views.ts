import { createHash } from 'node:crypto'
import type { ShippedView } from './shipped-view.js'
import { quoteIdentifier, type SchemaNames } from '../connection/schema-names.js'

interface Storable extends Pick<ShippedView, 'schema' | 'name'> {
  /** The view's first column; `container_id` unless told otherwise. */
  readonly firstColumn?: string
  /**
   * A time of ours that questions about a month are narrowed by: the rows lie in its order, and so
   * those of a month together.
   */
  readonly orderedBy?: string
  /** What else questions are narrowed by, where the rows are too many to be read through. */
  readonly indexed?: readonly string[]
  /** The same for texts of the source, which may be longer than an entry of a btree can be. */
  readonly indexedTexts?: readonly string[]
}

/**
 * Views that over a million containers take longer than ten seconds whole, or than one for a line
 * or a month (docs/performance.md).
 */
const STORED: readonly Storable[] = [
  { schema: 'analytics', name: 'carrier_scorecards', firstColumn: 'shipping_line_scac' },
  { schema: 'analytics', name: 'container_milestones', indexed: ['pod_discharged_at'] },
  { schema: 'analytics', name: 'container_timeline', orderedBy: 'occurred_at' },
  { schema: 'analytics', name: 'data_quality', firstColumn: 'subject_type' },
  { schema: 'analytics', name: 'demurrage_exposure' },
  {
    schema: 'analytics',
    name: 'demurrage_evidence',
    indexed: ['pod_terminal_id', 'seen_at'],
    indexedTexts: ['shipping_line_scac'],
  },
  { schema: 'analytics', name: 'eta_changes', firstColumn: 'shipment_id' },
  { schema: 'analytics', name: 'fee_history' },
  { schema: 'analytics', name: 'hold_durations' },
  { schema: 'analytics', name: 'last_free_days' },
  { schema: 'analytics', name: 'shipment_arrivals', firstColumn: 'shipment_id' },
  { schema: 'analytics', name: 'status_durations', indexed: ['first_seen_at'] },
  { schema: 'analytics', name: 'terminal_dwell', firstColumn: 'terminal_id' },
  { schema: 'analytics', name: 'transshipments' },
  { schema: 'datasync', name: 'containers', indexed: ['pod_discharged_at'] },
  {
    schema: 'datasync',
    name: 'transport_events',
    firstColumn: 'id',
    indexed: ['event_timestamp'],
    indexedTexts: ['facility_firms_code'],
  },
]

/** The two tables of a stored view take turns: one is read while the other is filled. */
export const SLOTS = ['a', 'b'] as const
export type Slot = (typeof SLOTS)[number]

/** Table of the bookkeeping schema that holds the rows of a stored view. */
export function slotTable(storedName: string, slot: Slot): string {
  return `stored_${storedName}_${slot}`
}

/**
 * Whether a table of the bookkeeping schema holds rows of a stored view. Its columns are explained
 * where the view is.
 */
export function isSlotTable(tableName: string): boolean {
  return /^stored_\w+_[ab]$/.test(tableName)
}

/** Of the shipped views, those that can be stored, as the views of the schema `stored`. */
export function storedViewsOf(views: readonly ShippedView[]): ShippedView[] {
  return STORED.flatMap((storable) => {
    const source = views.find(
      ({ schema, name }) => schema === storable.schema && name === storable.name,
    )
    return source === undefined ? [] : [toStoredView(source, storable)]
  })
}

const DATASYNC_PREFIX = 'datasync_'

/** Name of a view among the stored ones, where both families have theirs. */
function storedName({ schema, name }: Pick<ShippedView, 'schema' | 'name'>): string {
  return schema === 'datasync' ? `${DATASYNC_PREFIX}${name}` : name
}

/** The view that a stored one is of, quoted and with its schema. */
export function sourceOf(name: string, names: SchemaNames): string {
  const [schema, view] = name.startsWith(DATASYNC_PREFIX)
    ? [names.datasync, name.slice(DATASYNC_PREFIX.length)]
    : [names.analytics, name]
  return `${quoteIdentifier(schema)}.${quoteIdentifier(view)}`
}

/** The column whose order the rows of a stored view are to lie in. */
export function orderOf(name: string): string | undefined {
  return STORED.find((storable) => storedName(storable) === name)?.orderedBy
}

/**
 * The view, and the tables that hold its rows, which are made with the columns the source has then.
 * One of three branches is read: the table that is filled, or, where none is, the source itself. A
 * table that should have rows and has none (a crash of the server, or a reader whose snapshot is
 * older than the emptying of the table it is to read) counts as none. Begins anew, with nothing
 * stored, whenever the source's text changes: `checksum` is of both.
 *
 * Which table is read is asked of every row, by way of its first column: a condition that names no
 * column would be asked once, by a step between the table and the answer that takes every column of
 * every row apart, twice as long as the reading itself.
 */
function toStoredView(
  source: ShippedView,
  { firstColumn = 'container_id', orderedBy, indexed = [], indexedTexts = [] }: Storable,
): ShippedView {
  const name = storedName(source)
  const target = `{{${source.schema}}}.${source.name}`
  const [a, b] = SLOTS.map((slot) => `{{sync}}.${slotTable(name, slot)}`) as [string, string]
  const slotRead = `(select slot from {{sync}}.stored_views where view_name = '${name}')`
  const isSlot = (slot: string): string => {
    const isIt = `(select slot = ${slot} from {{sync}}.stored_views where view_name = '${name}')`
    return `case when stored.${firstColumn} is null then ${isIt} else ${isIt} end`
  }
  const ordered = orderedBy === undefined ? [] : [orderedBy]
  const create = (table: string): string => {
    const index = (column: string, method: string): string =>
      `create index if not exists ${table.replace(/^.*\./, '')}_${column}_idx on ${table} using ${method} (${column});`
    return `create unlogged table if not exists ${table} as
select shown.*, null::timestamptz as _stored_at from ${target} as shown
with no data;
comment on table ${table} is
    'Rows of the stored view ${name}, one of the two tables that take turns; its columns are explained there. Unlogged: empty after a crash of the database.';
${[
  ...[...ordered, ...indexed].map((column) => index(column, 'btree')),
  ...indexedTexts.map((column) => index(column, 'spgist')),
].join('\n')}`
  }
  const sqlText = `-- ${target} as it was stored last
${create(a)}
${create(b)}
truncate ${a}, ${b};
delete from {{sync}}.stored_views where view_name = '${name}';

create view {{stored}}.${name} as
select stored.* from ${a} as stored where ${isSlot("'a'")}
union all
select stored.* from ${b} as stored where ${isSlot("'b'")}
union all
select shown.*, null::timestamptz
from ${target} as shown
where not case ${slotRead}
    when 'a' then exists (select from ${a})
    when 'b' then exists (select from ${b})
    else false
end;

${commentsSql(name, target)}
`
  return {
    schema: 'stored',
    name,
    title: source.title,
    definition: source.definition,
    sqlText,
    checksum: createHash('sha256').update(sqlText).update(source.checksum).digest('hex'),
  }
}

/** What the source says of its columns. */
function commentsSql(name: string, target: string): string {
  return `do $comments$
declare
    explained record;
begin
    for explained in
        select attname, col_description(attrelid, attnum) as meaning
        from pg_attribute
        where attrelid = '${target}'::regclass and attnum > 0
    loop
        execute format('comment on column {{stored}}.${name}.%I is %L', explained.attname, explained.meaning);
    end loop;
end;
$comments$;
comment on column {{stored}}.${name}._stored_at is
    'What instant the row is of. Null: nothing is stored, and this is the view as it is now. UTC.';
comment on view {{stored}}.${name} is
    'The rows of ${target.replace(/[{}]/g, '')} as they stood at _stored_at: for reports that read all of them.';`
}
