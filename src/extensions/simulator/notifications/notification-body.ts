import { createHmac } from 'node:crypto'
import type { ResourceObject } from '../../../source/jsonapi/document.js'
import { isoSeconds } from '../world/local-time.js'
import { without } from '../records/reference-records.js'
import type { Disturbance } from '../webhooks/webhook-script.js'

export const SIGNATURE_HEADER = 'X-SVC-Webhook-Signature'

/** The bytes of one delivery. */
export interface NotificationBody {
  readonly bytes: Buffer
  /** Signs the bytes as they are sent; undefined for a webhook without a secret. */
  readonly signature: string | undefined
}

interface BodyParts {
  readonly data: ResourceObject
  readonly included: readonly ResourceObject[]
  /** The address of the notification itself; thin ones carry it. */
  readonly self: string
  readonly secret: string | null
}

/**
 * The JSON of a delivery with its signature, after the changes of a script. A `transform` may
 * throw.
 */
export function writeNotificationBody(
  { data, included, self, secret }: BodyParts,
  disturbances: readonly Disturbance[],
): NotificationBody {
  let document: unknown = { data, included }
  for (const disturbance of disturbances) document = disturbDocument(document, disturbance, self)
  let bytes: Buffer = Buffer.from(JSON.stringify(document))
  for (const disturbance of disturbances) {
    if (disturbance.kind === 'body') bytes = brokenBody(bytes, disturbance.as)
  }
  let signature = secret === null || secret === '' ? undefined : sign(bytes, secret)
  for (const disturbance of disturbances) {
    if (disturbance.kind !== 'signature') continue
    const { value = sign(bytes, 'not the secret') } = disturbance
    signature = value ?? undefined
  }
  return { bytes, signature }
}

/** Hex HMAC-SHA256 of the raw bytes, as the service signs. */
export function sign(bytes: Buffer, secret: string): string {
  return createHmac('sha256', secret).update(bytes).digest('hex')
}

interface Delivery {
  readonly data: ResourceObject
  readonly included?: readonly ResourceObject[]
}

/** After a `transform` the document may be anything; then the other kinds leave it alone. */
function disturbDocument(document: unknown, disturbance: Disturbance, self: string): unknown {
  if (disturbance.kind === 'transform') return disturbance.apply(document)
  if (!isDelivery(document)) return document
  if (disturbance.kind === 'thin') return { data: document.data, links: { self } }
  if (disturbance.kind === 'partial' && document.included !== undefined) {
    return { ...document, included: document.included.map(withoutLaterAttributes) }
  }
  if (disturbance.kind === 'createdAt') {
    return { ...document, data: withCreatedAt(document.data, disturbance.value) }
  }
  return document
}

function isDelivery(document: unknown): document is Delivery {
  return (
    typeof document === 'object' &&
    document !== null &&
    'data' in document &&
    typeof document.data === 'object' &&
    document.data !== null
  )
}

/** Attributes that today's answers have and the published deliveries of 2022 lack. */
const LATER_ATTRIBUTES = new Set([
  'current_status',
  'import_deadlines',
  'ind_facility_lfd_on',
  'pod_rail_carrier_scac',
  'ind_rail_carrier_scac',
  'pod_rail_loaded_at',
  'pod_rail_departed_at',
  'ind_eta_at',
  'ind_ata_at',
  'ind_rail_unloaded_at',
  'delivered_at',
  'empty_out_at',
  'pol_full_in_at',
  'pol_vessel_loaded_at',
  'pol_vessel_departed_at',
  'rail_last_tracking_request_at',
  'ind_facility_holds',
  'ind_facility_fees',
  'ssl_lfd',
  'pol_original_etd_at',
  'destination_original_eta_at',
])

function withoutLaterAttributes(record: ResourceObject): ResourceObject {
  return { ...record, attributes: without(LATER_ATTRIBUTES, record.attributes ?? {}) }
}

function withCreatedAt(
  data: ResourceObject,
  value: (Disturbance & { kind: 'createdAt' })['value'],
): ResourceObject {
  const { created_at: right, ...attributes } = data.attributes ?? {}
  if (value === null) return { ...data, attributes }
  const replaced =
    typeof value === 'string' ? value : isoSeconds(Date.parse(String(right)) + value.offsetMs)
  return { ...data, attributes: { ...attributes, created_at: replaced } }
}

function brokenBody(bytes: Buffer, how: 'cut' | 'html' | 'empty'): Buffer {
  switch (how) {
    case 'cut':
      return bytes.subarray(0, Math.floor(bytes.length / 2))
    case 'html':
      return Buffer.from('<html><body><h1>502 Bad Gateway</h1></body></html>')
    case 'empty':
      return Buffer.alloc(0)
    default:
      return how satisfies never
  }
}
