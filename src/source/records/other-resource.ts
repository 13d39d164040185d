import { isObject, membersOf } from '../jsonapi/document.js'
import { ANY_TYPE, defineResource, fields } from './resource.js'

/** A category of the catalogue of events that a webhook can subscribe to. Its id is a slug. */
export const webhookEventCategories = defineResource({
  type: 'webhook_event_category',
  stream: 'webhook_event_categories',
  attributes: { ...fields('text', 'name'), ...fields('jsonb', 'events') },
})

/**
 * Records of types without a table of their own: users, webhook notifications, types that the
 * service adds tomorrow. Their attributes and relationships stay together in `_unmapped`, so that
 * nothing is lost and a new type is a migration, not a second download.
 */
export const otherResources = defineResource({
  type: ANY_TYPE,
  stream: 'other_resources',
  idColumn: 'resource_id',
  keyColumns: ['resource_type', 'resource_id'],
  attributes: {},
  derive: ({ type }, target) => {
    target.set('resource_type', type)
  },
})

/** Types the interface names without describing them. */
export const NAMED_TYPES: ReadonlySet<string> = new Set([
  'user',
  'party',
  'webhook',
  'webhook_notification',
])

const WITHHELD = '[secret]'

/**
 * A webhook without the parts that may be in no table: its signing secret and the values of its own
 * headers. Other records are returned as they are.
 */
export function withoutSecrets(record: Readonly<Record<string, unknown>>): unknown {
  const attributes = record.attributes
  if (record.type !== 'webhook' || !isObject(attributes)) return record
  const { secret, headers } = attributes
  return {
    ...record,
    attributes: {
      ...attributes,
      ...(secret === undefined || secret === null ? {} : { secret: WITHHELD }),
      ...(headers === undefined || headers === null
        ? {}
        : { headers: withoutHeaderValues(headers) }),
    },
  }
}

function withoutHeaderValues(headers: unknown): unknown {
  if (!Array.isArray(headers)) return WITHHELD
  return headers.map((header) => ({ name: membersOf(header).name ?? null, value: WITHHELD }))
}
