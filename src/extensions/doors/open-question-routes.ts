import type { PagePlace } from '../../extension.js'
import type { Route } from '../../http/http-server.js'

/** For a token and its customer; the answers open a connection each. */
const CONNECTIONS = 2
/** A token is one row. */
const TOKEN_TIMEOUT_MS = 5_000

/** The routes with connections of their own, for `serve` and `dashboard`. */
export async function openQuestionRoutes(place: PagePlace): Promise<Record<string, Route>> {
  const { ANSWER_SECONDS, createQuestionRoutes } = await import('./http/question-routes.js')
  const { numberPageOf } = await import('../answers/number-page.js')
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
  return createQuestionRoutes({ warehouse, answers, uses, logger, programVersion, pageOf })
}
