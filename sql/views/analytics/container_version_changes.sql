-- What differs between two versions of a container
--
-- One row per container and value that one version says differently than the one before it.
-- The base of date_corrections and changes.
--
-- kind: milestone, plan (an instant that is to come) or value (a text). from and to are instants of
-- the first two, texts of the third: null where nothing was said. learned_at is when we first saw
-- the new one; between two looks it may have moved more than once. Nothing is compared across a
-- time in which the container was gone at the source. What was learned after as_of() is left out.

create view {{analytics}}.container_version_changes as
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

    -- A list of names and not one part for each and a union, which nodes among which rows are
    -- spread refuse. Not of values: PostgreSQL would prepare each of its expressions anew for each
    -- version.
    select
        said.kind,
        said.attribute,
        case said.attribute
            when 'arrival at the port' then earlier.pod_arrived_at
            when 'discharge' then earlier.pod_discharged_at
            when 'pickup at the port' then earlier.pod_full_out_at
            when 'loading on rail' then earlier.pod_rail_loaded_at
            when 'departure by rail' then earlier.pod_rail_departed_at
            when 'arrival at the ramp' then earlier.ind_ata_at
            when 'unloading at the ramp' then earlier.ind_rail_unloaded_at
            when 'pickup at the ramp' then earlier.final_destination_full_out_at
            when 'empty return' then earlier.empty_terminated_at
            when 'ETA at the ramp' then earlier.ind_eta_at
            when 'pickup appointment' then earlier.pickup_appointment_at
        end as from_at,
        case said.attribute
            when 'arrival at the port' then later.pod_arrived_at
            when 'discharge' then later.pod_discharged_at
            when 'pickup at the port' then later.pod_full_out_at
            when 'loading on rail' then later.pod_rail_loaded_at
            when 'departure by rail' then later.pod_rail_departed_at
            when 'arrival at the ramp' then later.ind_ata_at
            when 'unloading at the ramp' then later.ind_rail_unloaded_at
            when 'pickup at the ramp' then later.final_destination_full_out_at
            when 'empty return' then later.empty_terminated_at
            when 'ETA at the ramp' then later.ind_eta_at
            when 'pickup appointment' then later.pickup_appointment_at
        end as to_at,
        case said.attribute
            when 'terminal' then earlier.pod_terminal_id
            when 'availability'
                then
                    case
                        when earlier.availability_known is false
                            or earlier.available_for_pickup is null
                            then null
                        when earlier.available_for_pickup then 'available'
                        else 'not available'
                    end
        end as from_value,
        case said.attribute
            when 'terminal' then later.pod_terminal_id
            when 'availability'
                then
                    case
                        when later.availability_known is false
                            or later.available_for_pickup is null
                            then null
                        when later.available_for_pickup then 'available'
                        else 'not available'
                    end
        end as to_value,
        case said.zone_of
            when 'port' then later.pod_timezone
            when 'ramp' then later.final_destination_timezone
            when 'return' then later.empty_terminated_timezone
        end as time_zone
    from (
        values
            ('milestone', 'arrival at the port', 'port'),
            ('milestone', 'discharge', 'port'),
            ('milestone', 'pickup at the port', 'port'),
            ('milestone', 'loading on rail', 'port'),
            ('milestone', 'departure by rail', 'port'),
            ('milestone', 'arrival at the ramp', 'ramp'),
            ('milestone', 'unloading at the ramp', 'ramp'),
            ('milestone', 'pickup at the ramp', 'ramp'),
            ('milestone', 'empty return', 'return'),
            ('plan', 'ETA at the ramp', 'ramp'),
            ('plan', 'pickup appointment', 'port'),
            ('value', 'availability', null),
            ('value', 'terminal', null)
    ) as said (kind, attribute, zone_of)

) as change
where later.valid_from <= {{analytics}}.as_of()
    and (change.from_at, change.from_value) is distinct from (change.to_at, change.to_value);

comment on view {{analytics}}.container_version_changes is
    'One row per container and value that one version says differently than the one before it.';
comment on column {{analytics}}.container_version_changes.container_id is
    'The service''s id of the container.';
comment on column {{analytics}}.container_version_changes.kind is
    'milestone, plan (an instant to come) or value (a text).';
comment on column {{analytics}}.container_version_changes.attribute is
    'Which one: arrival at the port, discharge, pickup at the port, loading on rail, '
    'departure by rail, arrival at the ramp, unloading at the ramp, pickup at the ramp, empty '
    'return; ETA at the ramp, pickup appointment; availability, terminal.';
comment on column {{analytics}}.container_version_changes.from_value is
    'The text before; of a terminal, its id.';
comment on column {{analytics}}.container_version_changes.to_value is
    'The text now said; of a terminal, its id.';
comment on column {{analytics}}.container_version_changes.time_zone is
    'IANA zone of the place, as it stands in the version; null where none was sent.';
comment on column {{analytics}}.container_version_changes.source is
    'Where we learned it first: sync or webhook.';
comment on column {{analytics}}.container_version_changes.learned_at is
    'When we first saw the new one. UTC.';
comment on column {{analytics}}.container_version_changes.from_at is
    'The instant before. UTC.';
comment on column {{analytics}}.container_version_changes.to_at is
    'The instant now said; null: taken back. UTC.';
