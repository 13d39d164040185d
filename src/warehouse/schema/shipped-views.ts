import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { basename } from 'node:path'
import { MigrationError } from '../../base/errors.js'
import { projectFile } from '../../base/project-file.js'
import { readDescription, type ViewDescription } from './view-descriptions.js'

/** A shipped view: two files of `sql/views/`, or made from its source if stored. */
export interface ShippedView {
  readonly schema: 'analytics' | 'asOf' | 'datasync' | 'stored'
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
  readonly isOfDatasync: boolean
  readonly sqlText: string
  readonly description: string
}

/**
 * All shipped views, each after the views that it reads. Views of the analytics schema come a
 * second time, in the schema of questions as of an instant. Throws MigrationError for a circle.
 */
export async function readViews(directory: string = DIRECTORY): Promise<ShippedView[]> {
  const meanings = await readFile(`${directory}/columns.yml`, 'utf8')
  const files = await readFiles(directory)
  const analytics = new Set(files.flatMap((one) => (one.isOfDatasync ? [] : [one.name])))
  const views = files.flatMap((one) =>
    one.isOfDatasync
      ? [toView('datasync', one, one.sqlText, meanings)]
      : [
          toView('analytics', one, one.sqlText.replace(VARIANTS, '$1'), meanings),
          toView(
            'asOf',
            one,
            inAsOfSchema(one.sqlText.replace(VARIANTS, '$2'), analytics),
            meanings,
          ),
        ],
  )
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

/** A shared part of queries, alone on its line. */
const PART = /^( *)\{\{part (\w+)\}\}$/gm

async function readFiles(directory: string): Promise<ViewFiles[]> {
  const paths = (await readdir(directory, { recursive: true }))
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.sql'))
  const read = async (path: string): Promise<string> => readFile(`${directory}/${path}`, 'utf8')
  const parts = new Map<string, string>()
  for (const path of paths.filter(isPart)) parts.set(basename(path, '.sql'), await read(path))
  const whole = (text: string): string =>
    text.replace(PART, (line, indent: string, part: string) =>
      (parts.get(part) ?? line).trimEnd().replace(/^(?=.)/gm, indent),
    )
  const files = paths
    .filter((path) => !isPart(path))
    .map(async (path) => ({
      name: basename(path, '.sql'),
      subject: /^marts\/(\w+)\//.exec(path)?.[1],
      isOfDatasync: path.startsWith('datasync/'),
      sqlText: whole(await read(path)),
      description: await read(path.replace(/sql$/, 'yml')),
    }))
  return (await Promise.all(files)).sort((one, two) => (one.name < two.name ? -1 : 1))
}

function isPart(path: string): boolean {
  return path.startsWith('parts/')
}

/** Lines for the present, and their replacement for an instant, from histories. */
const VARIANTS = /^-- now:\n([^]*?)^-- as of:\n([^]*?)^-- end\n/gm

/** Views and the clock become those of the other schema; tables, such as rules, exist once. */
function inAsOfSchema(sqlText: string, views: ReadonlySet<string>): string {
  return sqlText.replace(/\{\{analytics\}\}\.(\w+)/g, (target, name: string) =>
    views.has(name) || name === 'as_of' ? `{{asOf}}.${name}` : target,
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
