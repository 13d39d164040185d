import { defineResource, enumerated, fields, many, one, polymorphic, volatile } from './resource.js'

/**
 * A shipment: one bill of lading or booking at one shipping line, with its schedule and line
 * tracking.
 */
export const shipments = defineResource({
  type: 'shipment',
  stream: 'shipments',
  path: 'shipments',
  historyTable: 'shipment_history',
  requiresAttributes: true,
  attributes: {
    ...fields(
      'text',
      `bill_of_lading_number normalized_number customer_name
       port_of_lading_locode port_of_lading_name pol_timezone
       port_of_discharge_locode port_of_discharge_name pod_timezone
       destination_locode destination_name destination_timezone
       shipping_line_scac shipping_line_name shipping_line_short_name
       pod_vessel_name pod_vessel_imo pod_voyage_number`,
    ),
    ...fields('text[]', 'ref_numbers tags'),
    ...fields(
      'timestamptz',
      `created_at pol_etd_at pol_original_etd_at pol_atd_at
       pod_eta_at pod_original_eta_at pod_ata_at
       destination_eta_at destination_original_eta_at destination_ata_at
       line_tracking_stopped_at`,
    ),
    ...volatile('timestamptz', 'line_tracking_last_attempted_at line_tracking_last_succeeded_at'),
    line_tracking_stopped_reason: enumerated(
      'text',
      `all_containers_terminated past_arrival_window past_full_out_window no_updates_at_line
       cancelled_by_user booking_cancelled account_closed`,
    ),
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

/** A tracking request: the number that the service shall follow, and the result. */
export const trackingRequests = defineResource({
  type: 'tracking_request',
  stream: 'tracking_requests',
  path: 'tracking_requests',
  attributes: {
    ...fields('text', 'request_number scac'),
    request_type: enumerated('text', 'bill_of_lading booking_number container'),
    status: enumerated('text', 'pending awaiting_manifest created failed tracking_stopped'),
    failed_reason: enumerated(
      'text',
      `booking_cancelled duplicate expired internal_processing_error invalid_number not_found
       retries_exhausted shipping_line_unreachable unrecognized_response data_unavailable
       scac_auto_detect_failed`,
    ),
    ...fields('text[]', 'ref_numbers tags shipment_tags'),
    ...fields('timestamptz', 'created_at updated_at'),
    ...fields('boolean', 'is_retrying'),
    ...volatile('integer', 'retry_count'),
  },
  relationships: { tracked_object: polymorphic, customer: polymorphic, user: one('user') },
})
