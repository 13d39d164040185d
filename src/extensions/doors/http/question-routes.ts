import type { IncomingMessage, ServerResponse } from 'node:http'
import { answerText } from '../../../http/answer.js'
import type { Route } from '../../../http/http-server.js'
import { findQuestion, refusalOfRights } from '../../answers/ask/find-question.js'
import type { NumberPage } from '../../answers/number-page.js'
import { prepareQuestion, type PreparedQuestion } from '../../answers/ask/prepare-question.js'
import { isCalendarQuestion } from '../../answers/output/print-calendar.js'
import { keepShippedQueries } from '../../answers/questions/kept-queries.js'
import type { Schemas } from '../../../warehouse/connection/schema-names.js'
import type { AccessToken } from '../access-tokens.js'
import { collectAnswer, type AnswerLimits, type CollectedAnswer } from './collect-answer.js'
import { describeOpenApi, listQuestions } from './describe-questions.js'
import { createKnownTags } from './known-tags.js'
import {
  CONTENT_TYPES,
  NOTES,
  readPath,
  readQuery,
  wordsWithin,
  type AskedOverHttp,
} from './read-request.js'
import { addressOf, type DoorGuard } from './door-guard.js'
import { Refused } from './refused.js'

/** The time limit of the statement that answers a question. */
export const ANSWER_SECONDS = 30

const LIMITS: AnswerLimits & { readonly sendMs: number } = {
  rows: 100_000,
  rowsOfWorkbook: 5_000,
  bytes: 32 * 2 ** 20,
  readMs: 60_000,
  sendMs: 60_000,
}

export interface QuestionRoutesOptions {
  readonly guard: DoorGuard
  readonly names: Schemas
  readonly programVersion: string
  /** Not for customers, who lack an account at the service. */
  readonly pageOf?: NumberPage | undefined
  readonly answerSeconds?: number
  readonly limits?: Partial<typeof LIMITS>
  /** Milliseconds that pass. */
  readonly clock?: () => number
}

const MOST_OF_NOTES = 1_000

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
  const { guard, names, programVersion, answerSeconds = ANSWER_SECONDS } = options
  const { clock = () => performance.now() } = options
  const limits = { ...LIMITS, ...options.limits }
  const words = wordsWithin(answerSeconds)
  const readQuestions = keepShippedQueries()
  const known = createKnownTags(clock)

  /** A token sees its own questions. */
  async function questionsOf(token: AccessToken | undefined) {
    const all = await readQuestions(names)
    return token === undefined ? all : all.filter(({ name }) => token.questions.includes(name))
  }

  function prepare(asked: AskedOverHttp): Promise<PreparedQuestion> {
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
    if (format === 'ics' && asked.columns !== undefined) {
      throw new Refused(400, 'columns are for tables; an event of ics has its own, leave them out')
    }
    return prepareQuestion(names, asked, words, readQuestions)
  }

  async function answerQuestion(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const token = await guard.check(request)
    const { path, query } = addressOf(request)
    const { name, format } = readPath(path)
    await findQuestion(name, await readQuestions(names), words).catch((thrown: unknown) => {
      throw new Refused(404, thrown instanceof Error ? thrown.message : '')
    })
    const refusal = refusalOfRights(token, name)
    if (refusal !== undefined) throw new Refused(403, refusal.message)
    const asked = { ...readQuery(query), question: name, format }
    const key = JSON.stringify([token?.customers ?? null, asked])
    const etag = known.find(key)
    if (etag !== undefined && hasTag(request, etag)) {
      sendNothing(response, etag)
      return
    }
    await guard.takeTurn(response)
    const pageOf = (token?.customers ?? null) === null ? options.pageOf : undefined
    const prepared = await prepare(asked)
    const warehouse = await guard.open(token)
    const collected = await guard.read(
      async () => {
        const readAt = clock()
        const answer = await collectAnswer(warehouse, prepared, { ...asked, pageOf }, limits)
        known.keep(key, answer.etag, readAt)
        return answer
      },
      () => response.destroyed,
    )
    send(request, response, { ...collected, asked, sendMs: limits.sendMs })
  }

  async function list(request: IncomingMessage, response: ServerResponse): Promise<void> {
    sendJson(response, listQuestions(await questionsOf(await guard.check(request))))
  }

  async function openApi(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const questions = await questionsOf(await guard.check(request))
    sendJson(response, describeOpenApi(questions, programVersion))
  }

  const route = (handle: typeof list): Route => guard.route({ methods: ['GET', 'HEAD'], handle })

  return {
    '/questions': route(list),
    '/questions/*': route(answerQuestion),
    '/openapi.json': route(openApi),
  }
}

interface Sent extends CollectedAnswer {
  readonly asked: AskedOverHttp
  readonly sendMs: number
}

function hasTag({ headers }: IncomingMessage, etag: string): boolean {
  const given = headers['if-none-match']?.split(',').map((tag) => tag.trim()) ?? []
  return given.includes(etag) || given.includes('*')
}

function sendNothing(response: ServerResponse, etag: string): void {
  response.writeHead(304, { ...HEADERS, etag }).end()
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  { body, etag, notes, asked: { question, format }, sendMs }: Sent,
): void {
  if (hasTag(request, etag)) {
    sendNothing(response, etag)
    return
  }
  const isShown = format === 'json' || format === 'ndjson'
  response.writeHead(200, {
    ...HEADERS,
    etag,
    'content-type': CONTENT_TYPES[format],
    'content-length': body.length,
    ...(notes.length === 0 ? {} : { [NOTES]: asHeader(notes) }),
    ...(isShown ? {} : { 'content-disposition': `attachment; filename="${question}.${format}"` }),
  })
  endLate(response, sendMs)
  response.end(body)
}

/** Ends a response that its reader does not take in time. */
function endLate(response: ServerResponse, sendMs: number): void {
  const timer = setTimeout(() => response.destroy(), sendMs)
  response.once('close', () => {
    clearTimeout(timer)
  })
}

/** Names in it may be of any script and length; a header is short and in ASCII. */
function asHeader(notes: readonly string[]): string {
  const text = notes.join(' | ').slice(0, MOST_OF_NOTES)
  const escaped = (sign: string): string => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`
  return text.replaceAll(/[^ -~]/g, escaped)
}

function sendJson(response: ServerResponse, value: unknown): void {
  const text = `${JSON.stringify(value, null, 2)}\n`
  endLate(response, LIMITS.sendMs)
  answerText(response, { text, type: 'application/json', headers: HEADERS })
}
