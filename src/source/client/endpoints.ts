import { ApiContractError, ApiNotFoundError, ApiRequestError, toError } from '../../base/errors.js'
import type { ApiAnswer, ApiClient, CallOptions } from './client.js'
import { listPages, type ListOptions, type RawPage } from './list-pages.js'

/** The streams that have a list. */
export type ListStream =
  'shipments' | 'containers' | 'tracking_requests' | 'custom_field_definitions' | 'custom_fields'

export type PlainReadOptions = Pick<CallOptions, 'signal' | 'purpose' | 'counter'>

export interface ReadOptions extends PlainReadOptions {
  readonly includes?: readonly string[] | undefined
  /** For a vessel: also its past positions. */
  readonly showPositions?: boolean | undefined
}

export interface NotificationListOptions extends ListOptions {
  /** `failed` is the one value that the interface names. */
  readonly deliveryStatus?: string | undefined
}

/**
 * A webhook's settings as the service takes them. Only `active` is specified; the public
 * documentation shows the rest.
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

/** Lists ask for a page when one is taken; reads and changes are one call each. */
export type TrackingService = ReturnType<typeof createTrackingService>

/**
 * The endpoints over a client. Ids are encoded; one that no path can carry throws
 * `ApiContractError`.
 */
export function createTrackingService(client: ApiClient) {
  return { ...createLists(client), ...createReads(client), ...createChanges(client) }
}

function createLists(client: ApiClient) {
  const list =
    (path: string) =>
    (options: ListOptions = {}): AsyncIterable<RawPage> =>
      listPages(client, { ...options, path })
  return {
    listRecords: (stream: ListStream, options?: ListOptions) => list(`/${stream}`)(options),
    /** Past events of one container, verified by the service; estimated ones are not among them. */
    listTransportEvents: (containerId: string, options?: ListOptions) =>
      list(`/containers/${encodeId(containerId)}/transport_events`)(options),
    /** The reports of carriers about one container, planned events included; deprecated. */
    listRawEvents: (containerId: string, options?: ListOptions) =>
      list(`/containers/${encodeId(containerId)}/raw_events`)(options),
    /** The custom fields of one record; `collection` is where it is listed. */
    listCustomFieldsOf: (collection: string, id: string, options?: ListOptions) =>
      list(`/${collection}/${encodeId(id)}/custom_fields`)(options),
    /** The values that a field of this definition may take. */
    listCustomFieldOptions: (definitionId: string, options?: ListOptions) =>
      list(`/custom_field_definitions/${encodeId(definitionId)}/options`)(options),
    listWebhooks: list('/webhooks'),
    listWebhookNotifications: ({ deliveryStatus, ...options }: NotificationListOptions = {}) => {
      const query = { ...options.query, 'filter[delivery_status]': deliveryStatus }
      return list('/webhook_notifications')({ ...options, query })
    },
  }
}

function createReads(client: ApiClient) {
  return {
    /** One record of a collection, such as `containers`. A port is also found by its UN/LOCODE. */
    getRecord: async (
      collection: string,
      id: string,
      { includes = [], showPositions = false, ...options }: ReadOptions = {},
    ): Promise<ApiAnswer> =>
      client.get(`/${collection}/${encodeId(id)}`, {
        ...options,
        query: {
          include: includes.length === 0 ? undefined : includes.join(','),
          show_positions: showPositions ? true : undefined,
        },
        expect: 'record',
      }),
    /** The catalogue of events a webhook can subscribe to. */
    getWebhookEvents: async (options?: PlainReadOptions): Promise<ApiAnswer> =>
      client.get('/webhooks/events', { ...options, expect: 'list' }),
    /** The shape is not specified; look at `body`. */
    getWebhookIps: async (options?: PlainReadOptions): Promise<ApiAnswer> =>
      client.get('/webhooks/ips', { ...options, expect: 'anything' }),
  }
}

function createChanges(client: ApiClient) {
  const webhook = (settings: WebhookSettings, id?: string) => ({
    data: { ...(id === undefined ? {} : { id }), type: 'webhook', attributes: settings },
  })
  return {
    /**
     * Changes a value, or creates it where there is none yet; `collection` is where the record is
     * listed. Needs update permission on it: `ApiAuthError` else.
     */
    updateCustomField: async (
      collection: string,
      id: string,
      apiSlug: string,
      value: unknown,
      options?: CallOptions,
    ): Promise<ApiAnswer> => {
      const list = `/${collection}/${encodeId(id)}/custom_fields`
      const path = `${list}/${encodeId(apiSlug)}`
      const send = async (body: unknown): Promise<ApiAnswer> =>
        client.send('PATCH', path, body, { ...options, expect: 'record' })
      try {
        return await send({ data: { type: 'custom_field', attributes: { value } } })
      } catch (refusal) {
        if (refusal instanceof ApiNotFoundError) {
          const attributes = { api_slug: apiSlug, value }
          const body = { data: { type: 'custom_field', attributes } }
          return await client.send('POST', list, body, { ...options, expect: 'record' })
        }
        if (!(refusal instanceof ApiRequestError)) throw refusal
        // Another page of the service's documentation has this form. When both are refused, report
        // the first refusal.
        return await send({ value }).catch((thrown: unknown) => {
          throw thrown instanceof ApiRequestError ? refusal : toError(thrown)
        })
      }
    },
    createWebhook: async (settings: WebhookSettings, options?: CallOptions): Promise<ApiAnswer> =>
      client.send('POST', '/webhooks', webhook(settings), { ...options, expect: 'record' }),
    updateWebhook: async (
      id: string,
      settings: WebhookSettings,
      options?: CallOptions,
    ): Promise<ApiAnswer> =>
      client.send('PATCH', `/webhooks/${encodeId(id)}`, webhook(settings, id), {
        ...options,
        expect: 'record',
      }),
    deleteWebhook: async (id: string, options?: CallOptions): Promise<ApiAnswer> =>
      client.send('DELETE', `/webhooks/${encodeId(id)}`, undefined, {
        ...options,
        expect: 'anything',
      }),
    triggerWebhook: async (sample: SampleNotification, options?: CallOptions): Promise<ApiAnswer> =>
      client.send('POST', '/webhooks/trigger', sample, { ...options, expect: 'anything' }),
  }
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
