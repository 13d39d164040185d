-- Which container must be picked up first
--
-- One row per container that was discharged at the port of discharge and has not left the terminal, neither by truck nor by
-- rail. What bites first stands first: the fewest days left, then the longest stay. Containers whose line the service no longer
-- asks stand last: nobody would tell us that they have left.
--
-- is_ready: the terminal says available, and no hold with status `hold` stands. Pending holds are named, they do not block.
-- last_free_day: the service's coalesced last free day, as a calendar day at the place.
-- days_left: from today at the place to the last free day; negative once it has passed. Null when there is no last free day.
-- tracking_stopped: why the service stopped asking the shipping line; null while it asks.
-- A zone that PostgreSQL does not know counts as UTC.
with

time_zones as materialized (

    select name, utc_offset
    from pg_catalog.pg_timezone_names

),

containers as (

    select
        container_id,
        shipment_id,
        number,
        current_status,
        available_for_pickup,
        pod_terminal_id,
        pod_discharged_at,
        pod_timezone,
        pickup_appointment_at
    from {{data}}.containers
    where pod_discharged_at is not null
        and pod_full_out_at is null
        and pod_rail_departed_at is null
        and final_destination_full_out_at is null
        and empty_terminated_at is null
        and _deleted_at is null

),

shipments as (

    select
        shipment_id,
        bill_of_lading_number,
        shipping_line_scac,
        line_tracking_stopped_reason
    from {{data}}.shipments

),

terminals as (

    select terminal_id, coalesce(nickname, name) as terminal
    from {{data}}.terminals

),

last_free_days as (

    select container_id, local_date as last_free_day, time_zone
    from {{data}}.container_import_deadlines
    where kind = 'pickup_lfd'

),

holds as (

    select
        container_id,
        string_agg(name || ' (' || status || ')', ', ' order by position) as holds,
        bool_or(status = 'hold') as is_blocked
    from {{data}}.container_holds
    group by container_id

)

select
    containers.number as container_number,
    shipments.bill_of_lading_number,
    shipments.shipping_line_scac as line,
    terminals.terminal,
    last_free_days.last_free_day,
    last_free_days.last_free_day - (
        now() at time zone 'UTC' + coalesce(time_zones.utc_offset, interval '0')
    )::date as days_left,
    coalesce(containers.available_for_pickup, false)
        and not coalesce(holds.is_blocked, false) as is_ready,
    holds.holds,
    containers.pickup_appointment_at,
    containers.current_status,
    shipments.line_tracking_stopped_reason as tracking_stopped
from containers
left join shipments
    on containers.shipment_id = shipments.shipment_id
left join terminals
    on containers.pod_terminal_id = terminals.terminal_id
left join last_free_days
    on containers.container_id = last_free_days.container_id
left join holds
    on containers.container_id = holds.container_id
left join time_zones
    on time_zones.name = coalesce(last_free_days.time_zone, containers.pod_timezone)
order by
    shipments.line_tracking_stopped_reason is not null,
    days_left nulls last,
    containers.pod_discharged_at,
    containers.container_id;
