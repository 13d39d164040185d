import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { MigrationError } from '../../base/errors.js'
import { projectFile } from '../../base/project-file.js'
import type { ShippedView } from './shipped-view.js'
import { storedViewsOf } from './stored-views.js'

const DIRECTORY = projectFile('sql/views/')

/**
 * All shipped views, each after those it reads from. Every view of the analytics schema stands a
 * second time in the schema of questions as of an instant, and large ones again in the schema of
 * stored views. Throws MigrationError when views read from each other in a circle.
 */
export async function readViews(directory: string = DIRECTORY): Promise<ShippedView[]> {
  const analytics = await readFolder(`${directory}/analytics`)
  const datasync = await readFolder(`${directory}/datasync`)
  const views = [
    ...[...analytics].map(([name, text]) =>
      toView('analytics', name, text.replace(VARIANTS, '$1')),
    ),
    ...[...analytics].map(([name, text]) =>
      toView('asOf', name, inAsOfSchema(text.replace(VARIANTS, '$2'), analytics)),
    ),
    ...[...datasync].map(([name, text]) => toView('datasync', name, text)),
  ]
  return inOrderOfUse([...views, ...storedViewsOf(views)])
}

/** Texts by name of the view. */
async function readFolder(folder: string): Promise<Map<string, string>> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  const texts = new Map<string, string>()
  for (const file of files) {
    texts.set(file.replace(/\.sql$/, ''), await readFile(`${folder}/${file}`, 'utf8'))
  }
  return texts
}

/** Lines for the present, and those that take their place for an instant: histories. */
const VARIANTS = /^-- now:\n([^]*?)^-- as of:\n([^]*?)^-- end\n/gm

/** Views and the clock are those of the other schema; tables, such as tariffs, are there once. */
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
