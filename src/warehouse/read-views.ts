import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { MigrationError } from '../errors.js'

/** A shipped view: one file of `sql/views/<schema>/`, named after it. */
export interface ShippedView {
  /** Folder of the file. */
  readonly schema: 'analytics' | 'datasync'
  readonly name: string
  readonly isMaterialized: boolean
  /** First line of the file's header. */
  readonly title: string
  /** The whole header: the grain and every choice a reader could doubt. */
  readonly definition: string
  /** With placeholders for the schema names. */
  readonly sqlText: string
  /** SHA-256 of the file as it stands. */
  readonly checksum: string
}

const DIRECTORY = fileURLToPath(new URL('../../sql/views/', import.meta.url))
const SCHEMAS = ['analytics', 'datasync'] as const

/** All shipped views, each after those it reads from. Throws MigrationError when views read from each other in a circle. */
export async function readViews(directory: string = DIRECTORY): Promise<ShippedView[]> {
  const views: ShippedView[] = []
  for (const schema of SCHEMAS) {
    const files = (await readdir(`${directory}/${schema}`)).filter((name) => name.endsWith('.sql'))
    for (const file of files.sort()) {
      const sqlText = await readFile(`${directory}/${schema}/${file}`, 'utf8')
      views.push(toView(schema, file.replace(/\.sql$/, ''), sqlText))
    }
  }
  return inOrderOfUse(views)
}

function toView(schema: ShippedView['schema'], name: string, sqlText: string): ShippedView {
  const definition = readHeader(sqlText)
  return {
    schema,
    name,
    isMaterialized: /^create materialized view/m.test(sqlText),
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
    for (const [target] of view.sqlText.matchAll(/\{\{(?:analytics|datasync)\}\}\.\w+/g)) {
      const used = byTarget.get(target)
      if (used !== undefined && used !== view) visit(used, [...path, view.name])
    }
    ordered.add(view)
  }
  for (const view of views) visit(view, [])
  return [...ordered]
}
