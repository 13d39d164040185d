import { questionParameters, INSTANT_SCHEMA } from '../../answers/ask/question-parameters.js'
import type { ShippedQuery } from '../../answers/questions/shipped-queries.js'
import { isCalendarQuestion } from '../../answers/output/print-calendar.js'
import { CONTENT_TYPES, FORMATS, NOTES, OTHER_PARAMETERS, type HttpFormat } from './read-request.js'

/** The questions with their formats, filters and columns, as `/questions` lists them. */
export function listQuestions(questions: readonly ShippedQuery[]) {
  return questions.map((question) => ({
    question: question.name,
    answers: question.question,
    subject: question.subject,
    formats: formatsOf(question),
    parameters: questionParameters(question),
    columns: question.columns,
  }))
}

function formatsOf({ name }: ShippedQuery): HttpFormat[] {
  return FORMATS.filter((format) => format !== 'ics' || isCalendarQuestion(name))
}

const STATUSES: Readonly<Record<number, string>> = {
  304: 'The rows are those of If-None-Match.',
  400: 'A filter, a column or an instant is wrong.',
  401: 'A token is missing, wrong, expired or revoked.',
  403: 'The token may not ask this.',
  413: 'The answer is too large.',
  429: 'Too many answers are under way, or too many tokens were wrong; see Retry-After.',
  503: 'The database is away; see Retry-After.',
  504: 'The answer takes too long.',
}

/** OpenAPI 3.1, made from the declaration of each question. */
export function describeOpenApi(questions: readonly ShippedQuery[], version: string) {
  return {
    openapi: '3.1.0',
    info: { title: 'tracking-sync: questions', version },
    security: [{ bearer: [] }, { basic: [] }, { address: [] }, {}],
    paths: Object.fromEntries(
      questions.flatMap((question) =>
        formatsOf(question).map((format) => [
          `/questions/${question.name}.${format}`,
          { get: operationOf(question, format) },
        ]),
      ),
    ),
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        basic: { type: 'http', scheme: 'basic' },
        address: { type: 'apiKey', in: 'query', name: 'token' },
      },
      schemas: {
        Refusal: {
          type: 'object',
          properties: { error: { type: 'string', description: 'One sentence with the fix.' } },
          required: ['error'],
        },
      },
    },
  }
}

function operationOf(question: ShippedQuery, format: HttpFormat) {
  const refusal = {
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Refusal' } } },
  }
  return {
    operationId: `${question.name}_${format}`,
    summary: question.question,
    tags: [question.subject],
    parameters: [
      ...questionParameters(question),
      ...Object.entries(OTHER_PARAMETERS)
        .filter(([name]) => isTaken(name, format))
        .map(([name, description]) => ({ name, description, schema: schemaOf(name) })),
    ].map(({ name, description, schema }) => ({ name, in: 'query', description, schema })),
    responses: {
      200: {
        description: 'The answer.',
        headers: {
          [NOTES]: { description: 'Why it has no rows, and more.', schema: { type: 'string' } },
        },
        content: { [bareType(format)]: { schema: bodyOf(question, format) } },
      },
      ...Object.fromEntries(
        Object.entries(STATUSES).map(([status, description]) => [
          status,
          { description, ...(status === '304' ? {} : refusal) },
        ]),
      ),
    },
  }
}

function bareType(format: HttpFormat): string {
  return CONTENT_TYPES[format].split(';')[0] ?? ''
}

function isTaken(name: string, format: HttpFormat): boolean {
  if (name === 'excel' || name === 'spreadsheet-safe') return format === 'csv'
  return format !== 'ics' || name === 'as-of'
}

function schemaOf(name: string) {
  if (name === 'as-of' || name === 'against') return INSTANT_SCHEMA
  return { type: name === 'columns' ? 'string' : 'boolean' }
}

function bodyOf({ columns }: ShippedQuery, format: HttpFormat) {
  if (format !== 'json') return { type: 'string' }
  const properties = columns.map(({ name, meaning }) => [name, { description: meaning }] as const)
  return {
    type: 'array',
    items: { type: 'object', properties: Object.fromEntries(properties) },
  }
}
