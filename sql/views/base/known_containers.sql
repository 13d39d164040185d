-- Containers as known at an instant
--
-- One row per container that the source had then. The base of other views. Volatile attributes are
-- left out, because their history is not kept; terminal_checked_at is the last look of the service
-- at the terminal, null if that was later.
--
-- The lines after "now" make the view of the schema analytics, the lines after "as of" the view of
-- the schema as_of.

create view {{parts}}.known_containers as
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
    record._changed_at as known_since,
    record._first_seen_at as first_seen_at
from {{data}}.containers as record
where record._deleted_at is null;
-- as of:
    case
        when latest.terminal_checked_at <= {{analytics}}.as_of() then latest.terminal_checked_at
    end as terminal_checked_at,
    record.valid_from as known_since,
    latest._first_seen_at as first_seen_at
from {{data}}.container_history as record
left join {{data}}.containers as latest
    on latest.container_id = record.container_id
where record.valid_from <= {{analytics}}.as_of()
    and (record.valid_to is null or record.valid_to > {{analytics}}.as_of());
-- end
