import { defineResource, polymorphic, text, texts, timestamp } from './resource.js'

/** A tracking request: the number the service was asked to follow, and what became of it. */
export const trackingRequests = defineResource({
  type: 'tracking_request',
  stream: 'tracking_requests',
  idColumn: 'tracking_request_id',
  path: 'tracking_requests',
  attributes: {
    request_number: text,
    request_type: text,
    scac: text,
    ref_numbers: texts,
    created_at: timestamp,
    updated_at: timestamp,
    status: text,
    failed_reason: text,
    shipment_tags: texts,
  },
  relationships: {
    tracked_object: polymorphic,
    customer: polymorphic,
  },
})
