import { ApiContractError, ApiRequestError, toError } from '../base/errors.js'
import type { ApiAnswer } from './call-runner.js'
import type { CallOptions } from './call.js'
import type { ApiClient } from './client.js'
import { listPages, type ListOptions, type Page } from './list-pages.js'

export type PlainReadOptions = Pick<CallOptions, 'signal' | 'purpose' | 'counter'>

export interface ReadOptions extends PlainReadOptions {
  readonly includes?: readonly string[] | undefined
}

export interface VesselOptions extends ReadOptions {
  /** Also the positions of the past. */
  readonly showPositions?: boolean | undefined
}

export interface NotificationListOptions extends ListOptions {
  /** `failed` is the one value that the interface names. */
  readonly deliveryStatus?: string | undefined
}

/**
 * A webhook's settings as the service takes them. Only `active` is specified; the rest is what its
 * public documentation shows.
 */
export interface WebhookSettings {
  readonly url?: string | undefined
  readonly active?: boolean | undefined
  readonly events?: readonly string[] | undefined
  /** Signs deliveries. Goes to the service and nowhere else. */
  readonly secret?: string | undefined
  readonly headers?: readonly { readonly name: string; readonly value: string }[] | undefined
}

export interface SampleNotification {
  /** Must be HTTPS. */
  readonly url: string
  readonly event: string
  /** Signs the sample. Goes to the service and nowhere else. */
  readonly secret?: string | undefined
}

type Pages = AsyncIterable<Page>

/**
 * Every endpoint of the interface. Lists ask for a page when one is taken; reads and changes are
 * one call each.
 */
export interface TrackingService {
  listShipments(options?: ListOptions): Pages
  listContainers(options?: ListOptions): Pages
  listTrackingRequests(options?: ListOptions): Pages
  /**
   * Past events of one container, verified by the service; estimated future ones are not among
   * them.
   */
  listTransportEvents(containerId: string, options?: ListOptions): Pages
  listRawEvents(containerId: string, options?: ListOptions): Pages
  listWebhooks(options?: ListOptions): Pages
  listWebhookNotifications(options?: NotificationListOptions): Pages
  getShipment(id: string, options?: ReadOptions): Promise<ApiAnswer>
  getContainer(id: string, options?: ReadOptions): Promise<ApiAnswer>
  getTrackingRequest(id: string, options?: ReadOptions): Promise<ApiAnswer>
  /** The service also takes a UN/LOCODE for the id. */
  getPort(id: string, options?: ReadOptions): Promise<ApiAnswer>
  getMetroArea(id: string, options?: ReadOptions): Promise<ApiAnswer>
  getTerminal(id: string, options?: ReadOptions): Promise<ApiAnswer>
  getRailTerminal(id: string, options?: ReadOptions): Promise<ApiAnswer>
  getVessel(id: string, options?: VesselOptions): Promise<ApiAnswer>
  getWebhookNotification(id: string, options?: ReadOptions): Promise<ApiAnswer>
  /** Needs update permission on the container: `ApiAuthError` else. */
  updateCustomField(
    containerId: string,
    apiSlug: string,
    value: unknown,
    options?: CallOptions,
  ): Promise<ApiAnswer>
  createWebhook(settings: WebhookSettings, options?: CallOptions): Promise<ApiAnswer>
  updateWebhook(id: string, settings: WebhookSettings, options?: CallOptions): Promise<ApiAnswer>
  deleteWebhook(id: string, options?: CallOptions): Promise<ApiAnswer>
  /** The catalogue of events a webhook can subscribe to. */
  getWebhookEvents(options?: PlainReadOptions): Promise<ApiAnswer>
  /** The shape is not specified; look at `body`. */
  getWebhookIps(options?: PlainReadOptions): Promise<ApiAnswer>
  triggerWebhook(sample: SampleNotification, options?: CallOptions): Promise<ApiAnswer>
}

/**
 * The endpoints over a client. Ids are encoded; one that no path can carry throws
 * `ApiContractError`.
 */
export function createTrackingService(client: ApiClient): TrackingService {
  return { ...createLists(client), ...createReads(client), ...createChanges(client) }
}

function createLists(client: ApiClient) {
  const list =
    (path: string) =>
    (options: ListOptions = {}): Pages =>
      listPages(client, { ...options, path })
  return {
    listShipments: list('/shipments'),
    listContainers: list('/containers'),
    listTrackingRequests: list('/tracking_requests'),
    listTransportEvents: (containerId: string, options?: ListOptions) =>
      list(`/containers/${encodeId(containerId)}/transport_events`)(options),
    listRawEvents: (containerId: string, options?: ListOptions) =>
      list(`/containers/${encodeId(containerId)}/raw_events`)(options),
    listWebhooks: list('/webhooks'),
    listWebhookNotifications: ({ deliveryStatus, ...options }: NotificationListOptions = {}) => {
      const query = { ...options.query, 'filter[delivery_status]': deliveryStatus }
      return list('/webhook_notifications')({ ...options, query })
    },
  }
}

function createReads(client: ApiClient) {
  const read =
    (collection: string) =>
    async (id: string, { includes, ...options }: ReadOptions = {}): Promise<ApiAnswer> =>
      client.get(`/${collection}/${encodeId(id)}`, {
        ...options,
        query: { include: joinIncludes(includes) },
        expect: 'record',
      })
  return {
    getShipment: read('shipments'),
    getContainer: read('containers'),
    getTrackingRequest: read('tracking_requests'),
    getPort: read('ports'),
    getMetroArea: read('metro_areas'),
    getTerminal: read('terminals'),
    getRailTerminal: read('rail_terminals'),
    getWebhookNotification: read('webhook_notifications'),
    getVessel: async (id: string, options: VesselOptions = {}) => {
      const { includes, showPositions, ...call } = options
      const query = {
        include: joinIncludes(includes),
        show_positions: showPositions === true ? true : undefined,
      }
      return client.get(`/vessels/${encodeId(id)}`, { ...call, query, expect: 'record' })
    },
    getWebhookEvents: async (options?: PlainReadOptions) =>
      client.get('/webhooks/events', { ...options, expect: 'list' }),
    getWebhookIps: async (options?: PlainReadOptions) =>
      client.get('/webhooks/ips', { ...options, expect: 'anything' }),
  }
}

function createChanges(client: ApiClient) {
  const webhook = (settings: WebhookSettings, id?: string) => ({
    data: { ...(id === undefined ? {} : { id }), type: 'webhook', attributes: settings },
  })
  return {
    updateCustomField: async (
      containerId: string,
      apiSlug: string,
      value: unknown,
      options?: CallOptions,
    ) => {
      const path = `/containers/${encodeId(containerId)}/custom_fields/${encodeId(apiSlug)}`
      const send = async (body: unknown): Promise<ApiAnswer> =>
        client.send('PATCH', path, body, { ...options, expect: 'record' })
      try {
        return await send({ data: { type: 'custom_field', attributes: { value } } })
      } catch (refusal) {
        if (!(refusal instanceof ApiRequestError)) throw refusal
        // Another page of the service's documentation has this form. What both refuse is refused
        // for the reason that the first got.
        return await send({ value }).catch((thrown: unknown) => {
          throw thrown instanceof ApiRequestError ? refusal : toError(thrown)
        })
      }
    },
    createWebhook: async (settings: WebhookSettings, options?: CallOptions) =>
      client.send('POST', '/webhooks', webhook(settings), { ...options, expect: 'record' }),
    updateWebhook: async (id: string, settings: WebhookSettings, options?: CallOptions) => {
      const path = `/webhooks/${encodeId(id)}`
      return client.send('PATCH', path, webhook(settings, id), { ...options, expect: 'record' })
    },
    deleteWebhook: async (id: string, options?: CallOptions) =>
      client.send('DELETE', `/webhooks/${encodeId(id)}`, undefined, {
        ...options,
        expect: 'anything',
      }),
    triggerWebhook: async (sample: SampleNotification, options?: CallOptions) =>
      client.send('POST', '/webhooks/trigger', sample, { ...options, expect: 'anything' }),
  }
}

function joinIncludes(includes: readonly string[] | undefined): string | undefined {
  return includes === undefined || includes.length === 0 ? undefined : includes.join(',')
}

/**
 * An id as one segment of a path. `.` and `..` would climb out of it even when percent-encoded, and
 * an empty id would name the list.
 */
function encodeId(id: string): string {
  const isCarried = id.length <= 255 && !/^\.{0,2}$/.test(id) && !/\p{Cs}|\p{Cc}/u.test(id)
  if (isCarried) return encodeURIComponent(id)
  throw new ApiContractError('An id cannot stand in an address, so its record cannot be read.', {
    pointer: '/id',
  })
}
