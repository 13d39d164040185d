import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from '../../../base/logger.js'
import { answer, answerText } from '../../../http/answer.js'
import type { Route } from '../../../http/http-server.js'
import { findQuestion } from '../../answers/ask/find-question.js'
import type { NumberPage } from '../../answers/number-page.js'
import { prepareQuestion, type PreparedQuestion } from '../../answers/ask/prepare-question.js'
import { isCalendarQuestion } from '../../answers/output/print-calendar.js'
import { readShippedQueries } from '../../answers/questions/shipped-queries.js'
import type { Schemas } from '../../../warehouse/connection/schema-names.js'
import type { Warehouse } from '../../../warehouse/connection/warehouse.js'
import { findCustomerRole } from '../../accounts/customers/customer-role.js'
import type { AccessToken } from '../access-tokens.js'
import { createAnswerBound, type BoundOptions } from './answer-bound.js'
import { createBearerCheck, type BearerOptions } from './bearer.js'
import { collectAnswer, type AnswerLimits } from './collect-answer.js'
import { describeOpenApi, listQuestions } from './describe-questions.js'
import {
  CONTENT_TYPES,
  readPath,
  readQuery,
  wordsWithin,
  type AskedOverHttp,
} from './read-request.js'
import { Refused, refusalOf } from './refused.js'

/** The time limit of the statement that answers a question. */
export const ANSWER_SECONDS = 30

/** Four answers at once take four connections and, at most, 128 MiB. */
const LIMITS: AnswerLimits & BoundOptions & { readonly sendMs: number } = {
  rows: 100_000,
  rowsOfWorkbook: 5_000,
  bytes: 32 * 2 ** 20,
  atOnce: 4,
  waiting: 16,
  patienceMs: 10_000,
  sendMs: 60_000,
}

export interface QuestionRoutesOptions extends BearerOptions {
  /** By the login of the program, read-only. Its time limit is that of an answer. */
  readonly answers: Warehouse
  readonly logger: Logger
  readonly programVersion: string
  /** Not for customers, who lack an account at the service. */
  readonly pageOf?: NumberPage | undefined
  readonly answerSeconds?: number
  readonly limits?: Partial<typeof LIMITS>
}

/** An answer may not run anything in a browser, and no cache of others may keep it. */
const HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'private, no-cache',
  vary: 'authorization',
}

/** `/questions/<name>.<format>`, the list at `/questions`, and `/openapi.json`. */
export function createQuestionRoutes(options: QuestionRoutesOptions): Record<string, Route> {
  const { answers, logger, programVersion, answerSeconds = ANSWER_SECONDS } = options
  const limits = { ...LIMITS, ...options.limits }
  const words = wordsWithin(answerSeconds)
  const checkBearer = createBearerCheck(options)
  const takeTurn = createAnswerBound(limits)
  const readQuestions = keepQuestions()

  /** A token sees its own questions. */
  async function questionsOf(token: AccessToken | undefined) {
    const all = await readQuestions(answers.names)
    return token === undefined ? all : all.filter(({ name }) => token.questions.includes(name))
  }

  async function prepare(
    asked: AskedOverHttp,
    token: AccessToken | undefined,
  ): Promise<PreparedQuestion> {
    const { format } = asked
    if (format === 'ics' && !isCalendarQuestion(asked.question)) {
      throw new Refused(
        400,
        'ics is for questions with last free days: /questions lists the formats',
      )
    }
    if (format === 'ics' && asked.against !== undefined) {
      throw new Refused(400, 'against compares rows; ics has events, take csv')
    }
    // An event of a calendar has columns of its own.
    const wanted = format === 'ics' ? { ...asked, columns: undefined } : asked
    const prepared = await prepareQuestion(answers.names, wanted, words, readQuestions)
    return { ...prepared, asRole: await roleOf(token) }
  }

  /** Looked up each time: a role may have been given other names since. */
  async function roleOf(token: AccessToken | undefined): Promise<string | undefined> {
    if (token === undefined || token.customers === null) return undefined
    const found = await findCustomerRole(answers, token.customers)
    if (found?.isOurs === true) return found.role
    throw new Refused(
      403,
      `the token ${token.name} reads the rows of ${token.customers.join(' and ')}, and no role ` +
        'reads just these now; have the owner of the warehouse look at its roles of customers',
    )
  }

  async function answerQuestion(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { path, query } = addressOf(request)
    const token = await checkBearer(request, query)
    const { name, format } = readPath(path)
    await findQuestion(name, await readQuestions(answers.names), words).catch((thrown: unknown) => {
      throw new Refused(404, thrown instanceof Error ? thrown.message : '')
    })
    if (token !== undefined && !token.questions.includes(name)) {
      const own = token.questions.join(', ')
      throw new Refused(403, `the token ${token.name} may not ask ${name}; it may ask ${own}`)
    }
    const asked = { ...readQuery(query), question: name, format }
    const endTurn = await takeTurn()
    if (endTurn === undefined) {
      throw new Refused(429, 'too many answers are under way; ask again in 5 seconds', {
        'retry-after': '5',
      })
    }
    // A slow reader keeps its turn, because the answer stays in memory until it is sent.
    response.once('close', endTurn)
    try {
      const prepared = await prepare(asked, token)
      const pageOf = prepared.asRole === undefined ? options.pageOf : undefined
      const { body, etag } = await collectAnswer(answers, prepared, { ...asked, pageOf }, limits)
      send(request, response, { body, etag, asked, sendMs: limits.sendMs })
    } catch (thrown) {
      endTurn()
      throw thrown
    }
  }

  async function list(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const questions = await questionsOf(await checkBearer(request, addressOf(request).query))
    sendJson(response, listQuestions(questions))
  }

  async function openApi(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const questions = await questionsOf(await checkBearer(request, addressOf(request).query))
    sendJson(response, describeOpenApi(questions, programVersion))
  }

  const route = (handle: typeof list): Route => ({
    methods: ['GET', 'HEAD'],
    handle: async (request, response) => {
      try {
        await handle(request, response)
      } catch (thrown) {
        const refused = refusalOf(thrown)
        if (refused === undefined) throw thrown
        if (refused.status === 503 || refused.status === 504) {
          // The address may hold a token.
          logger.warn('a question over HTTP was not answered', { error: thrown })
        }
        answer(request, response, refused.answer())
      }
    },
  })

  return {
    '/questions': route(list),
    '/questions/*': route(answerQuestion),
    '/openapi.json': route(openApi),
  }
}

/** Read once: they are a part of the program. */
function keepQuestions(): typeof readShippedQueries {
  const kept = new Map<string, ReturnType<typeof readShippedQueries>>()
  return (names: Schemas, schema?: 'analytics' | 'asOf') => {
    const key = schema ?? 'analytics'
    const read = kept.get(key) ?? readShippedQueries(names, key)
    kept.set(key, read)
    return read
  }
}

function addressOf({ url = '' }: IncomingMessage): {
  readonly path: string
  readonly query: URLSearchParams
} {
  const [path = '', ...query] = url.split('?')
  return { path, query: new URLSearchParams(query.join('?')) }
}

interface Sent {
  readonly body: Buffer
  readonly etag: string
  readonly asked: AskedOverHttp
  readonly sendMs: number
}

function send(
  { headers }: IncomingMessage,
  response: ServerResponse,
  { body, etag, asked: { question, format }, sendMs }: Sent,
): void {
  const known = headers['if-none-match']?.split(',').map((tag) => tag.trim()) ?? []
  if (known.includes(etag) || known.includes('*')) {
    response.writeHead(304, { ...HEADERS, etag }).end()
    return
  }
  const isShown = format === 'json' || format === 'ndjson'
  response.writeHead(200, {
    ...HEADERS,
    etag,
    'content-type': CONTENT_TYPES[format],
    'content-length': body.length,
    ...(isShown ? {} : { 'content-disposition': `attachment; filename="${question}.${format}"` }),
  })
  const timer = setTimeout(() => response.destroy(), sendMs)
  response.once('close', () => {
    clearTimeout(timer)
  })
  response.end(body)
}

function sendJson(response: ServerResponse, value: unknown): void {
  const text = `${JSON.stringify(value, null, 2)}\n`
  answerText(response, { text, type: 'application/json', headers: HEADERS })
}
