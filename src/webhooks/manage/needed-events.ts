import type { Document } from '../../jsonapi/document.js'
import { membersOf } from '../../jsonapi/members.js'

/** An event that a webhook can subscribe to, as the service's catalogue has it. */
export interface CatalogueEvent {
  /** Id of its category; a slug. */
  readonly category: string
  readonly name: string
  readonly description: string | null
}

/** The events of `GET /webhooks/events`, in the service's order, each once. What has another shape is passed over: a catalogue is advice. */
export function listCatalogueEvents(catalogue: Document): CatalogueEvent[] {
  const events = new Map<string, CatalogueEvent>()
  for (const category of catalogue.data) {
    const { id, attributes } = membersOf(category)
    for (const event of asList(membersOf(attributes).events)) {
      const { name, description } = membersOf(event)
      if (typeof name !== 'string' || name === '' || events.has(name)) continue
      events.set(name, {
        category: typeof id === 'string' ? id : '',
        name,
        description: typeof description === 'string' ? description : null,
      })
    }
  }
  return [...events.values()]
}

/**
 * Which of the catalogue's events we need: every one, because an event that is new to us may carry news of a shipment, minus what `selection` leaves out.
 *
 * `selection` is the setting TRACKING_WEBHOOK_EVENTS: names separated by commas, `*` for any part of a name, `all` for everything, a `-` in front to leave
 * out; the last word on an event counts. A selection that only leaves out starts from all. `all,-document.*` and `-document.*` say the same.
 */
export function neededEvents(
  catalogue: readonly Pick<CatalogueEvent, 'name'>[],
  selection: string,
): string[] {
  const words = selection
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
  const rules = words.map((word) => {
    const isLeftOut = word.startsWith('-')
    return { isLeftOut, pattern: toPattern(isLeftOut ? word.slice(1) : word) }
  })
  const isAllFirst = rules[0]?.isLeftOut ?? true
  return catalogue
    .map(({ name }) => name)
    .filter((name) => {
      const last = rules.findLast(({ pattern }) => pattern.test(name))
      return last === undefined ? isAllFirst : !last.isLeftOut
    })
}

function toPattern(word: string): RegExp {
  if (word === 'all') return /^/
  const parts = word.split('*').map((part) => part.replace(/[.\\^$+?()[\]{}|]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`)
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
