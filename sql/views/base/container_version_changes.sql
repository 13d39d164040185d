-- Differences between two versions of a container
--
-- One row per container and value that differs from the version before. The base of
-- date_corrections and changes.
--
-- kind: milestone, plan (a future instant) or value (a text). from and to are instants of the first
-- two kinds and texts of the third: null if not reported. learned_at is when we first saw the new
-- value; between two looks it may have changed more than once. Versions before and after a time in
-- which the container was gone at the source are not compared. Changes learned after as_of() are
-- left out.

create view {{parts}}.container_version_changes as
select
    later.container_id,
    change.kind,
    change.attribute,
    change.from_value,
    change.to_value,
    change.time_zone,
    later.source,
    later.valid_from as learned_at,
    change.from_at,
    change.to_at
from {{data}}.container_history as later
-- Equal, said as a range: see eta_changes.
inner join {{data}}.container_history as earlier
    on earlier.container_id = later.container_id
    and later.valid_from between earlier.valid_to and earlier.valid_to
cross join lateral (

    -- A list of values would have PostgreSQL prepare each of its expressions for each version.
    select
        'milestone' as kind,
        'arrival at the port' as attribute,
        earlier.pod_arrived_at as from_at,
        later.pod_arrived_at as to_at,
        null as from_value,
        null as to_value,
        later.pod_timezone as time_zone
    where earlier.pod_arrived_at is distinct from later.pod_arrived_at

    union all

    select 'milestone', 'discharge', earlier.pod_discharged_at, later.pod_discharged_at, null, null,
        later.pod_timezone
    where earlier.pod_discharged_at is distinct from later.pod_discharged_at

    union all

    select 'milestone', 'pickup at the port', earlier.pod_full_out_at, later.pod_full_out_at, null, null,
        later.pod_timezone
    where earlier.pod_full_out_at is distinct from later.pod_full_out_at

    union all

    select 'milestone', 'loading on rail', earlier.pod_rail_loaded_at, later.pod_rail_loaded_at, null, null,
        later.pod_timezone
    where earlier.pod_rail_loaded_at is distinct from later.pod_rail_loaded_at

    union all

    select 'milestone', 'departure by rail', earlier.pod_rail_departed_at, later.pod_rail_departed_at, null, null,
        later.pod_timezone
    where earlier.pod_rail_departed_at is distinct from later.pod_rail_departed_at

    union all

    select 'milestone', 'arrival at the ramp', earlier.ind_ata_at, later.ind_ata_at, null, null,
        later.final_destination_timezone
    where earlier.ind_ata_at is distinct from later.ind_ata_at

    union all

    select 'milestone', 'unloading at the ramp', earlier.ind_rail_unloaded_at, later.ind_rail_unloaded_at, null, null,
        later.final_destination_timezone
    where earlier.ind_rail_unloaded_at is distinct from later.ind_rail_unloaded_at

    union all

    select 'milestone', 'pickup at the ramp', earlier.final_destination_full_out_at, later.final_destination_full_out_at, null, null,
        later.final_destination_timezone
    where earlier.final_destination_full_out_at is distinct from later.final_destination_full_out_at

    union all

    select 'milestone', 'empty return', earlier.empty_terminated_at, later.empty_terminated_at, null, null,
        later.empty_terminated_timezone
    where earlier.empty_terminated_at is distinct from later.empty_terminated_at

    union all

    select 'plan', 'ETA at the ramp', earlier.ind_eta_at, later.ind_eta_at, null, null,
        later.final_destination_timezone
    where earlier.ind_eta_at is distinct from later.ind_eta_at

    union all

    select 'plan', 'pickup appointment', earlier.pickup_appointment_at, later.pickup_appointment_at, null, null,
        later.pod_timezone
    where earlier.pickup_appointment_at is distinct from later.pickup_appointment_at

    union all

    select 'value', 'availability', null, null, said.before, said.now, null
    from (
        select
            case
                when earlier.availability_known is false or earlier.available_for_pickup is null
                    then null
                when earlier.available_for_pickup then 'available'
                else 'not available'
            end as before,
            case
                when later.availability_known is false or later.available_for_pickup is null
                    then null
                when later.available_for_pickup then 'available'
                else 'not available'
            end as now
    ) as said
    where said.before is distinct from said.now

    union all

    select 'value', 'terminal', null, null, earlier.pod_terminal_id, later.pod_terminal_id, null
    where earlier.pod_terminal_id is distinct from later.pod_terminal_id

) as change
where later.valid_from <= {{analytics}}.as_of();
