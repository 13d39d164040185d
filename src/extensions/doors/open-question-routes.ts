import type { PagePlace } from '../../extension.js'
import type { Route } from '../../http/http-server.js'
import { namesOf } from '../../http/listed-hosts.js'
import type { Schemas } from '../../warehouse/connection/schema-names.js'
import type { DoorGuard } from './http/door-guard.js'
import { openGuard } from './open-guard.js'

/** The doors to open. */
export interface WantedDoors {
  /** `/questions` and `/openapi.json`. */
  readonly questions: boolean
  /** `/mcp`. */
  readonly mcp: boolean
}

/** The routes behind the guard of the place, for `serve` and `dashboard`. */
export async function openQuestionRoutes(
  place: PagePlace,
  wanted: WantedDoors,
): Promise<Record<string, Route>> {
  const { createQuestionRoutes } = await import('./http/question-routes.js')
  const { numberPageOf } = await import('../answers/number-page.js')
  const { programVersion } = place
  const pageOf = numberPageOf(place.config)
  const { guard, names } = await openGuard(place)
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
      const pageOf = (token?.customers ?? null) === null ? numberPageOf(config) : undefined
      return { token, session: { open: () => guard.open(token), pageOf } }
    },
    takeTurn: guard.takeTurn,
    read: guard.read,
    describe: (thrown) => guard.refusalOf(thrown)?.message,
    // Of those sentences none has a word of the database's own.
    redact: (text) => text,
  })
  place.onClose(() => mcp.close())
  return { '/mcp': guard.route(mcp.route) }
}
