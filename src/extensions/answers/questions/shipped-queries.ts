import type { CompiledQuery } from 'kysely'
import { ConfigError } from '../../../base/errors.js'
import { withSchemaNames, type Schemas } from '../../../warehouse/connection/schema-names.js'
import { rawStatement } from '../../../warehouse/connection/typed-database.js'
import { readViews, type ShippedView } from '../../../warehouse/schema/shipped-views.js'
import { namesOf, type ViewColumn } from '../../../warehouse/schema/view-descriptions.js'
import { QUERY_DEFAULTS, type QueryParameter, type QueryValues } from './query-parameters.js'
import { filtersOf } from './question-filters.js'
import { CUSTOMER_COLUMNS, QUESTION, type Question } from './question.js'

/** A shipped question with its SQL. */
export interface ShippedQuery {
  readonly name: string
  /** As a person asks it. */
  readonly question: string
  /** Part of the guide that it belongs to: the folder of its files. */
  readonly subject: string
  /** Its section in docs/questions.md. */
  readonly guide: Pick<Question, 'ask' | 'sample' | 'read' | 'limits'>
  readonly title: string
  /** The header of the view: its grain and every choice that a reader could doubt. */
  readonly definition: string
  /** Its filters. */
  readonly parameters: readonly QueryParameter[]
  /** Columns of its view, with their meaning and unit. */
  readonly columns: readonly ViewColumn[]
  /** SQL with `:name` in place of a parameter's value, its default, or null. */
  readonly sqlText: string
  /** SQL of the rows to compare, in the order of `ROW_KEY`, their last column but one. */
  readonly comparedSqlText: string
  /** Key columns, which identify a row at another instant. */
  readonly key: readonly string[]
  readonly needs: string
  readonly leading: readonly string[]
  readonly sums: readonly string[]
}

/** Columns for a comparison: the key of a row, and its position in the answer. */
export const ROW_KEY = '_key'
export const ROW_POSITION = '_position'

/** All shipped questions, by name: for now or as of an instant. Reads files; needs no database. */
export async function readShippedQueries(
  names: Schemas,
  schema: 'analytics' | 'asOf' = 'analytics',
): Promise<ShippedQuery[]> {
  const views = (await readViews()).filter((view) => view.schema === schema)
  const queries = await Promise.all(views.map((view) => toQuery(view, names)))
  return queries.filter((query) => query !== undefined).sort(byName)
}

/**
 * How questions of earlier versions are asked now, by the name that they had:
 * `timeline --kind hold` for `hold_durations`. Reads and parses every description.
 */
export async function readFormerQuestions(): Promise<Map<string, string>> {
  const views = (await readViews()).filter(({ schema }) => schema === 'analytics')
  const former = new Map<string, string>()
  for (const { name, formerName, describe } of views) {
    if (formerName !== undefined) former.set(formerName, name)
    const asked = (await describe?.())?.members.askedAs
    if (typeof asked === 'string') former.set(name, asked)
  }
  return former
}

function byName(one: ShippedQuery, two: ShippedQuery): number {
  return one.name < two.name ? -1 : 1
}

/** Undefined for a view that answers no question of its own. */
async function toQuery(view: ShippedView, names: Schemas): Promise<ShippedQuery | undefined> {
  const description = await view.describe?.()
  if (description?.members.question === undefined) return undefined
  const question = QUESTION.parse(description.members)
  const { columns } = description
  const { schema, name, subject = '', title, definition } = view
  const known = new Set(columns.map((column) => column.name))
  const filters = filtersOf(known, namesOf(question.key), question.period)
  const parameters = Object.keys(filters) as QueryParameter[]
  const conditions = Object.entries(filters).map(
    ([parameter, condition]) => `(:${placeholder(parameter)}::text is null or ${condition})`,
  )
  const select = (selected: readonly string[], by: string): string =>
    [
      `select\n    ${selected.join(',\n    ')}`,
      `from {{${schema}}}.${name}`,
      ...(conditions.length === 0 ? [] : [`where ${conditions.join('\n    and ')}`]),
      `order by ${by}`,
      'limit :limit::text::bigint\n',
    ].join('\n')
  const { key, order } = question
  const own = namesOf(question.answer)
  const isOfContainers = own.includes('container_id')
  const whose = CUSTOMER_COLUMNS.filter((column) => isOfContainers && known.has(column))
  const shown = own.flatMap((column) => (column === 'container_id' ? [...whose, column] : [column]))
  // Look up owners after the limit, not before.
  const answer =
    whose.length === 0
      ? select(shown, order)
      : [
          'select',
          shown
            .map((column) => `    ${own.includes(column) ? 'answer' : 'customer'}.${column}`)
            .join(',\n'),
          'from (',
          `select\n    ${own.join(',\n    ')},`,
          `    row_number() over () as ${ROW_POSITION}`,
          `from (\n${select(own, order)}) as chosen`,
          ') as answer',
          `left join {{${schema}}}.container_customers as customer`,
          '    on customer.container_id = answer.container_id',
          `order by answer.${ROW_POSITION}\n`,
        ].join('\n')
  const clock = namesOf(question.clock)
  const compared = [
    ...shown.filter((column) => !clock.includes(column)),
    `jsonb_build_array(${key})::text collate "C" as ${ROW_KEY}`,
    `row_number() over (order by ${order}) as ${ROW_POSITION}`,
  ]
  return {
    name,
    question: question.question,
    subject,
    guide: {
      ask: question.ask,
      sample: question.sample,
      read: question.read,
      limits: question.limits,
    },
    title,
    definition,
    parameters: [...parameters, 'limit'],
    columns,
    sqlText: withSchemaNames(answer, names),
    comparedSqlText: withSchemaNames(select(compared, `${ROW_KEY}, ${ROW_POSITION}`), names),
    key: namesOf(key),
    needs: question.needs,
    leading: namesOf(question.leading),
    sums: namesOf(question.sums),
  }
}

/** More are not named: a stranger may send thousands. */
const MOST_PROBLEMS = 3

/** Names of parameters have hyphens, those of placeholders underscores. */
function placeholder(parameter: string): string {
  return parameter.replaceAll('-', '_')
}

/**
 * Puts values into a question, or into one as it is compared. Throws ConfigError for a value that
 * does not filter it; `nameOf` is how the caller writes a filter.
 */
export function bindQuery(
  query: ShippedQuery,
  values: QueryValues,
  sqlText = query.sqlText,
  nameOf = (parameter: string): string => `--${parameter}`,
): CompiledQuery<Record<string, unknown>> {
  const given = Object.keys(values) as QueryParameter[]
  const misplaced = given.filter((name) => !query.parameters.includes(name))
  if (misplaced.length > 0) {
    const takes = query.parameters.map(nameOf).join(', ')
    throw new ConfigError(
      misplaced.slice(0, MOST_PROBLEMS).map((name) => ({
        setting: nameOf(name),
        problem: `does not narrow ${query.name}, which takes ${takes}`,
      })),
    )
  }
  return rawStatement(
    // `:name`, but not the `::` of a cast.
    sqlText.replaceAll(
      /(?<![:\w]):([a-z_]+)\b/g,
      (_, word: string) => `$${query.parameters.map(placeholder).indexOf(word) + 1}`,
    ),
    query.parameters.map((name) => values[name] ?? QUERY_DEFAULTS[name] ?? null),
  )
}
