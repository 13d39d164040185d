import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { MigrationError } from '../../base/errors.js'
import { projectFile } from '../../base/project-file.js'

/**
 * A shipped view: one file of `sql/views/<folder>/`, named after it. A stored one is made
 * from its source's.
 */
export interface ShippedView {
  readonly schema: 'analytics' | 'asOf' | 'datasync' | 'stored'
  readonly name: string
  /** First line of the file's header. */
  readonly title: string
  /** The whole header: the grain and every choice a reader could doubt. */
  readonly definition: string
  /** With placeholders for the schema names. */
  readonly sqlText: string
  /** SHA-256 of the text. */
  readonly checksum: string
}

const DIRECTORY = projectFile('sql/views/')
const PARTS = projectFile('sql/views/parts/')

/**
 * All shipped views, each after those it reads from. Every view of the analytics schema stands a
 * second time in the schema of questions as of an instant. Throws MigrationError when views read
 * from each other in a circle.
 */
export async function readViews(directory: string = DIRECTORY): Promise<ShippedView[]> {
  const parts = await readFolder(PARTS)
  const analytics = await readViewFolder(`${directory}/analytics`, parts)
  const datasync = await readViewFolder(`${directory}/datasync`, parts)
  const views = [
    ...[...analytics].map(([name, text]) =>
      toView('analytics', name, text.replace(VARIANTS, '$1')),
    ),
    ...[...analytics].map(([name, text]) =>
      toView('asOf', name, inAsOfSchema(text.replace(VARIANTS, '$2'), analytics)),
    ),
    ...[...datasync].map(([name, text]) => toView('datasync', name, text)),
  ]
  return inOrderOfUse(views)
}

/** Texts by name of the file. */
async function readFolder(folder: string): Promise<Map<string, string>> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  const texts = new Map<string, string>()
  for (const file of files) {
    texts.set(file.replace(/\.sql$/, ''), await readFile(`${folder}/${file}`, 'utf8'))
  }
  return texts
}

/** A part of a query that several views have, alone on its line. */
const PART = /^( *)\{\{part (\w+)\}\}$/gm

async function readViewFolder(
  folder: string,
  parts: ReadonlyMap<string, string>,
): Promise<Map<string, string>> {
  const texts = await readFolder(folder)
  for (const [name, text] of texts) {
    const whole = text.replace(PART, (line, indent: string, part: string) =>
      (parts.get(part) ?? line).trimEnd().replace(/^(?=.)/gm, indent),
    )
    texts.set(name, whole)
  }
  return texts
}

/** Lines for the present, and those that take their place for an instant: histories. */
const VARIANTS = /^-- now:\n([^]*?)^-- as of:\n([^]*?)^-- end\n/gm

/** Views and the clock are those of the other schema; tables, such as rules, are there once. */
function inAsOfSchema(sqlText: string, views: ReadonlyMap<string, string>): string {
  return sqlText.replace(/\{\{analytics\}\}\.(\w+)/g, (target, name: string) =>
    views.has(name) || name === 'as_of' ? `{{asOf}}.${name}` : target,
  )
}

function toView(schema: ShippedView['schema'], name: string, sqlText: string): ShippedView {
  const definition = readHeader(sqlText)
  return {
    schema,
    name,
    title: definition.split('\n')[0] ?? '',
    definition,
    sqlText,
    checksum: createHash('sha256').update(sqlText).digest('hex'),
  }
}

/** The comment lines a shipped SQL file begins with, without their dashes. */
export function readHeader(sqlText: string): string {
  const lines = sqlText.split('\n')
  const end = lines.findIndex((line) => !line.startsWith('--'))
  const header = end === -1 ? lines : lines.slice(0, end)
  return header.map((line) => line.replace(/^-- ?/, '')).join('\n')
}

/** Depth first, so that a view stands after everything it names. */
function inOrderOfUse(views: readonly ShippedView[]): ShippedView[] {
  const byTarget = new Map(views.map((view) => [`{{${view.schema}}}.${view.name}`, view]))
  const ordered = new Set<ShippedView>()
  const visit = (view: ShippedView, path: readonly string[]): void => {
    if (ordered.has(view)) return
    if (path.includes(view.name)) {
      throw new MigrationError(`the views ${[...path, view.name].join(' → ')} read from each other`)
    }
    for (const [target] of view.sqlText.matchAll(/\{\{(?:analytics|asOf|datasync)\}\}\.\w+/g)) {
      const used = byTarget.get(target)
      if (used !== undefined && used !== view) visit(used, [...path, view.name])
    }
    ordered.add(view)
  }
  for (const view of views) visit(view, [])
  return [...ordered]
}

/** A view that is stored. */
export interface StorableView {
  /** Among the stored ones: with a prefix for those of the compatibility schema. */
  readonly name: string
  readonly source: Pick<ShippedView, 'schema' | 'name'>
  /** A time that reports filter by: the rows lie in its order, those of a month together. */
  readonly orderedBy?: string
  /** What else reports filter by, where the rows are too many to read them all. */
  readonly indexed?: readonly string[]
  /** The same for texts of the source, which can be too long for a btree. */
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
 * Views that take longer than three seconds over 100,000 containers, that is longer than thirty
 * over a million (docs/performance.md).
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
  ofAnalytics('charge_days', {
    orderedBy: 'charged_on',
    indexed: ['pod_terminal_id'],
    indexedTexts: ['shipping_line_scac'],
  }),
  ofAnalytics('container_timeline', { orderedBy: 'occurred_at' }),
  ofAnalytics('demurrage_evidence', {
    indexed: ['pod_terminal_id', 'seen_at'],
    indexedTexts: ['shipping_line_scac'],
  }),
  ofAnalytics('exceptions'),
  ofDatasync('containers', { indexed: ['pod_discharged_at'] }),
  ofDatasync('transport_events', {
    indexed: ['event_timestamp'],
    indexedTexts: ['facility_firms_code'],
  }),
]

const TABLE_PREFIX = 'rows_of_'

/** Table of the bookkeeping schema that holds the rows of a stored view. */
export function storedTable(viewName: string): string {
  return `${TABLE_PREFIX}${viewName}`
}

/** Whether a table of the bookkeeping schema holds the rows of a stored view. */
export function holdsStoredRows(tableName: string): boolean {
  return tableName.startsWith(TABLE_PREFIX)
}

/**
 * The views of the schema `stored` over these. `store-views` makes them, and an upgrade drops them.
 */
export function storedViewsOf(views: readonly ShippedView[]): ShippedView[] {
  return STORED_VIEWS.flatMap((storable) => {
    const { source } = storable
    const view = views.find(({ schema, name }) => schema === source.schema && name === source.name)
    return view === undefined ? [] : [toStoredView(view, storable)]
  })
}

/**
 * The view and the table of its rows. Where nothing is stored the view reads its source. The rows
 * and the mark that they are there (a row of stored_views) are written in one transaction, and both
 * tables are unlogged: a crash of the server empties both. A change of the source's text, or of
 * ours, empties them too.
 */
function toStoredView(view: ShippedView, storable: StorableView): ShippedView {
  const { name, orderedBy, indexed = [], indexedTexts = [] } = storable
  const source = `{{${view.schema}}}.${view.name}`
  const table = `{{sync}}.${storedTable(name)}`
  const index = (column: string, method: string): string =>
    `create index if not exists ${TABLE_PREFIX}${name}_${column}_idx
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

${commentsSql(name, source)}
`
  return {
    schema: 'stored',
    name,
    title: view.title,
    definition: view.definition,
    sqlText,
    checksum: createHash('sha256').update(sqlText).update(view.checksum).digest('hex'),
  }
}

/** The columns mean what they mean in the source. */
function commentsSql(name: string, source: string): string {
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
