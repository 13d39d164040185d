import {
  defineResource,
  enumerated,
  many,
  one,
  polymorphic,
  text,
  texts,
  timestamp,
  volatile,
} from './resource.js'

const LINE_TRACKING_STOPPED_REASONS = [
  'all_containers_terminated',
  'past_arrival_window',
  'past_full_out_window',
  'no_updates_at_line',
  'cancelled_by_user',
  'booking_cancelled',
] as const

/**
 * A shipment: one bill of lading or booking at one shipping line, with its schedule and line
 * tracking.
 */
export const shipments = defineResource({
  type: 'shipment',
  stream: 'shipments',
  idColumn: 'shipment_id',
  path: 'shipments',
  historyTable: 'shipment_history',
  requiresAttributes: true,
  attributes: {
    bill_of_lading_number: text,
    normalized_number: text,
    ref_numbers: texts,
    created_at: timestamp,
    tags: texts,
    port_of_lading_locode: text,
    port_of_lading_name: text,
    port_of_discharge_locode: text,
    port_of_discharge_name: text,
    destination_locode: text,
    destination_name: text,
    shipping_line_scac: text,
    shipping_line_name: text,
    shipping_line_short_name: text,
    customer_name: text,
    pod_vessel_name: text,
    pod_vessel_imo: text,
    pod_voyage_number: text,
    pol_etd_at: timestamp,
    pol_atd_at: timestamp,
    pod_eta_at: timestamp,
    pod_original_eta_at: timestamp,
    pod_ata_at: timestamp,
    destination_eta_at: timestamp,
    destination_ata_at: timestamp,
    pol_timezone: text,
    pod_timezone: text,
    destination_timezone: text,
    line_tracking_last_attempted_at: volatile(timestamp),
    line_tracking_last_succeeded_at: volatile(timestamp),
    line_tracking_stopped_at: timestamp,
    line_tracking_stopped_reason: enumerated(text, LINE_TRACKING_STOPPED_REASONS),
  },
  relationships: {
    port_of_lading: one('port'),
    port_of_discharge: one('port'),
    pod_terminal: one('terminal'),
    destination: polymorphic,
    destination_terminal: polymorphic,
    line_tracking_stopped_by_user: one('user'),
    containers: many('container', 'container_ids'),
  },
})

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
