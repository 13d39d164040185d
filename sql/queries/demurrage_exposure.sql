-- What overdue containers cost so far
--
-- One row per container that stands at the terminal past its last free day, and currency of its fees; one row without a currency
-- when no fee is listed. The longest overdue stands first; containers whose line the service no longer asks stand last, for
-- nobody would tell us that they have left and their fees no longer move.
--
-- days_over: calendar days at the place; the day after the last free day is day 1.
-- fees: what is listed now in this currency. Where single fees are listed they are added up and a `total` line is left out,
-- because it sums them; where there is only a `total` line, that is the amount. Currencies are never added together.
-- tracking_stopped: why the service stopped asking the shipping line; null while it asks.
-- A zone that PostgreSQL does not know counts as UTC.
with

time_zones as materialized (

    select name, utc_offset
    from pg_catalog.pg_timezone_names

),

containers as (

    select container_id, shipment_id, number, pod_terminal_id
    from {{data}}.containers
    where pod_discharged_at is not null
        and pod_full_out_at is null
        and pod_rail_departed_at is null
        and final_destination_full_out_at is null
        and empty_terminated_at is null
        and _deleted_at is null

),

overdue as (

    select
        deadlines.container_id,
        deadlines.local_date as last_free_day,
        (now() at time zone 'UTC' + coalesce(time_zones.utc_offset, interval '0'))::date
            - deadlines.local_date as days_over
    from {{data}}.container_import_deadlines as deadlines
    left join time_zones
        on time_zones.name = deadlines.time_zone
    where deadlines.kind = 'pickup_lfd'

),

fees as (

    select
        container_id,
        currency_code,
        coalesce(
            sum(amount) filter (where not is_total),
            max(amount) filter (where is_total)
        ) as fees,
        string_agg(distinct type, ', ') filter (where not is_total) as fee_types
    from {{data}}.container_fees
    group by container_id, currency_code

),

shipments as (

    select shipment_id, shipping_line_scac, line_tracking_stopped_reason
    from {{data}}.shipments

),

terminals as (

    select terminal_id, coalesce(nickname, name) as terminal
    from {{data}}.terminals

)

select
    containers.number as container_number,
    shipments.shipping_line_scac as line,
    terminals.terminal,
    overdue.last_free_day,
    overdue.days_over,
    fees.fees,
    fees.currency_code as currency,
    fees.fee_types,
    shipments.line_tracking_stopped_reason as tracking_stopped
from containers
inner join overdue
    on containers.container_id = overdue.container_id
left join fees
    on containers.container_id = fees.container_id
left join shipments
    on containers.shipment_id = shipments.shipment_id
left join terminals
    on containers.pod_terminal_id = terminals.terminal_id
where overdue.days_over > 0
order by
    shipments.line_tracking_stopped_reason is not null,
    overdue.days_over desc,
    containers.container_id,
    fees.currency_code;
