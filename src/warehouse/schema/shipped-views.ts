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

const TABLE_PREFIX = 'rows_of_'

/** Table of the bookkeeping schema that holds the rows of a stored view. */
export function storedTable(viewName: string): string {
  return `${TABLE_PREFIX}${viewName}`
}

/** Whether a table of the bookkeeping schema holds the rows of a stored view. */
export function holdsStoredRows(tableName: string): boolean {
  return tableName.startsWith(TABLE_PREFIX)
}
