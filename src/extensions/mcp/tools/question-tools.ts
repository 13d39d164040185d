import { askQuestion, type AskedAnswer } from '../../answers/ask/ask-question.js'
import { withValues } from '../../answers/ask/bound-statement.js'
import { findQuestion, refusalOfRights, type AskRights } from '../../answers/ask/find-question.js'
import { INSTANT_SCHEMA, questionParameters } from '../../answers/ask/question-parameters.js'
import { toObjects } from '../../answers/output/print-answer.js'
import { SUBJECTS } from '../../answers/questions/subjects.js'
import type { readShippedQueries, ShippedQuery } from '../../answers/questions/shipped-queries.js'
import { readAge } from '../read-age.js'
import { ABOUT_TEXTS, asText, describeCut, JsonLines, takeFitting } from './result-text.js'
import {
  argumentName,
  MOST_ROWS,
  WORDS,
  type Arguments,
  type ArgumentSchema,
  type Tool,
} from './tool.js'

export interface QuestionToolsOptions {
  readonly shipped: readonly ShippedQuery[]
  readonly read: typeof readShippedQueries
  /** Absent: all questions may be asked. */
  readonly token?: AskRights | undefined
}

/** The tools of shipped questions: their list, one explained, and its answer. */
export function questionTools({ shipped, read, token }: QuestionToolsOptions): Tool[] {
  const own = shipped.filter(({ name }) => refusalOfRights(token, name) === undefined)
  const bySubject = Object.keys(SUBJECTS).flatMap((subject) =>
    own.filter((one) => one.subject === subject),
  )
  /** Throws ConfigError for a question that there is not, or that is not for this token. */
  const findOwn = async (asked: unknown): Promise<ShippedQuery> => {
    const found = await findQuestion(String(asked), shipped, WORDS)
    const refusal = refusalOfRights(token, found.name)
    if (refusal === undefined) return found
    throw refusal
  }
  const question = {
    type: 'string',
    enum: bySubject.map(({ name }) => name),
    description: bySubject.map(({ name, question: asks }) => `${name}: ${asks}`).join('\n'),
  } as const
  // A token for `find` alone: a schema cannot allow none of its words.
  if (own.length === 0) return []
  return [
    {
      name: 'list_questions',
      title: 'List the questions',
      description: 'Lists the questions that `ask` answers, with the filters of each.',
      arguments: {},
      required: [],
      run: () =>
        Promise.resolve(
          asText({
            questions: bySubject.map(({ name, question: asks, subject, parameters }) => ({
              question: name,
              asks,
              subject: SUBJECTS[subject],
              filters: parameters.filter((one) => one !== 'limit').map(argumentName),
            })),
          }),
        ),
    },
    {
      name: 'explain',
      title: 'Explain a question',
      description:
        'Explains a question: what a row is, how to read it, what it does not say, its filters, ' +
        'every column with its meaning and unit, and its SQL.',
      arguments: { question: { ...question, description: 'Name of the question.' } },
      required: ['question'],
      run: async ({ question: asked }) => explain(await findOwn(asked)),
    },
    {
      name: 'ask',
      title: 'Ask a question',
      description:
        'Answers a question about containers and shipments with rows of the warehouse. Gives at ' +
        `most ${MOST_ROWS} rows, the meaning of each column, what the answer does not say, how ` +
        'old the data are, and the SQL statement.',
      arguments: {
        question,
        filters: {
          type: 'object',
          description: 'Narrow the answer; `list_questions` shows which question takes which.',
          properties: filtersOf(bySubject),
          additionalProperties: false,
        },
        as_of: {
          ...INSTANT_SCHEMA,
          description: 'Answer with what was known at this day or instant; now unless given.',
        },
        against: {
          ...INSTANT_SCHEMA,
          description: 'Compare with this day or instant: what came, what went, what changed.',
        },
        columns: {
          type: 'array',
          items: { type: 'string' },
          description:
            'Only these columns of the answer, in this order; `explain` lists more, for SQL.',
        },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: MOST_ROWS,
          description: `At most this many rows; ${MOST_ROWS} unless given.`,
        },
      },
      required: ['question'],
      run: async (given, { open }) => {
        await findOwn(given.question)
        const warehouse = await open()
        // Not a filter: an answer of a few rows says how many there are, and sums none of them.
        const mostRows = Number(given.limit ?? MOST_ROWS)
        const options = { words: WORDS, mostRows, read }
        const answer = await askQuestion(warehouse, toAsked(given), options)
        return describeAnswer(answer, mostRows, await readAge(warehouse))
      },
    },
  ]
}

/** The filters of all questions; each says who takes it unless all do. */
function filtersOf(shipped: readonly ShippedQuery[]): Record<string, ArgumentSchema> {
  const filters: Record<string, ArgumentSchema> = {}
  for (const { name, description, schema } of shipped.flatMap(questionParameters)) {
    if (name === 'limit') continue
    const takers = shipped.filter(({ parameters }) => parameters.includes(name))
    const of = takers.map((one) => one.name).join(', ')
    filters[argumentName(name)] = {
      ...schema,
      description: takers.length === shipped.length ? description : `${description} For ${of}.`,
    }
  }
  return filters
}

/** Arguments whose types were checked. */
function toAsked({ question, filters, as_of, against, columns }: Arguments) {
  return {
    question: String(question),
    filters: filters as Record<string, string | number> | undefined,
    asOf: as_of as string | undefined,
    against: against as string | undefined,
    columns: columns as readonly string[] | undefined,
  }
}

function explain(question: ShippedQuery): string {
  const { name, question: asks, subject, definition, guide, needs, columns, key } = question
  return asText({
    question: name,
    asks,
    subject: SUBJECTS[subject],
    definition,
    how_to_read: guide.read,
    does_not_say: guide.limits,
    needs,
    a_row_is_known_by: key,
    filters: questionParameters(question).map(({ name: filter, description, schema }) => ({
      filter: argumentName(filter),
      description,
      ...schema,
    })),
    columns,
    sql: question.sqlText,
  })
}

function describeAnswer(answer: AskedAnswer, mostRows: number, age: unknown): string {
  const { question, columns, rows, total, totals, statements, notes, limits, asOf, against } =
    answer
  const names = columns.map(({ name }) => name)
  const shown = takeFitting(toObjects({ columns: names, types: [], rows }))
  const filters = question.parameters.filter((one) => one !== 'limit').map(argumentName)
  const isAsLimited = shown.length === mostRows && mostRows < MOST_ROWS
  const fix = isAsLimited
    ? `limit is ${mostRows}`
    : `narrow it with filters (${filters.join(', ')}), or name fewer columns`
  return asText({
    question: question.name,
    asks: question.question,
    as_of: asOf ?? 'now',
    against,
    data: age,
    about: ABOUT_TEXTS,
    rows: new JsonLines(shown),
    rows_in_all: total,
    // Of rows that fit; part of a sum would be taken for the whole.
    totals: shown.length === total ? totals : undefined,
    truncated: describeCut(shown.length, total, fix),
    notes: notes.length === 0 ? undefined : notes,
    columns,
    does_not_say: limits,
    statements: statements.map((one) => ({ as_of: one.asOf ?? 'now', sql: withValues(one) })),
  })
}
