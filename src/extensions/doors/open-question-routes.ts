import type { PagePlace } from '../../extension.js'
import type { Route } from '../../http/http-server.js'
import { namesOf } from '../../http/listed-hosts.js'
import type { Schemas } from '../../warehouse/connection/schema-names.js'
import type { DoorGuard } from './http/door-guard.js'

/** For a token and its customer; the answers open a connection each. */
const CONNECTIONS = 2
/** A token is one row. */
const TOKEN_TIMEOUT_MS = 5_000

/** The doors to open; both have one guard, and so one number of answers at once. */
export interface WantedDoors {
  /** `/questions` and `/openapi.json`. */
  readonly questions: boolean
  /** `/mcp`. */
  readonly mcp: boolean
}

/** The routes with connections of their own, for `serve` and `dashboard`. */
export async function openQuestionRoutes(
  place: PagePlace,
  wanted: WantedDoors,
): Promise<Record<string, Route>> {
  const { ANSWER_SECONDS, createQuestionRoutes } = await import('./http/question-routes.js')
  const { numberPageOf } = await import('../answers/number-page.js')
  const { createDoorGuard } = await import('./http/door-guard.js')
  const { createTokenUses } = await import('./token-uses.js')
  const { logger, programVersion } = place
  const answers = await place.connect({
    isReadOnly: true,
    poolSize: CONNECTIONS,
    statementTimeoutMs: ANSWER_SECONDS * 1_000,
  })
  const warehouse = await place.connect({
    isReadOnly: false,
    poolSize: CONNECTIONS,
    statementTimeoutMs: TOKEN_TIMEOUT_MS,
  })
  const uses = createTokenUses(warehouse, logger)
  // Before the connections, which were opened first.
  place.onClose(() => uses.close())
  const pageOf = numberPageOf(place.config)
  const guard = createDoorGuard({ warehouse, answers, uses, logger })
  const { names } = answers
  return {
    ...(wanted.questions ? createQuestionRoutes({ guard, names, programVersion, pageOf }) : {}),
    ...(wanted.mcp ? await openMcpRoute(place, guard, names) : {}),
  }
}

async function openMcpRoute(
  place: PagePlace,
  guard: DoorGuard,
  names: Schemas,
): Promise<Record<string, Route>> {
  const { numberPageOf } = await import('../answers/number-page.js')
  const { createMcpRoute } = await import('../mcp/http-route.js')
  const { config, logger, programVersion } = place
  const mcp = await createMcpRoute({
    names,
    logger,
    programVersion,
    hosts: namesOf(config.hosts),
    isSqlOn: false,
    admit: async (incoming) => {
      const token = await guard.check(incoming)
      const pageOf = token === undefined ? numberPageOf(config) : undefined
      return { token, session: { open: () => guard.open(token), pageOf } }
    },
    takeTurn: guard.takeTurn,
    describe: (thrown) => guard.refusalOf(thrown)?.message,
    // Of those sentences none has a word of the database's own.
    redact: (text) => text,
  })
  place.onClose(() => mcp.close())
  return { '/mcp': guard.route(mcp.route) }
}
