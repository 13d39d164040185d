-- Which container must be picked up first
--
-- One row per container that has landed and is not out, as known at as_of(). place: port
-- (discharged, and neither picked up nor departed by rail) or inland (arrived at the inland
-- destination or unloaded there, and not picked up). Containers on a train are on neither list.
-- What bites first stands first: the fewest days left, then the longest stay; those whose shipment
-- is no longer tracked stand last, because their departure would not be reported.
--
-- is_ready: available, and no hold with the status `hold` stands. Availability counts unless the
-- service says that it is not known.
-- blockers: what keeps it from being ready: `hold: <name>` for each hold, `not available` or
-- `availability unknown`. Empty when ready.
-- Holds of any other status, such as pending, are named in other_holds and do not block.
-- last_free_on and days_left are those of the service's coalesced last free day: calendar days at
-- the place; 0 on the day itself, negative after it; null without a last free day. The zone is the
-- one that applies to the last free day, else that of the place; without a known zone days are
-- those of UTC and is_zone_known is false.

create view {{analytics}}.pickup_worklist as
with

landed as (

    select
        container.container_id,
        container.shipment_id,
        container.pod_terminal_id,
        container.number as container_number,
        container.current_status,
        case when container.pod_rail_departed_at is null then 'port' else 'inland' end as place,
        case
            when container.pod_rail_departed_at is null then container.pod_timezone
            else container.final_destination_timezone
        end as place_timezone,
        container.pod_timezone,
        container.availability_known,
        container.available_for_pickup,
        container.pickup_appointment_at,
        case
            when container.pod_rail_departed_at is null then container.pod_discharged_at
            else coalesce(container.ind_ata_at, container.ind_rail_unloaded_at)
        end as landed_at
    from {{analytics}}.known_containers as container
    where container.pod_full_out_at is null
        and container.final_destination_full_out_at is null
        and container.empty_terminated_at is null
        and (
            container.pod_rail_departed_at is null and container.pod_discharged_at is not null
            or container.pod_rail_departed_at is not null
            and coalesce(container.ind_ata_at, container.ind_rail_unloaded_at) is not null
        )

),

holds as (

    select
        hold.container_id,
        array_agg('hold: ' || coalesce(hold.name, 'unnamed') order by hold.name, hold.hold_key)
            filter (where hold.status = 'hold') as blocking,
        array_agg(
            coalesce(hold.name, 'unnamed') || coalesce(' (' || hold.status || ')', '')
            order by hold.name, hold.hold_key
        ) filter (where hold.status is distinct from 'hold') as other
    from {{analytics}}.known_holds as hold
    group by hold.container_id

),

deadlines as (

    select
        stay.container_id,
        stay.shipment_id,
        stay.pod_terminal_id,
        stay.container_number,
        stay.current_status,
        stay.place,
        stay.place_timezone,
        stay.pod_timezone,
        stay.availability_known,
        stay.available_for_pickup,
        stay.pickup_appointment_at,
        stay.landed_at,
        deadline.last_free_on,
        coalesce(deadline.time_zone, stay.place_timezone) as day_timezone
    from landed as stay
    left join lateral (

        select
            max(local_date) as last_free_on,
            max(time_zone) as time_zone
        from {{analytics}}.known_import_deadlines
        where container_id = stay.container_id
            and kind = 'pickup_lfd'

    ) as deadline
        on true

)

select
    stay.container_id,
    stay.shipment_id,
    stay.pod_terminal_id,
    stay.container_number,
    shipment.bill_of_lading_number,
    shipment.shipping_line_scac,
    coalesce(terminal.nickname, terminal.name) as pod_terminal,
    stay.place,
    stay.current_status,
    coalesce(hold.blocking, '{}') || case
        when stay.availability_known is false then array['availability unknown']
        when stay.available_for_pickup then '{}'
        when not stay.available_for_pickup then array['not available']
        else array['availability unknown']
    end as blockers,
    coalesce(hold.other, '{}') as other_holds,
    shipment.line_tracking_stopped_reason as tracking_stopped_reason,
    stay.last_free_on - ({{analytics}}.as_of() at time zone coalesce(day_zone.name, 'UTC'))::date
        as days_left,
    coalesce(
        stay.available_for_pickup
        and stay.availability_known is not false
        and hold.blocking is null,
        false
    ) as is_ready,
    day_zone.name is not null as is_zone_known,
    stay.last_free_on,
    stay.pickup_appointment_at,
    stay.pickup_appointment_at at time zone coalesce(
        pod_zone.name,
        case when stay.pod_timezone is null then 'UTC' end
    ) as pickup_appointment_local,
    stay.landed_at,
    stay.landed_at at time zone coalesce(
        place_zone.name,
        case when stay.place_timezone is null then 'UTC' end
    ) as landed_local
from deadlines as stay
left join {{analytics}}.known_shipments as shipment
    on shipment.shipment_id = stay.shipment_id
left join {{data}}.terminals as terminal
    on terminal.terminal_id = stay.pod_terminal_id
left join holds as hold
    on hold.container_id = stay.container_id
left join {{analytics}}.time_zones as day_zone
    on day_zone.name = stay.day_timezone
left join {{analytics}}.time_zones as place_zone
    on place_zone.name = stay.place_timezone
left join {{analytics}}.time_zones as pod_zone
    on pod_zone.name = stay.pod_timezone
order by
    shipment.line_tracking_stopped_reason is not null,
    days_left,
    stay.landed_at,
    stay.container_id;

comment on view {{analytics}}.pickup_worklist is
    'One row per container that has landed and is not out, as known at as_of(), what bites first '
    'first.';
comment on column {{analytics}}.pickup_worklist.container_id is
    'The service''s id of the container.';
comment on column {{analytics}}.pickup_worklist.shipment_id is
    'Shipment; shipments.';
comment on column {{analytics}}.pickup_worklist.pod_terminal_id is
    'Terminal at the port of discharge; terminals.';
comment on column {{analytics}}.pickup_worklist.container_number is
    'Container number; used again on later journeys.';
comment on column {{analytics}}.pickup_worklist.bill_of_lading_number is
    'Bill of lading number of the shipment.';
comment on column {{analytics}}.pickup_worklist.shipping_line_scac is
    'SCAC of the shipping line.';
comment on column {{analytics}}.pickup_worklist.pod_terminal is
    'Terminal at the port of discharge: short name, else name.';
comment on column {{analytics}}.pickup_worklist.place is
    'Where it waits: port or inland.';
comment on column {{analytics}}.pickup_worklist.current_status is
    'Status of the container, in the service''s words.';
comment on column {{analytics}}.pickup_worklist.blockers is
    'What keeps it from being picked up: hold: <name>, not available, availability unknown. Empty '
    'when ready.';
comment on column {{analytics}}.pickup_worklist.other_holds is
    'Holds that do not block, with their status.';
comment on column {{analytics}}.pickup_worklist.tracking_stopped_reason is
    'Why the service stopped asking the shipping line; null while it asks.';
comment on column {{analytics}}.pickup_worklist.days_left is
    'Calendar days from today to the last free day: 0 on the day, negative after it; null without '
    'one.';
comment on column {{analytics}}.pickup_worklist.is_ready is
    'Whether it can be picked up: available, and no hold with the status hold.';
comment on column {{analytics}}.pickup_worklist.is_zone_known is
    'Whether the zone of the days is known to PostgreSQL; false: they are days of UTC.';
comment on column {{analytics}}.pickup_worklist.last_free_on is
    'Last free day as the service coalesces it. Calendar day at the place.';
comment on column {{analytics}}.pickup_worklist.pickup_appointment_at is
    'Appointment for the pickup at the terminal. UTC.';
comment on column {{analytics}}.pickup_worklist.pickup_appointment_local is
    'Appointment for the pickup at the terminal. Wall time at the port of discharge; unconverted '
    'where no zone was sent.';
comment on column {{analytics}}.pickup_worklist.landed_at is
    'Discharge at the port, or arrival at the inland destination. UTC.';
comment on column {{analytics}}.pickup_worklist.landed_local is
    'Discharge or arrival, wall time at the place; unconverted where no zone was sent, null where '
    'PostgreSQL does not know it.';
