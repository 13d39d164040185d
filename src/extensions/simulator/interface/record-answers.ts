import type { ResourceObject } from '../../../source/jsonapi/document.js'
import type { Answer, ServiceRequest } from './answers.js'
import type { Edits } from '../world/edits.js'
import type { QueryFault } from '../faults/faults.js'
import { collectIncluded, readIncludes, type IncludeRules } from './included-records.js'
import { readListPage, type PagedList, type PageLimits } from './read-list-page.js'
import { without } from '../records/reference-records.js'
import type { WebhookRules } from '../webhooks/webhook-endpoints.js'
import type { FilterRule } from './list-filters.js'
import type { World } from '../world/world.js'

export interface Service {
  readonly world: World
  readonly edits: Edits
  readonly includes: IncludeRules
  readonly pages: PageLimits
  readonly webhooks: WebhookRules
  readonly filters: FilterRule
}

/** One page with its includes; 400 for an `include` that is not accepted. */
export function listAnswer(
  { world, includes, pages, webhooks }: Service,
  request: ServiceRequest,
  type: string,
  paged: PagedList,
  faults: readonly QueryFault[],
): Answer {
  const relations = readIncludes(request.query.get('include'), type, includes)
  if (!Array.isArray(relations)) return relations
  const { data, links, meta } = readListPage(request, paged, pages, faults)
  const included = collectIncluded(world, data, relations, request.at, webhooks.record)
  const document = {
    data,
    ...(relations.length > 0 ? { included } : {}),
    links,
    meta,
  }
  return { status: 200, document }
}

/** One record with its includes. A tracking request includes its shipment by default. */
export function singleAnswer(
  { world, includes, webhooks }: Service,
  request: ServiceRequest,
  type: string,
  data: ResourceObject,
): Answer {
  const byDefault = type === 'tracking_request' ? 'tracked_object' : null
  const relations = readIncludes(request.query.get('include') ?? byDefault, type, includes)
  if (!Array.isArray(relations)) return relations
  const related = collectIncluded(world, [data], relations, request.at, webhooks.record)
  const included = type === 'tracking_request' ? related.map(thinShipment) : related
  const self = `${request.origin}/v2${request.path}`
  const document = {
    data,
    links: { self },
    ...(relations.length > 0 ? { included } : {}),
  }
  return { status: 200, document }
}

const THIN_SHIPMENT_LACKS = new Set([
  'tags',
  'normalized_number',
  'shipping_line_short_name',
  'customer_name',
  'pod_original_eta_at',
  'pol_original_etd_at',
  'destination_original_eta_at',
  'line_tracking_last_attempted_at',
  'line_tracking_last_succeeded_at',
  'line_tracking_stopped_at',
  'line_tracking_stopped_reason',
])

/** The shipment within a tracking request carries only some of its attributes. */
function thinShipment(record: ResourceObject): ResourceObject {
  if (record.type !== 'shipment') return record
  return { ...record, attributes: without(THIN_SHIPMENT_LACKS, record.attributes ?? {}) }
}
