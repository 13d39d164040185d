import { judgeIncludes } from '../api/includes.js'
import type { Page } from '../api/list-pages.js'
import { loadCapability, saveCapability } from '../warehouse/capabilities.js'
import type { Run } from './run.js'

/**
 * Relations we would like to have included, most wanted first. Which of them the service takes is not specified: what it refuses or
 * does not send is dropped, remembered for a day and then tried again. Everything works with none of them, at the cost of requests.
 */
export const WANTED_INCLUDES = {
  shipments: [
    'containers',
    'containers.transport_events',
    'port_of_lading',
    'port_of_discharge',
    'pod_terminal',
    'destination',
    'destination_terminal',
    'containers.pickup_facility',
    'containers.transport_events.vessel',
    'containers.custom_fields',
  ],
  containers: ['transport_events', 'pod_terminal', 'pickup_facility', 'custom_fields'],
} as const satisfies Record<string, readonly string[]>

export type IncludingList = keyof typeof WANTED_INCLUDES

/** What to ask a list for, and whether its answer teaches us something new. */
export interface IncludeChoice {
  readonly includes: readonly string[]
  /** True when everything wanted is tried: then the first page tells what the service takes. */
  readonly isTrial: boolean
}

/** What was found out within a day, else all that are wanted. */
export async function chooseIncludes(run: Run, list: IncludingList): Promise<IncludeChoice> {
  const found = await loadCapability(run.warehouse, capabilityName(list))
  const accepted: unknown = found?.detail.accepted
  if (!Array.isArray(accepted)) return { includes: WANTED_INCLUDES[list], isTrial: true }
  const known = accepted as readonly unknown[]
  return { includes: WANTED_INCLUDES[list].filter((name) => known.includes(name)), isTrial: false }
}

/** Remembers what the service took and sent, judged by the first page of a trial. */
export async function rememberIncludes(run: Run, list: IncludingList, page: Page): Promise<void> {
  // An empty list proves nothing.
  if (page.document.data.length === 0) return
  const { unsent } = judgeIncludes(page.document, page.includes)
  const accepted = page.includes.filter((name) => !unsent.includes(name))
  const refused = WANTED_INCLUDES[list].filter((name) => !accepted.includes(name))
  await saveCapability(run.warehouse, {
    capability: capabilityName(list),
    isSupported: accepted.length > 0,
    detail: { accepted, refused },
  })
  if (refused.length > 0) {
    run.logger.info('the service does not include everything we asked for', { list, refused })
  }
}

function capabilityName(list: IncludingList): string {
  return `include on ${list}`
}
