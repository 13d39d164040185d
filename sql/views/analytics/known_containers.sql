-- Containers as known at an instant
--
-- One row per container that the source had then. The base of other views. Volatile attributes are
-- left out, because their history is not kept; terminal_checked_at is the last look of the service
-- at the terminal, null if that was later.
--
-- The lines after "now" make the view of the schema analytics, the lines after "as of" the view of
-- the schema as_of.

create view {{analytics}}.known_containers as
select
    record.container_id,
    record.number,
    record.ref_numbers,
    record.equipment_type,
    record.equipment_length,
    record.equipment_height,
    record.weight_in_lbs,
    record.created_at,
    record.seal_number,
    record.pickup_lfd,
    record.ssl_lfd,
    record.pickup_appointment_at,
    record.availability_known,
    record.available_for_pickup,
    record.empty_out_at,
    record.pol_full_in_at,
    record.pol_vessel_loaded_at,
    record.pol_vessel_departed_at,
    record.pod_arrived_at,
    record.pod_discharged_at,
    record.pod_full_out_at,
    record.pod_full_out_chassis_number,
    record.location_at_pod_terminal,
    record.final_destination_full_out_at,
    record.delivered_at,
    record.empty_terminated_at,
    record.holds_at_pod_terminal,
    record.fees_at_pod_terminal,
    record.ind_facility_holds,
    record.ind_facility_fees,
    record.pod_timezone,
    record.final_destination_timezone,
    record.empty_terminated_timezone,
    record.pod_rail_carrier_scac,
    record.ind_rail_carrier_scac,
    record.pod_rail_loaded_at,
    record.pod_rail_departed_at,
    record.ind_eta_at,
    record.ind_ata_at,
    record.ind_rail_unloaded_at,
    record.ind_facility_lfd_on,
    record.import_deadlines,
    record.current_status,
    record.shipment_id,
    record.pickup_facility_id,
    record.pod_terminal_id,
    record.pickup_lfd_terminal,
    record.pickup_lfd_rail,
    record.pickup_lfd_line,
    record.import_deadline_sources,
-- now:
    record.terminal_checked_at,
    record._changed_at as known_since
from {{data}}.containers as record
where record._deleted_at is null;
-- as of:
    case
        when latest.terminal_checked_at <= {{analytics}}.as_of() then latest.terminal_checked_at
    end as terminal_checked_at,
    record.valid_from as known_since
from {{data}}.container_history as record
left join {{data}}.containers as latest
    on latest.container_id = record.container_id
where record.valid_from <= {{analytics}}.as_of()
    and (record.valid_to is null or record.valid_to > {{analytics}}.as_of());
-- end

comment on view {{analytics}}.known_containers is
    'One row per live container, as known at as_of(). The base of the views on '
    'containers.';
comment on column {{analytics}}.known_containers.container_id is
    'The service''s id of the container: the equipment during one journey.';
comment on column {{analytics}}.known_containers.number is
    'Container number. Used again on later journeys, so never a key. From '
    'attributes.number.';
comment on column {{analytics}}.known_containers.ref_numbers is
    'The customer''s reference numbers. From attributes.ref_numbers.';
comment on column {{analytics}}.known_containers.equipment_type is
    'dry, reefer, open top, flat rack, bulk, tank, hard top; other values are kept. From '
    'attributes.equipment_type.';
comment on column {{analytics}}.known_containers.equipment_length is
    'Length in feet: 10, 20, 40, 45. From attributes.equipment_length.';
comment on column {{analytics}}.known_containers.equipment_height is
    'standard or high_cube. From attributes.equipment_height.';
comment on column {{analytics}}.known_containers.weight_in_lbs is
    'Weight in pounds. From attributes.weight_in_lbs.';
comment on column {{analytics}}.known_containers.created_at is
    'When the service created the container. UTC. From attributes.created_at.';
comment on column {{analytics}}.known_containers.seal_number is
    'Seal number. From attributes.seal_number.';
comment on column {{analytics}}.known_containers.pickup_lfd is
    'Last free day as the service coalesces it from the deadlines, the line''s preferred. '
    'UTC; the local day is in container_import_deadlines. From attributes.pickup_lfd.';
comment on column {{analytics}}.known_containers.ssl_lfd is
    'The shipping line''s last free day under its older name; counts where pickup_lfd_line is '
    'not sent. UTC; local zone pod_timezone. From attributes.ssl_lfd.';
comment on column {{analytics}}.known_containers.pickup_appointment_at is
    'Pickup appointment at the terminal. UTC; local zone pod_timezone. From '
    'attributes.pickup_appointment_at.';
comment on column {{analytics}}.known_containers.availability_known is
    'Whether the service receives availability from the terminal. From '
    'attributes.availability_known.';
comment on column {{analytics}}.known_containers.available_for_pickup is
    'Available for pickup; means something only when availability_known. From '
    'attributes.available_for_pickup.';
comment on column {{analytics}}.known_containers.empty_out_at is
    'Empty container out, for loading. UTC; the zone is that of its transport event, else '
    'pol_timezone of the shipment. From attributes.empty_out_at.';
comment on column {{analytics}}.known_containers.pol_full_in_at is
    'Full container in, at the port of lading or an inland depot. UTC; the zone is that of its '
    'transport event, else pol_timezone of the shipment. From attributes.pol_full_in_at.';
comment on column {{analytics}}.known_containers.pol_vessel_loaded_at is
    'Loaded on the vessel at the port of lading. UTC; local zone pol_timezone of the shipment. '
    'From attributes.pol_vessel_loaded_at.';
comment on column {{analytics}}.known_containers.pol_vessel_departed_at is
    'Departure of the vessel from the port of lading. UTC; local zone pol_timezone of the '
    'shipment. From attributes.pol_vessel_departed_at.';
comment on column {{analytics}}.known_containers.pod_arrived_at is
    'Vessel arrival at the port of discharge. UTC; local zone pod_timezone. From '
    'attributes.pod_arrived_at.';
comment on column {{analytics}}.known_containers.pod_discharged_at is
    'Discharge at the port of discharge. UTC; local zone pod_timezone. From '
    'attributes.pod_discharged_at.';
comment on column {{analytics}}.known_containers.pod_full_out_at is
    'Full out of the terminal at the port of discharge; null for inland moves. UTC; local '
    'zone pod_timezone. From attributes.pod_full_out_at.';
comment on column {{analytics}}.known_containers.pod_full_out_chassis_number is
    'Chassis used at pickup at the port of discharge. From '
    'attributes.pod_full_out_chassis_number.';
comment on column {{analytics}}.known_containers.location_at_pod_terminal is
    'Where the container is at the terminal, in the terminal''s words. From '
    'attributes.location_at_pod_terminal.';
comment on column {{analytics}}.known_containers.final_destination_full_out_at is
    'Pickup at the final destination of an inland move. UTC; local zone '
    'final_destination_timezone. From attributes.final_destination_full_out_at.';
comment on column {{analytics}}.known_containers.delivered_at is
    'Delivery. UTC; the zone is that of its transport event, else final_destination_timezone or '
    'pod_timezone. From attributes.delivered_at.';
comment on column {{analytics}}.known_containers.empty_terminated_at is
    'When the empty container was returned. UTC; local zone empty_terminated_timezone. '
    'From attributes.empty_terminated_at.';
comment on column {{analytics}}.known_containers.holds_at_pod_terminal is
    'Holds now standing, as sent; as rows in container_holds. From '
    'attributes.holds_at_pod_terminal.';
comment on column {{analytics}}.known_containers.fees_at_pod_terminal is
    'Fees now standing, as sent; as rows in container_fees. From '
    'attributes.fees_at_pod_terminal.';
comment on column {{analytics}}.known_containers.ind_facility_holds is
    'Holds now standing at the inland facility, as sent; as rows in container_holds, with place '
    'ramp. From attributes.ind_facility_holds.';
comment on column {{analytics}}.known_containers.ind_facility_fees is
    'Fees now standing at the inland facility, as sent; as rows in container_fees, with place '
    'ramp. From attributes.ind_facility_fees.';
comment on column {{analytics}}.known_containers.pod_timezone is
    'IANA time zone of the port of discharge; null: times there are local wall time '
    'marked as UTC. From attributes.pod_timezone.';
comment on column {{analytics}}.known_containers.final_destination_timezone is
    'IANA time zone of the final destination. From attributes.final_destination_timezone.';
comment on column {{analytics}}.known_containers.empty_terminated_timezone is
    'IANA time zone of the place of the empty return. From '
    'attributes.empty_terminated_timezone.';
comment on column {{analytics}}.known_containers.pod_rail_carrier_scac is
    'Rail carrier of the pickup leg (beta at the service). From '
    'attributes.pod_rail_carrier_scac.';
comment on column {{analytics}}.known_containers.ind_rail_carrier_scac is
    'Rail carrier of the delivery leg (beta at the service). From '
    'attributes.ind_rail_carrier_scac.';
comment on column {{analytics}}.known_containers.pod_rail_loaded_at is
    'Loaded on rail at the port of discharge. UTC; local zone pod_timezone. From '
    'attributes.pod_rail_loaded_at.';
comment on column {{analytics}}.known_containers.pod_rail_departed_at is
    'Departed by rail from the port of discharge. UTC; local zone pod_timezone. From '
    'attributes.pod_rail_departed_at.';
comment on column {{analytics}}.known_containers.ind_eta_at is
    'Estimated arrival at the inland destination as the rail carrier reports it. UTC; '
    'local zone final_destination_timezone. From attributes.ind_eta_at.';
comment on column {{analytics}}.known_containers.ind_ata_at is
    'Actual arrival at the inland destination as the rail carrier reports it. UTC; local '
    'zone final_destination_timezone. From attributes.ind_ata_at.';
comment on column {{analytics}}.known_containers.ind_rail_unloaded_at is
    'Unloaded from rail at the inland destination. UTC; local zone '
    'final_destination_timezone. From attributes.ind_rail_unloaded_at.';
comment on column {{analytics}}.known_containers.ind_facility_lfd_on is
    'Deprecated at the service: use pickup_lfd_rail. UTC. From '
    'attributes.ind_facility_lfd_on.';
comment on column {{analytics}}.known_containers.import_deadlines is
    'The deadlines as sent; as rows in container_import_deadlines. From '
    'attributes.import_deadlines.';
comment on column {{analytics}}.known_containers.current_status is
    'new, on_ship, available, not_available, grounded, on_rail, picked_up, off_dock, '
    'delivered, dropped, loaded, empty_returned, awaiting_inland_transfer; other values '
    'are kept. From attributes.current_status.';
comment on column {{analytics}}.known_containers.shipment_id is
    'Shipment; shipments. A container can move to another shipment. From '
    'relationships.shipment.';
comment on column {{analytics}}.known_containers.pickup_facility_id is
    'Facility where it is picked up; terminals. From relationships.pickup_facility.';
comment on column {{analytics}}.known_containers.pod_terminal_id is
    'Terminal at the port of discharge; terminals. From relationships.pod_terminal.';
comment on column {{analytics}}.known_containers.pickup_lfd_terminal is
    'Last free day before demurrage at the terminal. UTC; local zone pod_timezone. From '
    'attributes.import_deadlines.pickup_lfd_terminal.';
comment on column {{analytics}}.known_containers.pickup_lfd_rail is
    'Last free day at the inland destination as the rail carrier says. UTC; local zone '
    'final_destination_timezone. From attributes.import_deadlines.pickup_lfd_rail.';
comment on column {{analytics}}.known_containers.pickup_lfd_line is
    'Last free day as the shipping line says; depends on the line. UTC; local zone '
    'final_destination_timezone or pod_timezone. From '
    'attributes.import_deadlines.pickup_lfd_line.';
comment on column {{analytics}}.known_containers.import_deadline_sources is
    'What import_deadlines says beyond one day a key, as an object by kind: the day (at, or on '
    'where a bare date was sent), place, and details sent with it. Null if there is nothing else. '
    'As rows in container_import_deadlines. From attributes.import_deadlines.';
comment on column {{analytics}}.known_containers.terminal_checked_at is
    'When the service last asked the terminal; null: not yet at as_of(), or again after it. UTC. '
    'From attributes.terminal_checked_at.';
comment on column {{analytics}}.known_containers.known_since is
    'Since when the row is known to have these values. UTC.';
