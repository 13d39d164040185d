import { readFile, readdir } from 'node:fs/promises'
import { projectFile } from '../../base/project-file.js'
import { ConfigError } from '../../base/errors.js'
import { QUERY_PARAMETERS, type QueryParameter, type QueryValues } from './query-parameters.js'
import { readHeader, readViews } from '../schema/read-views.js'
import type { ShippedView } from '../schema/shipped-view.js'
import { withSchemaNames, type Schemas } from '../connection/schema-names.js'

/** A question the product ships: one file of `sql/queries`, named after it. */
export interface ShippedQuery {
  readonly name: string
  /** First line of the file's header. */
  readonly title: string
  /** The whole header, and that of the view it reads from: the grain and every choice a reader could doubt. */
  readonly definition: string
  /** What it can be narrowed by. */
  readonly parameters: readonly QueryParameter[]
  /** Columns of the view it reads from, with their meaning and unit. */
  readonly columns: readonly QueryColumn[]
  /** With the schema names put in and `:name` where a value goes. */
  readonly sqlText: string
}

export interface QueryColumn {
  readonly name: string
  readonly meaning: string
}

const DIRECTORY = projectFile('sql/queries/')

/** All shipped questions, by name. Reads files, asks no database. */
export async function readShippedQueries(names: Schemas): Promise<ShippedQuery[]> {
  const views = await readViews()
  const files = (await readdir(DIRECTORY)).filter((file) => file.endsWith('.sql')).sort()
  return Promise.all(
    files.map(async (file) => {
      const name = file.replace(/\.sql$/, '')
      return toQuery(name, await readFile(`${DIRECTORY}/${file}`, 'utf8'), views, names)
    }),
  )
}

function toQuery(
  name: string,
  text: string,
  views: readonly ShippedView[],
  names: Schemas,
): ShippedQuery {
  const header = readHeader(text)
  const view = views.find((one) => one.schema === 'analytics' && one.name === name)
  return {
    name,
    title: header.split('\n')[0] ?? '',
    definition: view === undefined ? header : `${header}\n\nThe view ${name}: ${view.definition}`,
    parameters: [...new Set([...text.matchAll(PLACEHOLDER)].map(([, word]) => asParameter(word)))],
    columns: view === undefined ? [] : columnsOf(view),
    sqlText: withSchemaNames(text, names),
  }
}

/** `:name`, but not the `::` of a cast. */
const PLACEHOLDER = /(?<![:\w]):([a-z]+)\b/g

function asParameter(word = ''): QueryParameter {
  if (word in QUERY_PARAMETERS) return word as QueryParameter
  throw new Error(`sql/queries uses :${word}, which is no parameter`)
}

/** The comments on the columns of a view, as its file has them. */
function columnsOf({ name, sqlText }: ShippedView): QueryColumn[] {
  const comments = sqlText.matchAll(
    new RegExp(
      `comment on column \\{\\{analytics\\}\\}\\.${name}\\.(\\w+) is\\s+((?:'(?:[^']|'')*'\\s*)+);`,
      'g',
    ),
  )
  return [...comments].map(([, column = '', texts = '']) => ({
    name: column,
    meaning: [...texts.matchAll(/'((?:[^']|'')*)'/g)]
      .map(([, part = '']) => part.replaceAll("''", "'"))
      .join(''),
  }))
}

export interface BoundQuery {
  /** With `$1`, `$2` and so on where values go. */
  readonly sqlText: string
  readonly parameters: readonly (string | null)[]
}

/** Puts values into a question. Throws ConfigError, naming what it takes, for a value it has no place for. */
export function bindQuery(query: ShippedQuery, values: QueryValues): BoundQuery {
  const given = Object.keys(values) as QueryParameter[]
  const misplaced = given.filter((name) => !query.parameters.includes(name))
  if (misplaced.length > 0) {
    const takes =
      query.parameters.length === 0
        ? 'nothing'
        : query.parameters.map((name) => `--${name}`).join(', ')
    throw new ConfigError(
      misplaced.map((name) => ({
        setting: `--${name}`,
        problem: `does not narrow ${query.name}, which takes ${takes}`,
      })),
    )
  }
  return {
    sqlText: query.sqlText.replaceAll(
      PLACEHOLDER,
      (_, word: string) => `$${query.parameters.indexOf(asParameter(word)) + 1}`,
    ),
    parameters: query.parameters.map((name) => values[name] ?? null),
  }
}
