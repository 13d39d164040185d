import type { TrackingService } from '../../source/client/endpoints.js'
import type { Document } from '../../source/jsonapi/document.js'
import { eventCategorySchema } from '../../source/jsonapi/schemas.js'
import { ApiAuthError, ApiNotFoundError, ApiRequestError } from '../../base/errors.js'

/** An event of the service's catalogue; a webhook can subscribe to it. */
export interface CatalogueEvent {
  /** Id of its category; a slug. */
  readonly category: string
  readonly name: string
  readonly description: string | null
}

/** The events of `GET /webhooks/events`, in the service's order, each once. */
export function listCatalogueEvents(catalogue: Document): CatalogueEvent[] {
  const found = new Map<string, CatalogueEvent>()
  for (const category of catalogue.data) {
    const { id, attributes } = eventCategorySchema.parse(category)
    for (const event of attributes.events ?? []) {
      if (!found.has(event.name)) found.set(event.name, { category: id ?? '', ...event })
    }
  }
  return [...found.values()]
}

/**
 * The events of the catalogue that we need: all of them, because an event that is new to us may
 * bring a change of a shipment. `selection` leaves events out.
 *
 * `selection` is `webhooks.events` of the preset: names, `*` for any part of a name, `all` for
 * everything, a leading `-` to leave out; the last entry that matches an event decides. A selection
 * that only leaves out starts from all: `all`, `-document.*` and `-document.*` alone are the same.
 */
export function neededEvents(
  catalogue: readonly Pick<CatalogueEvent, 'name'>[],
  selection: readonly string[],
): string[] {
  const rules = selection.map((word) => {
    const isLeftOut = word.startsWith('-')
    return { isLeftOut, pattern: toPattern(isLeftOut ? word.slice(1) : word) }
  })
  const isAllFirst = rules[0]?.isLeftOut ?? true
  const names = catalogue.map(({ name }) => name)
  return names.filter((name) => {
    const last = rules.findLast(({ pattern }) => pattern.test(name))
    return last === undefined ? isAllFirst : !last.isLeftOut
  })
}

function toPattern(word: string): RegExp {
  if (word === 'all') return /^/
  const parts = word.split('*').map((part) => part.replace(/[.\\^$+?()[\]{}|]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`)
}

/** The choice of events in the preset. */
export interface EventChoice {
  /** See `neededEvents`. */
  readonly events: readonly string[]
  /** All events of the service, to use if it lacks a catalogue. */
  readonly eventNames?: readonly string[]
}

interface NeededEventsOptions extends EventChoice {
  readonly service: Pick<TrackingService, 'getWebhookEvents'>
  readonly signal: AbortSignal
}

/**
 * Reads the needed events from the service's catalogue, or takes the preset's names if the
 * catalogue is missing or empty; undefined if both are. One request.
 */
export async function readNeededEvents(
  options: NeededEventsOptions,
): Promise<string[] | undefined> {
  try {
    const { document } = await options.service.getWebhookEvents({ signal: options.signal })
    const catalogue = listCatalogueEvents(document)
    if (catalogue.length > 0) return neededEvents(catalogue, options.events)
  } catch (thrown) {
    if (!isNotOffered(thrown)) throw thrown
  }
  const { eventNames = [] } = options
  if (eventNames.length === 0) return undefined
  return neededEvents(
    eventNames.map((name) => ({ name })),
    options.events,
  )
}

/** Whether the service does not offer the catalogue: forbidden, unknown or not understood. */
function isNotOffered(thrown: unknown): boolean {
  if (thrown instanceof ApiAuthError) return thrown.context.status === 403
  return thrown instanceof ApiNotFoundError || thrown instanceof ApiRequestError
}
