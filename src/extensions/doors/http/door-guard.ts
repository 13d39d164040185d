import type { IncomingMessage, ServerResponse } from 'node:http'
import pLimit from 'p-limit'
import type { Logger } from '../../../base/logger.js'
import { answer } from '../../../http/answer.js'
import type { Route } from '../../../http/http-server.js'
import type { Warehouse } from '../../../warehouse/connection/warehouse.js'
import { findCustomerRole } from '../../accounts/customers/customer-role.js'
import type { AccessToken } from '../access-tokens.js'
import { readAsRole } from '../read-as-role.js'
import { createAnswerBound, type BoundOptions } from './answer-bound.js'
import { createBearerCheck, type BearerOptions } from './bearer.js'
import { Refused, refusalOf } from './refused.js'

/** Four answers at once take, at most, 128 MiB. */
const LIMITS: BoundOptions = { atOnce: 4, waiting: 16, patienceMs: 10_000 }

/**
 * Two of the four are read at a time, the others are sent or wait. Four of them took both cores of
 * a small machine: a delivery in a hundred waited 100 to 270 ms, beside two 76 to 82.
 */
const READ_AT_ONCE = 2

const GONE = 'the client went away'

export interface DoorGuardOptions extends BearerOptions {
  /** By the login of the program, read-only. Its time limit is that of an answer. */
  readonly answers: Warehouse
  readonly logger: Logger
  readonly limits?: Partial<BoundOptions>
}

/** The guard of every door of questions over HTTP: who asks, as whom, and how many at once. */
export interface DoorGuard {
  /** The token of a request; undefined for this machine without one. Throws `Refused`. */
  readonly check: (request: IncomingMessage) => Promise<AccessToken | undefined>
  /** The warehouse as this token sees it. Throws `Refused`. */
  readonly open: (token: AccessToken | undefined) => Promise<Warehouse>
  /** Waits for a turn, which ends with the response. Throws `Refused` if too many wait. */
  readonly takeTurn: (response: ServerResponse) => Promise<void>
  /** Runs what asks the database, after others that do, unless the client is gone by then. */
  readonly read: <T>(ask: () => Promise<T>, isGone: () => boolean) => Promise<T>
  /** The refusal for an error, which is logged if it is ours; undefined for a fault. */
  readonly refusalOf: (thrown: unknown) => Refused | undefined
  /** A route whose refusals are answered in one sentence. */
  readonly route: (route: Route) => Route
  /** The same for a page of the dashboard, for this machine and tokens that open it. */
  readonly page: (route: Route) => Route
}

/** Beside questions in a token: it opens the dashboard, which shows everything. */
export const DASHBOARD = 'dashboard'

export function createDoorGuard(options: DoorGuardOptions): DoorGuard {
  const { answers, logger } = options
  const checkBearer = createBearerCheck(options)
  const takeOne = createAnswerBound({ ...LIMITS, ...options.limits })
  const reading = pLimit(READ_AT_ONCE)

  function describe(thrown: unknown): Refused | undefined {
    const refused = refusalOf(thrown)
    if (refused?.status === 503 || refused?.status === 504) {
      // The address may hold a token.
      logger.warn('a question over HTTP was not answered', { error: thrown })
    }
    return refused
  }

  const check: DoorGuard['check'] = (request) => checkBearer(request, addressOf(request).query)

  const refusing = (route: Route): Route => ({
    methods: route.methods,
    handle: async (request, response) => {
      try {
        await route.handle(request, response)
      } catch (thrown) {
        const refused = describe(thrown)
        if (refused === undefined) throw thrown
        answer(request, response, refused.answer())
      }
    },
  })

  return {
    check,
    open: async (token) => {
      if (token === undefined || token.customers === null) return answers
      // Looked up each time: a role may have been given other names since.
      const found = await findCustomerRole(answers, token.customers)
      if (found?.isOurs === true) return readAsRole(answers, found.role)
      throw new Refused(
        403,
        `the token ${token.name} reads the rows of ${token.customers.join(' and ')}, and no role ` +
          'reads just these now; have the owner of the warehouse look at its roles of customers',
      )
    },
    takeTurn: async (response) => {
      const endTurn = await takeOne()
      if (endTurn === undefined) {
        throw new Refused(429, 'too many answers are under way; ask again in 5 seconds', {
          'retry-after': '5',
        })
      }
      // A slow reader keeps its turn, because the answer stays in memory until it is sent.
      response.once('close', endTurn)
      // One that went away while it waited closes no second time.
      if (!response.destroyed) return
      endTurn()
      throw new Refused(499, GONE)
    },
    read: (ask, isGone) =>
      reading(() => {
        // A turn ends with its client: a flood of clients that leave would wait here without bound.
        if (isGone()) throw new Refused(499, GONE)
        return ask()
      }),
    refusalOf: describe,
    route: refusing,
    page: (route) =>
      refusing({
        methods: route.methods,
        handle: async (request, response) => {
          const token = await check(request)
          if (token !== undefined && !opensDashboard(token)) {
            throw new Refused(
              403,
              `the token ${token.name} does not open the dashboard; one of \`tokens create ` +
                `--questions ${DASHBOARD}\` does`,
            )
          }
          await route.handle(request, response)
        },
      }),
  }
}

function opensDashboard({ questions, customers }: AccessToken): boolean {
  return customers === null && questions.includes(DASHBOARD)
}

export function addressOf({ url = '' }: IncomingMessage): {
  readonly path: string
  readonly query: URLSearchParams
} {
  const [path = '', ...query] = url.split('?')
  return { path, query: new URLSearchParams(query.join('?')) }
}
