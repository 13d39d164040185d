import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { basename } from 'node:path'
import { MigrationError } from '../../base/errors.js'
import { projectFile } from '../../base/project-file.js'
import { readDescription, type ViewDescription } from './view-descriptions.js'

/** A shipped view: two files of `sql/views/`, or made from its source if stored. */
export interface ShippedView {
  readonly schema: 'analytics' | 'parts' | 'asOf' | 'datasync' | 'stored'
  readonly name: string
  /** Of a question: the folder of its files below `marts`. */
  readonly subject?: string | undefined
  /** It has this name too, for one release. */
  readonly formerName?: string | undefined
  /** First line of the file's header. */
  readonly title: string
  /** The whole header: the grain and every choice that a reader could doubt. */
  readonly definition: string
  /** With placeholders for the schema names. Without the comments of `describe`. */
  readonly sqlText: string
  /** SHA-256 of all texts that make the view. */
  readonly checksum: string
  /** Undefined for views whose SQL makes their comments. */
  readonly describe?: (() => Promise<ViewDescription>) | undefined
}

const DIRECTORY = projectFile('sql/views/')

/** The texts of one view. */
interface ViewFiles {
  readonly name: string
  readonly subject: string | undefined
  readonly schema: 'analytics' | 'parts' | 'datasync'
  readonly sqlText: string
  readonly description: string
}

/**
 * All shipped views, each after the views that it reads. Those of questions and their parts come a
 * second time, in the schema of questions as of an instant. Throws MigrationError for a circle.
 */
export async function readViews(directory: string = DIRECTORY): Promise<ShippedView[]> {
  const meanings = await readFile(`${directory}/columns.yml`, 'utf8')
  const files = await readFiles(directory)
  const instants = files.filter(({ schema }) => schema !== 'datasync')
  const targets = new Set(instants.map(({ schema, name }) => `{{${schema}}}.${name}`))
  const views = [
    ...files.map((one) => toView(one.schema, one, one.sqlText.replace(VARIANTS, '$1'), meanings)),
    ...instants.map((one) =>
      toView('asOf', one, inAsOfSchema(one.sqlText.replace(VARIANTS, '$2'), targets), meanings),
    ),
  ]
  return inOrderOfUse([...views, ...views.flatMap(underFormerName)])
}

const FORMER_VIEW = 'create view {{schema}}.former as table {{schema}}.now;'

/** A renamed view under its former name, for one release. */
function underFormerName(view: ShippedView): ShippedView[] {
  const { schema, name, formerName, checksum, describe } = view
  if (formerName === undefined) return []
  const meaning = `Former name of ${name}, until the release after next.`
  return [
    {
      ...view,
      name: formerName,
      formerName: undefined,
      sqlText: FORMER_VIEW.replaceAll('schema', schema)
        .replace('former', formerName)
        .replace('now', name),
      checksum: `former ${checksum}`,
      describe: describe && (async () => ({ ...(await describe()), meaning, members: {} })),
    },
  ]
}

/** A text that queries share, alone on its line. */
const FRAGMENT = /^( *)\{\{fragment (\w+)\}\}$/gm

async function readFiles(directory: string): Promise<ViewFiles[]> {
  const paths = (await readdir(directory, { recursive: true }))
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.sql'))
  const read = async (path: string): Promise<string> => readFile(`${directory}/${path}`, 'utf8')
  const isFragment = (path: string): boolean => path.startsWith('fragments/')
  const texts = new Map<string, string>()
  for (const path of paths.filter(isFragment)) texts.set(basename(path, '.sql'), await read(path))
  const whole = (text: string): string =>
    text.replace(FRAGMENT, (line, indent: string, name: string) =>
      (texts.get(name) ?? line).trimEnd().replace(/^(?=.)/gm, indent),
    )
  const files = paths
    .filter((path) => !isFragment(path))
    .map(async (path) => ({
      name: basename(path, '.sql'),
      subject: /^marts\/(\w+)\//.exec(path)?.[1],
      schema: schemaOf(path),
      sqlText: whole(await read(path)),
      description: await read(path.replace(/sql$/, 'yml')),
    }))
  return (await Promise.all(files)).sort((one, two) => (one.name < two.name ? -1 : 1))
}

/** People pick from questions, facts and dimensions, not from the views below them. */
function schemaOf(path: string): ViewFiles['schema'] {
  if (path.startsWith('datasync/')) return 'datasync'
  return /^(?:base|intermediate)\//.test(path) ? 'parts' : 'analytics'
}

/** Lines for the present, and their replacement for an instant, from histories. */
const VARIANTS = /^-- now:\n([^]*?)^-- as of:\n([^]*?)^-- end\n/gm

/** Views and the clock become those of the other schema; tables, such as rules, exist once. */
function inAsOfSchema(sqlText: string, views: ReadonlySet<string>): string {
  return sqlText.replace(/\{\{(?:analytics|parts)\}\}\.(\w+)/g, (target, name: string) =>
    views.has(target) || name === 'as_of' ? `{{asOf}}.${name}` : target,
  )
}

function toView(
  schema: ShippedView['schema'],
  { name, subject, description }: ViewFiles,
  sqlText: string,
  meanings: string,
): ShippedView {
  const definition = readHeader(sqlText)
  const checksum = createHash('sha256')
  for (const text of [sqlText, description, meanings]) checksum.update(text)
  return {
    schema,
    name,
    subject,
    formerName: /^formerly: (\w+)$/m.exec(description)?.[1],
    title: definition.split('\n')[0] ?? '',
    definition,
    sqlText,
    checksum: checksum.digest('hex'),
    describe: () => readDescription(description, meanings),
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
    for (const [target] of view.sqlText.matchAll(/\{\{\w+\}\}\.\w+/g)) {
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
