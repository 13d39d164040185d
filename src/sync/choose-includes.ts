import type { ListStream } from '../api/endpoints.js'
import { parsePage, type Page } from '../api/list-pages.js'
import { membersOf, type Document } from '../jsonapi/document.js'
import { loadCapability, saveCapability } from '../warehouse/bookkeeping/schema-drift.js'
import type { Run } from '../ingest/run.js'

/**
 * Relations we would like to have included, most wanted first. Which of them the service takes is
 * not specified: what it refuses or does not send is dropped, and tried again after a day.
 * Everything works with none of them, at the cost of requests.
 */
const WANTED_INCLUDES: Readonly<Partial<Record<ListStream, readonly string[]>>> = {
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
  ],
  containers: ['transport_events', 'pod_terminal', 'pickup_facility'],
}

/** What to ask a list for. */
export interface IncludeChoice {
  readonly includes: readonly string[]
  /** True when something untried is among them, which the first page decides. */
  readonly isTrial: boolean
}

/**
 * Everything wanted at first; then what the service was found to take; once a day also one of the
 * refused, in turn. So what it learns is noticed within days, at the cost of a request a day.
 */
export async function chooseIncludes(
  run: Pick<Run, 'warehouse'>,
  list: ListStream,
): Promise<IncludeChoice> {
  const wanted = WANTED_INCLUDES[list] ?? []
  if (wanted.length === 0) return { includes: [], isTrial: false }
  const found = await loadCapability(run.warehouse, capabilityName(list))
  if (found === undefined) return { includes: wanted, isTrial: true }
  const accepted = wanted.filter((name) => listOf(found.detail.accepted).includes(name))
  const refused = listOf(found.detail.refused).filter((name) => wanted.includes(name))
  const [next] = refused
  if (!found.isStale || next === undefined) return { includes: accepted, isTrial: false }
  return {
    includes: wanted.filter((name) => name === next || accepted.includes(name)),
    isTrial: true,
  }
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? (value as readonly string[]) : []
}

/** Remembers which of `asked` the service took and sent, by a first page. */
export async function rememberIncludes(
  run: Pick<Run, 'warehouse' | 'logger'>,
  list: ListStream,
  page: Page,
  asked: readonly string[],
): Promise<void> {
  // An empty list proves nothing.
  if (page.document.data.length === 0) return
  const document = parsePage(page)
  const accepted = page.includes.filter((name) => !isWithheld(document, name))
  // Those just tried are tried again last.
  const rest = (WANTED_INCLUDES[list] ?? []).filter((name) => !accepted.includes(name))
  const isAsked = (name: string): boolean => asked.includes(name)
  const refused = [...rest.filter((name) => !isAsked(name)), ...rest.filter(isAsked)]
  const found = {
    capability: capabilityName(list),
    isSupported: accepted.length > 0,
    detail: { accepted, refused },
  }
  await run.warehouse.transaction('remember includes', (session) => saveCapability(session, found))
  if (refused.length > 0) {
    run.logger.info('the service does not include everything we asked for', { list, refused })
  }
}

function capabilityName(list: ListStream): string {
  return `include on ${list}`
}

/**
 * True when records link to resources of a relation and none of them came included. Follows nested
 * names (`containers.transport_events`) through `included`. A page without any such link proves
 * nothing.
 */
export function isWithheld({ data, included }: Document, name: string): boolean {
  const byKey = new Map(included.map((resource) => [keyOf(resource), resource]))
  let holders: readonly unknown[] = data
  for (const relation of name.split('.')) {
    const keys = holders.flatMap((holder) => linkedKeys(holder, relation))
    if (keys.length === 0) return false
    holders = keys.map((key) => byKey.get(key)).filter((resource) => resource !== undefined)
    if (holders.length === 0) return true
  }
  return false
}

function linkedKeys(resource: unknown, relation: string): string[] {
  const { data } = membersOf(membersOf(membersOf(resource).relationships)[relation])
  return [data]
    .flat()
    .map(keyOf)
    .filter((key) => key !== undefined)
}

function keyOf(resource: unknown): string | undefined {
  const { type, id } = membersOf(resource)
  return typeof type === 'string' && typeof id === 'string' ? `${type}:${id}` : undefined
}
