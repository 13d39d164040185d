import type { PagePlace } from '../../extension.js'
import type { Route } from '../../http/http-server.js'
import type { Schemas } from '../../warehouse/connection/schema-names.js'
import type { DoorGuard } from './http/door-guard.js'

/** For a token and its customer; the answers open a connection each. */
const CONNECTIONS = 2
/** A token is one row. */
const TOKEN_TIMEOUT_MS = 5_000

export interface OpenedGuard {
  readonly guard: DoorGuard
  readonly names: Schemas
}

const opened = new WeakMap<PagePlace, Promise<OpenedGuard>>()

/** The guard of a place: its doors share one, and so its turns, counts and slowed answers. */
export function openGuard(place: PagePlace): Promise<OpenedGuard> {
  const known = opened.get(place) ?? open(place)
  opened.set(place, known)
  return known
}

/** Puts pages behind the guard: they show everything, to this machine or by a token for them. */
export async function openPageGuard(
  place: PagePlace,
): Promise<(routes: Readonly<Record<string, Route>>) => Record<string, Route>> {
  const { guard } = await openGuard(place)
  return (routes) =>
    Object.fromEntries(Object.entries(routes).map(([path, route]) => [path, guard.page(route)]))
}

async function open(place: PagePlace): Promise<OpenedGuard> {
  const { ANSWER_SECONDS } = await import('./http/question-routes.js')
  const { createDoorGuard } = await import('./http/door-guard.js')
  const { createTokenUses } = await import('./token-uses.js')
  const { logger } = place
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
  return { guard: createDoorGuard({ warehouse, answers, uses, logger }), names: answers.names }
}
