import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { MigrationError } from '../../base/errors.js'
import { projectFile } from '../../base/project-file.js'

/** A shipped view: one file of `sql/views/<folder>/`, or made from its source if stored. */
export interface ShippedView {
  readonly schema: 'analytics' | 'asOf' | 'datasync' | 'stored'
  readonly name: string
  /** First line of the file's header. */
  readonly title: string
  /** The whole header: the grain and every choice that a reader could doubt. */
  readonly definition: string
  /** With placeholders for the schema names. */
  readonly sqlText: string
  /** SHA-256 of the text. */
  readonly checksum: string
}

const DIRECTORY = projectFile('sql/views/')
const PARTS = projectFile('sql/views/parts/')

/**
 * All shipped views, each after the views that it reads. Views of the analytics schema come a
 * second time, in the schema of questions as of an instant. Throws MigrationError for a circle.
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

/** Texts by file name. */
async function readFolder(folder: string): Promise<Map<string, string>> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  const texts = new Map<string, string>()
  for (const file of files) {
    texts.set(file.replace(/\.sql$/, ''), await readFile(`${folder}/${file}`, 'utf8'))
  }
  return texts
}

/** A shared part of queries, alone on its line. */
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

/** Lines for the present, and their replacement for an instant, from histories. */
const VARIANTS = /^-- now:\n([^]*?)^-- as of:\n([^]*?)^-- end\n/gm

/** Views and the clock become those of the other schema; tables, such as rules, exist once. */
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

/** The leading comment lines of a shipped SQL file, without their dashes. */
export function readHeader(sqlText: string): string {
  const lines = sqlText.split('\n')
  const end = lines.findIndex((line) => !line.startsWith('--'))
  const header = end === -1 ? lines : lines.slice(0, end)
  return header.map((line) => line.replace(/^-- ?/, '')).join('\n')
}

/** Depth first, so that a view comes after all that it names. */
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

/** The views of the schema `stored`. `store-views` creates them, and an upgrade drops them. */
export function storedViewsOf(views: readonly ShippedView[]): ShippedView[] {
  return STORED_VIEWS.flatMap((storable) => {
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

/** Copies the meaning of the source's columns. */
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
