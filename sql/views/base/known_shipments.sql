-- Shipments as known at an instant
--
-- One row per shipment that the source had then. The base of other views. Volatile attributes are
-- left out, because their history is not kept.
--
-- The lines after "now" make the view of the schema analytics, the lines after "as of" the view of
-- the schema as_of.

create view {{parts}}.known_shipments as
select
    record.shipment_id,
    record.bill_of_lading_number,
    record.normalized_number,
    record.ref_numbers,
    record.created_at,
    record.tags,
    record.port_of_lading_locode,
    record.port_of_lading_name,
    record.port_of_discharge_locode,
    record.port_of_discharge_name,
    record.destination_locode,
    record.destination_name,
    record.shipping_line_scac,
    record.shipping_line_name,
    record.shipping_line_short_name,
    record.customer_name,
    record.pod_vessel_name,
    record.pod_vessel_imo,
    record.pod_voyage_number,
    record.pol_etd_at,
    record.pol_original_etd_at,
    record.pol_atd_at,
    record.pod_eta_at,
    record.pod_original_eta_at,
    record.pod_ata_at,
    record.destination_eta_at,
    record.destination_original_eta_at,
    record.destination_ata_at,
    record.pol_timezone,
    record.pod_timezone,
    record.destination_timezone,
    record.line_tracking_stopped_at,
    record.line_tracking_stopped_reason,
    record.port_of_lading_id,
    record.port_of_discharge_id,
    record.pod_terminal_id,
    record.destination_id,
    record.destination_type,
    record.destination_terminal_id,
    record.destination_terminal_type,
    record.line_tracking_stopped_by_user_id,
    record.line_tracking_stopped_reason is not null
        or coalesce(record.line_tracking_stopped_at <= {{analytics}}.as_of(), false)
        as is_tracking_stopped,
-- now:
    record._changed_at as known_since
from {{data}}.shipments as record
where record._deleted_at is null;
-- as of:
    record.valid_from as known_since
from {{data}}.shipment_history as record
where record.valid_from <= {{analytics}}.as_of()
    and (record.valid_to is null or record.valid_to > {{analytics}}.as_of());
-- end
