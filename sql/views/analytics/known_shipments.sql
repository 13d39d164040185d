-- Shipments as known at an instant
--
-- One row per shipment that the source had then. The base of other views. Volatile attributes are
-- left out, because their history is not kept.
--
-- The lines after "now" make the view of the schema analytics, the lines after "as of" the view of
-- the schema as_of.

create view {{analytics}}.known_shipments as
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

comment on view {{analytics}}.known_shipments is
    'One row per live shipment, as known at as_of(). The base of the views on shipments.';
comment on column {{analytics}}.known_shipments.shipment_id is
    'The service''s id of the shipment.';
comment on column {{analytics}}.known_shipments.bill_of_lading_number is
    'Bill of lading number. From attributes.bill_of_lading_number.';
comment on column {{analytics}}.known_shipments.normalized_number is
    'The shipment''s number in the form used to ask the shipping line. From '
    'attributes.normalized_number.';
comment on column {{analytics}}.known_shipments.ref_numbers is
    'The customer''s reference numbers. From attributes.ref_numbers.';
comment on column {{analytics}}.known_shipments.created_at is
    'When the service created the shipment. UTC. From attributes.created_at.';
comment on column {{analytics}}.known_shipments.tags is
    'Tags set at the service. From attributes.tags.';
comment on column {{analytics}}.known_shipments.port_of_lading_locode is
    'UN/LOCODE of the port of lading. From attributes.port_of_lading_locode.';
comment on column {{analytics}}.known_shipments.port_of_lading_name is
    'Name of the port of lading. From attributes.port_of_lading_name.';
comment on column {{analytics}}.known_shipments.port_of_discharge_locode is
    'UN/LOCODE of the port of discharge. From attributes.port_of_discharge_locode.';
comment on column {{analytics}}.known_shipments.port_of_discharge_name is
    'Name of the port of discharge. From attributes.port_of_discharge_name.';
comment on column {{analytics}}.known_shipments.destination_locode is
    'UN/LOCODE of the destination. From attributes.destination_locode.';
comment on column {{analytics}}.known_shipments.destination_name is
    'Name of the destination. From attributes.destination_name.';
comment on column {{analytics}}.known_shipments.shipping_line_scac is
    'Standard carrier alpha code of the shipping line. From '
    'attributes.shipping_line_scac.';
comment on column {{analytics}}.known_shipments.shipping_line_name is
    'Name of the shipping line. From attributes.shipping_line_name.';
comment on column {{analytics}}.known_shipments.shipping_line_short_name is
    'Short name of the shipping line. From attributes.shipping_line_short_name.';
comment on column {{analytics}}.known_shipments.customer_name is
    'Customer the shipment belongs to. From attributes.customer_name.';
comment on column {{analytics}}.known_shipments.pod_vessel_name is
    'Name of the vessel that arrives at the port of discharge. From '
    'attributes.pod_vessel_name.';
comment on column {{analytics}}.known_shipments.pod_vessel_imo is
    'IMO number of the vessel that arrives at the port of discharge. From '
    'attributes.pod_vessel_imo.';
comment on column {{analytics}}.known_shipments.pod_voyage_number is
    'Voyage number of the vessel that arrives at the port of discharge. From '
    'attributes.pod_voyage_number.';
comment on column {{analytics}}.known_shipments.pol_etd_at is
    'Estimated departure from the port of lading, as the shipping line reports it; '
    'depends on the line. UTC; local zone pol_timezone. From attributes.pol_etd_at.';
comment on column {{analytics}}.known_shipments.pol_original_etd_at is
    'First estimated departure from the port of lading that the line reported. UTC; local zone '
    'pol_timezone. From attributes.pol_original_etd_at.';
comment on column {{analytics}}.known_shipments.pol_atd_at is
    'Actual departure from the port of lading. UTC; local zone pol_timezone. From '
    'attributes.pol_atd_at.';
comment on column {{analytics}}.known_shipments.pod_eta_at is
    'Estimated arrival at the port of discharge. UTC; local zone pod_timezone. From '
    'attributes.pod_eta_at.';
comment on column {{analytics}}.known_shipments.pod_original_eta_at is
    'First estimated arrival at the port of discharge that the line reported. UTC; local '
    'zone pod_timezone. From attributes.pod_original_eta_at.';
comment on column {{analytics}}.known_shipments.pod_ata_at is
    'Actual arrival at the port of discharge. UTC; local zone pod_timezone. From '
    'attributes.pod_ata_at.';
comment on column {{analytics}}.known_shipments.destination_eta_at is
    'Estimated arrival at the destination as the line reports it; for inland rail see '
    'containers.ind_eta_at. UTC; local zone destination_timezone. From '
    'attributes.destination_eta_at.';
comment on column {{analytics}}.known_shipments.destination_original_eta_at is
    'First estimated arrival at the destination that the line reported. UTC; local zone '
    'destination_timezone. From attributes.destination_original_eta_at.';
comment on column {{analytics}}.known_shipments.destination_ata_at is
    'Actual arrival at the destination as the line reports it; for inland rail see '
    'containers.ind_ata_at. UTC; local zone destination_timezone. From '
    'attributes.destination_ata_at.';
comment on column {{analytics}}.known_shipments.pol_timezone is
    'IANA time zone of the port of lading. From attributes.pol_timezone.';
comment on column {{analytics}}.known_shipments.pod_timezone is
    'IANA time zone of the port of discharge. From attributes.pod_timezone.';
comment on column {{analytics}}.known_shipments.destination_timezone is
    'IANA time zone of the destination. From attributes.destination_timezone.';
comment on column {{analytics}}.known_shipments.line_tracking_stopped_at is
    'When the service stopped asking the shipping line; null while it still asks. UTC. '
    'From attributes.line_tracking_stopped_at.';
comment on column {{analytics}}.known_shipments.line_tracking_stopped_reason is
    'Why the service stopped asking the shipping line. From '
    'attributes.line_tracking_stopped_reason.';
comment on column {{analytics}}.known_shipments.port_of_lading_id is
    'Port of lading; ports. From relationships.port_of_lading.';
comment on column {{analytics}}.known_shipments.port_of_discharge_id is
    'Port of discharge; ports. From relationships.port_of_discharge.';
comment on column {{analytics}}.known_shipments.pod_terminal_id is
    'Terminal at the port of discharge; terminals. From relationships.pod_terminal.';
comment on column {{analytics}}.known_shipments.destination_id is
    'Destination; ports or metro_areas by destination_type. From '
    'relationships.destination.';
comment on column {{analytics}}.known_shipments.destination_type is
    'Resource type that destination_id points to. From relationships.destination.';
comment on column {{analytics}}.known_shipments.destination_terminal_id is
    'Terminal at the destination; terminals or rail_terminals by '
    'destination_terminal_type. From relationships.destination_terminal.';
comment on column {{analytics}}.known_shipments.destination_terminal_type is
    'Resource type that destination_terminal_id points to. From '
    'relationships.destination_terminal.';
comment on column {{analytics}}.known_shipments.line_tracking_stopped_by_user_id is
    'User of the service who stopped the tracking; null when no user did. From '
    'relationships.line_tracking_stopped_by_user.';
comment on column {{analytics}}.known_shipments.is_tracking_stopped is
    'Whether the service stopped tracking the shipment: it says why, or since when. After that, '
    'silence means nothing.';
comment on column {{analytics}}.known_shipments.known_since is
    'Since when the row is known to have these values. UTC.';
