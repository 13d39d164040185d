import { slicesOf } from './read-list-page.js'
import { membersOf, type ResourceObject } from '../../../source/jsonapi/document.js'
import { errorAnswer, notFound, type Answer, type ServiceRequest } from './answers.js'
import {
  customFieldSlot,
  optionRecords,
  storedCustomValue,
} from '../records/custom-field-record.js'
import type { QueryFault } from '../faults/faults.js'
import { filteredList } from './list-filters.js'
import { listAnswer, singleAnswer, type Service } from './record-answers.js'
import type { ListedType, World } from '../world/world.js'
import {
  createWebhook,
  deleteWebhook,
  listWebhookEvents,
  listWebhookIps,
  readWebhook,
  triggerWebhook,
  updateWebhook,
} from '../webhooks/webhook-endpoints.js'

interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: RegExp
  readonly answer: (
    service: Service,
    request: ServiceRequest,
    parameters: Readonly<Record<string, string>>,
    faults: readonly QueryFault[],
  ) => Answer
}

const CUSTOM_FIELDS_OF =
  /^\/(?<type>container|shipment|tracking_request)s\/(?<id>[^/]+)\/custom_fields$/
const CUSTOM_FIELD_OF =
  /^\/(?<type>container|shipment|tracking_request)s\/(?<id>[^/]+)\/custom_fields\/(?<slug>[^/]+)$/

/**
 * Every path of the interface. The first one that matches wins, so `/webhooks/events` comes before
 * `/webhooks/{id}`.
 */
const ENDPOINTS: readonly Endpoint[] = [
  list('shipments', 'shipment'),
  read('shipments', 'shipment'),
  list('containers', 'container'),
  read('containers', 'container'),
  eventList('transport_events', 'transport_event', (world, id, at) =>
    world.transportEventsOf(id, at),
  ),
  eventList('raw_events', 'raw_event', (world, id, at) => world.rawEventsOf(id, at)),
  { method: 'GET', path: /^\/custom_fields$/, answer: listCustomFields },
  { method: 'GET', path: CUSTOM_FIELDS_OF, answer: listCustomFieldsOf },
  { method: 'POST', path: CUSTOM_FIELDS_OF, answer: setCustomField },
  { method: 'PATCH', path: CUSTOM_FIELD_OF, answer: setCustomField },
  { method: 'DELETE', path: CUSTOM_FIELD_OF, answer: deleteCustomField },
  { method: 'GET', path: /^\/custom_field_definitions$/, answer: listDefinitions },
  { method: 'GET', path: /^\/custom_field_definitions\/(?<id>[^/]+)$/, answer: readDefinition },
  {
    method: 'GET',
    path: /^\/custom_field_definitions\/(?<id>[^/]+)\/options$/,
    answer: listOptions,
  },
  list('tracking_requests', 'tracking_request'),
  read('tracking_requests', 'tracking_request'),
  list('ports', 'port'),
  read('ports', 'port'),
  list('metro_areas', 'metro_area'),
  read('metro_areas', 'metro_area'),
  list('terminals', 'terminal'),
  read('terminals', 'terminal'),
  list('rail_terminals', 'rail_terminal'),
  read('rail_terminals', 'rail_terminal'),
  list('vessels', 'vessel'),
  { method: 'GET', path: /^\/vessels\/(?<id>[^/]+)$/, answer: readVessel },
  { method: 'GET', path: /^\/webhooks\/events$/, answer: listWebhookEvents },
  { method: 'GET', path: /^\/webhooks\/ips$/, answer: listWebhookIps },
  {
    method: 'POST',
    path: /^\/webhooks\/trigger$/,
    answer: ({ webhooks }, request) => triggerWebhook(webhooks, request),
  },
  { method: 'GET', path: /^\/webhooks$/, answer: listWebhooks },
  {
    method: 'POST',
    path: /^\/webhooks$/,
    answer: ({ webhooks }, request) => createWebhook(webhooks, request),
  },
  {
    method: 'GET',
    path: /^\/webhooks\/(?<id>[^/]+)$/,
    answer: ({ webhooks }, request, { id = '' }) => readWebhook(webhooks, request, id),
  },
  {
    method: 'PATCH',
    path: /^\/webhooks\/(?<id>[^/]+)$/,
    answer: ({ webhooks }, request, { id = '' }) => updateWebhook(webhooks, request, id),
  },
  {
    method: 'DELETE',
    path: /^\/webhooks\/(?<id>[^/]+)$/,
    answer: ({ webhooks }, request, { id = '' }) => deleteWebhook(webhooks, request, id),
  },
  { method: 'GET', path: /^\/webhook_notifications$/, answer: listNotifications },
  {
    method: 'GET',
    path: /^\/webhook_notifications\/(?<id>[^/]+)$/,
    answer: readNotification,
  },
]

/**
 * The answer to an authorized request. 404 for a path nobody knows, 405 for a method it does not
 * have.
 */
export function answerRequest(
  service: Service,
  request: ServiceRequest,
  faults: readonly QueryFault[],
): Answer {
  const methods: string[] = []
  for (const endpoint of ENDPOINTS) {
    const match = endpoint.path.exec(request.path)
    if (match === null) continue
    if (endpoint.method === request.method) {
      return endpoint.answer(service, request, match.groups ?? {}, faults)
    }
    methods.push(endpoint.method)
  }
  if (methods.length === 0) return notFound(request.path)
  const detail = `${request.path} has no ${request.method}.`
  return errorAnswer(405, 'Method Not Allowed', detail, { headers: { allow: methods.join(', ') } })
}

function list(collection: string, type: ListedType): Endpoint {
  return {
    method: 'GET',
    path: new RegExp(`^/${collection}$`),
    answer: (service, request, _parameters, faults) => {
      const { world } = service
      const { at } = request
      const filtered = filteredList(service, request, type)
      if (filtered !== undefined && 'status' in filtered) return filtered
      const paged = filtered ?? {
        total: world.count(type, at),
        slice: (offset: number, limit: number) => world.page(type, offset, limit, at),
      }
      return listAnswer(service, request, type, paged, faults)
    },
  }
}

function read(collection: string, type: ListedType): Endpoint {
  return {
    method: 'GET',
    path: new RegExp(`^/${collection}/(?<id>[^/]+)$`),
    answer: (service, request, { id = '' }) => {
      const known = type === 'port' ? portId(service.world, id) : id
      const record = service.world.record(type, known, request.at)
      return record === undefined
        ? notFound(request.path)
        : singleAnswer(service, request, type, record)
    },
  }
}

function eventList(
  name: string,
  type: string,
  reader: (world: World, containerId: string, at: Date) => ResourceObject[],
): Endpoint {
  return {
    method: 'GET',
    path: new RegExp(`^/containers/(?<id>[^/]+)/${name}$`),
    answer: (service, request, { id = '' }, faults) => {
      if (service.world.record('container', id, request.at) === undefined) {
        return notFound(request.path)
      }
      const events = reader(service.world, id, request.at)
      // Without a page size, all events of a container come at once.
      const largestSize = Number.MAX_SAFE_INTEGER
      const pages = { defaultSize: Math.max(1, events.length), largestSize }
      const paged = slicesOf(events)
      return listAnswer({ ...service, pages }, request, type, paged, faults)
    },
  }
}

/** Ports are also found by their UN/LOCODE, vessels by their IMO number. */
function portId(world: World, idOrLocode: string): string {
  return world.atlas.ports.find(({ locode }) => locode === idOrLocode)?.id ?? idOrLocode
}

function readVessel(
  { world }: Service,
  request: ServiceRequest,
  { id: idOrImo = '' }: Readonly<Record<string, string>>,
): Answer {
  const id = world.atlas.vessels.find(({ imo }) => imo === idOrImo)?.id ?? idOrImo
  const hasPositions = request.query.get('show_positions') === 'true'
  const vessel = hasPositions
    ? world.vesselWithPositions(id, request.at)
    : world.record('vessel', id, request.at)
  if (vessel === undefined) return notFound(request.path)
  const self = `${request.origin}/v2${request.path}`
  return { status: 200, document: { data: vessel, links: { self } } }
}

function listCustomFields(
  service: Service,
  request: ServiceRequest,
  _parameters: Readonly<Record<string, string>>,
  faults: readonly QueryFault[],
): Answer {
  const asked = (name: string): string | undefined => request.query.get(name) ?? undefined
  const filters = {
    entityType: asked('filter[entity_type]'),
    entityId: asked('filter[entity_id]'),
    definitionId: asked('filter[definition_id]'),
  }
  const isFiltered = Object.values(filters).some((value) => value !== undefined)
  const paged = service.world.customFields(request.at, isFiltered ? filters : {})
  return listAnswer(service, request, 'custom_field', paged, faults)
}

function listCustomFieldsOf(
  service: Service,
  request: ServiceRequest,
  { type = '', id = '' }: Readonly<Record<string, string>>,
  faults: readonly QueryFault[],
): Answer {
  if (service.world.record(type, id, request.at) === undefined) return notFound(request.path)
  const paged = service.world.customFields(request.at, { entityId: id })
  return listAnswer(service, request, 'custom_field', paged, faults)
}

/** Sets a value; POST names its field in the body. */
function setCustomField(
  { world, edits }: Service,
  request: ServiceRequest,
  { type = '', id = '', slug }: Readonly<Record<string, string>>,
): Answer {
  const body = membersOf(request.body)
  // Its documentation shows both forms.
  const attributes = 'value' in body ? body : membersOf(membersOf(body.data).attributes)
  const name = slug ?? String(attributes.api_slug)
  const slot = customFieldSlot(type, name)
  const isThere = world.record(type, id, request.at) !== undefined
  if (!isThere || slot < 0) return notFound(request.path)
  // A field without a value yet gets one by POST.
  const isUnset = world.customField(id, name, request.at) === undefined
  if (slug !== undefined && isUnset) return notFound(request.path)
  if (edits.isCustomFieldDenied(id)) {
    return errorAnswer(403, 'Forbidden', 'The key lacks update permission on the record.')
  }
  if (attributes.value === undefined) {
    return errorAnswer(422, 'Unprocessable Entity', 'value is required.', {
      source: { pointer: '/value' },
    })
  }
  edits.setCustomField(id, name, storedCustomValue(slot, attributes.value))
  const field = world.customField(id, name, request.at)
  if (field === undefined) return notFound(request.path)
  const self = `${request.origin}/v2${request.path}`
  return { status: slug === undefined ? 201 : 200, document: { data: field, links: { self } } }
}

function deleteCustomField(
  { world, edits }: Service,
  request: ServiceRequest,
  { id = '', slug = '' }: Readonly<Record<string, string>>,
): Answer {
  if (world.customField(id, slug, request.at) === undefined) return notFound(request.path)
  if (edits.isCustomFieldDenied(id)) {
    return errorAnswer(403, 'Forbidden', 'The key lacks update permission on the record.')
  }
  edits.setCustomField(id, slug, undefined)
  return { status: 204, document: undefined }
}

function listDefinitions(
  service: Service,
  request: ServiceRequest,
  _parameters: Readonly<Record<string, string>>,
  faults: readonly QueryFault[],
): Answer {
  const asked = [...request.query].flatMap(([name, value]) => {
    const attribute = /^filter\[(entity_type|data_type|display_name)\]$/.exec(name)?.[1]
    return attribute === undefined ? [] : [[attribute, value] as const]
  })
  const definitions = service.world
    .customFieldDefinitions()
    .filter(({ attributes }) => asked.every(([name, value]) => attributes?.[name] === value))
  return listAnswer(service, request, 'custom_field_definition', slicesOf(definitions), faults)
}

function readDefinition(
  service: Service,
  request: ServiceRequest,
  { id = '' }: Readonly<Record<string, string>>,
): Answer {
  const definition = service.world.customFieldDefinitions().find((one) => one.id === id)
  return definition === undefined
    ? notFound(request.path)
    : singleAnswer(service, request, 'custom_field_definition', definition)
}

function listOptions(
  service: Service,
  request: ServiceRequest,
  { id = '' }: Readonly<Record<string, string>>,
  faults: readonly QueryFault[],
): Answer {
  const { ids } = service.world
  const definitions = service.world.customFieldDefinitions()
  if (!definitions.some((one) => one.id === id)) return notFound(request.path)
  const options = slicesOf(optionRecords(ids, ids.decode(id)?.serial ?? -1))
  return listAnswer(service, request, 'custom_field_option', options, faults)
}

function listWebhooks(
  service: Service,
  request: ServiceRequest,
  _parameters: Readonly<Record<string, string>>,
  faults: readonly QueryFault[],
): Answer {
  const paged = slicesOf(service.webhooks.desk.webhooks())
  return listAnswer(service, request, 'webhook', paged, faults)
}

function listNotifications(
  service: Service,
  request: ServiceRequest,
  _parameters: Readonly<Record<string, string>>,
  faults: readonly QueryFault[],
): Answer {
  const wanted = request.query.get('filter[delivery_status]')
  const notifications = service.webhooks.desk.notifications.filter(
    ({ attributes }) => wanted === null || attributes?.delivery_status === wanted,
  )
  return listAnswer(service, request, 'webhook_notification', slicesOf(notifications), faults)
}

function readNotification(
  service: Service,
  request: ServiceRequest,
  { id = '' }: Readonly<Record<string, string>>,
): Answer {
  const notification = service.webhooks.desk.notifications.find((one) => one.id === id)
  return notification === undefined
    ? notFound(request.path)
    : singleAnswer(service, request, 'webhook_notification', notification)
}
