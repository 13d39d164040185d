-- Evidence against an invoice
--
-- One row per live container and observation: a last free day, a hold, an availability or a fee
-- with one value over some time, beside the milestones of the container. Sort it by container_id,
-- seen_at, kind, subject; a view is unordered.
--
-- place is the stay of the observation (container_stays): the railway's last free day, and holds
-- and fees of the inland facility, belong to the ramp; all others to the port.
-- kind and subject: `last free day` with the source whose day it is (service, line, terminal,
-- rail), `hold` with its name, `availability`, `fee` with its type. value has the value in words;
-- last_free_on, amount and currency_code have it as typed columns. seen_at is when we first saw the
-- value, gone_at when we first saw it gone or changed: the times of our knowledge, not of the
-- event. gone_at is null if the value is valid at as_of(). A hold whose text was edited is one
-- observation with the last text (hold_durations). is_start_known is false if our first look at the
-- container found the value already. _local is wall time at the port of discharge. If its zone is
-- unknown, the local forms of our own times, which are UTC, are null; a milestone without a zone is
-- wall time marked as UTC and is shown unconverted.
-- The view reads only histories, so it misses values that the service showed and took back between
-- two looks. A fee of the type total sums others. Values first seen after as_of() are left out.
--
-- Cost: narrow it by container, terminal, line or month; the whole view is a dump. Availability
-- lacks a history of its own and is read from all versions of the containers, which takes about
-- half of the time.

create view {{analytics}}.evidence as
with

boxes as not materialized (

    select
        container.container_id,
        container.shipment_id,
        container.pod_terminal_id,
        container.number as container_number,
        shipment.bill_of_lading_number,
        shipment.shipping_line_scac,
        coalesce(pod_terminal.nickname, pod_terminal.name) as pod_terminal,
        container.pod_timezone as pod_zone,
        zone.name as known_zone,
        first_sight._first_seen_at as first_seen_at,
        container.pod_arrived_at,
        container.pod_discharged_at,
        container.pod_rail_departed_at,
        container.pod_full_out_at,
        container.final_destination_full_out_at,
        wall_time.pod_arrived_local,
        wall_time.pod_discharged_local,
        wall_time.pod_rail_departed_local,
        wall_time.pod_full_out_local,
        wall_time.final_destination_full_out_local
    from {{parts}}.known_containers as container
    inner join {{data}}.containers as first_sight
        on first_sight.container_id = container.container_id
    left join {{parts}}.known_shipments as shipment
        on shipment.shipment_id = container.shipment_id
    left join {{data}}.terminals as pod_terminal
        on pod_terminal.terminal_id = container.pod_terminal_id
    left join {{analytics}}.time_zones as zone
        on zone.name = container.pod_timezone
    left join {{analytics}}.time_zones as inland_zone
        on inland_zone.name = container.final_destination_timezone
    -- Here and not with the observations, so that PostgreSQL can compute them once for a container.
    left join lateral (

        select
            container.pod_arrived_at at time zone coalesce(
                zone.name,
                case when container.pod_timezone is null then 'UTC' end
            ) as pod_arrived_local,
            container.pod_discharged_at at time zone coalesce(
                zone.name,
                case when container.pod_timezone is null then 'UTC' end
            ) as pod_discharged_local,
            container.pod_rail_departed_at at time zone coalesce(
                zone.name,
                case when container.pod_timezone is null then 'UTC' end
            ) as pod_rail_departed_local,
            container.pod_full_out_at at time zone coalesce(
                zone.name,
                case when container.pod_timezone is null then 'UTC' end
            ) as pod_full_out_local,
            container.final_destination_full_out_at at time zone coalesce(
                inland_zone.name,
                case when container.final_destination_timezone is null then 'UTC' end
            ) as final_destination_full_out_local

    ) as wall_time
        on true

),

-- The availability of each version; null: not known.
availabilities as not materialized (

    select
        version.container_id,
        version.valid_from,
        version.valid_to,
        version.source,
        case
            when version.availability_known is not false then version.available_for_pickup
        end as is_available
    from {{data}}.container_history as version

),

observations as (

    select
        box.container_id,
        box.shipment_id,
        box.pod_terminal_id,
        box.container_number,
        box.bill_of_lading_number,
        box.shipping_line_scac,
        box.pod_terminal,
        box.pod_zone,
        box.known_zone,
        box.first_seen_at,
        box.pod_arrived_at,
        box.pod_arrived_local,
        box.pod_discharged_at,
        box.pod_discharged_local,
        box.pod_rail_departed_at,
        box.pod_rail_departed_local,
        box.pod_full_out_at,
        box.pod_full_out_local,
        box.final_destination_full_out_at,
        box.final_destination_full_out_local,
        observation.place,
        observation.kind,
        observation.subject,
        observation.value,
        observation.source,
        observation.amount,
        observation.currency_code,
        observation.last_free_on,
        observation.seen_at,
        observation.gone_at
    from boxes as box
    -- Looked up container by container: a question about a few containers must not read all holds.
    inner join lateral (

        select
            deadline.place,
            'last free day' as kind,
            case deadline.kind
                when 'pickup_lfd' then 'service'
                when 'pickup_lfd_line' then 'line'
                when 'pickup_lfd_terminal' then 'terminal'
                when 'pickup_lfd_rail' then 'rail'
                else deadline.kind
            end as subject,
            null as value,
            deadline.source,
            null::numeric as amount,
            null as currency_code,
            deadline.local_date as last_free_on,
            deadline.valid_from as seen_at,
            deadline.valid_to as gone_at
        from {{data}}.container_import_deadline_history as deadline
        where deadline.container_id = box.container_id

        union all

        select
            hold.place,
            'hold' as kind,
            hold.hold_name as subject,
            concat_ws(': ', hold.status, hold.description) as value,
            hold.source,
            null::numeric as amount,
            null as currency_code,
            null::date as last_free_on,
            hold.placed_at as seen_at,
            hold.cleared_at as gone_at
        from {{analytics}}.hold_durations as hold
        where hold.container_id = box.container_id

        union all

        select
            fee.place,
            'fee' as kind,
            fee.type as subject,
            concat_ws(' ', fee.amount, fee.currency_code) as value,
            fee.source,
            fee.amount,
            fee.currency_code,
            null::date as last_free_on,
            fee.valid_from as seen_at,
            fee.valid_to as gone_at
        from {{data}}.container_fee_history as fee
        where fee.container_id = box.container_id

    ) as observation
        on true

    union all

    -- Successive versions of the container with one availability are one observation: it begins
    -- with the first of these versions and ends with the last.
    select
        box.container_id,
        box.shipment_id,
        box.pod_terminal_id,
        box.container_number,
        box.bill_of_lading_number,
        box.shipping_line_scac,
        box.pod_terminal,
        box.pod_zone,
        box.known_zone,
        box.first_seen_at,
        box.pod_arrived_at,
        box.pod_arrived_local,
        box.pod_discharged_at,
        box.pod_discharged_local,
        box.pod_rail_departed_at,
        box.pod_rail_departed_local,
        box.pod_full_out_at,
        box.pod_full_out_local,
        box.final_destination_full_out_at,
        box.final_destination_full_out_local,
        'port' as place,
        'availability' as kind,
        null as subject,
        case version.is_available
            when true then 'available'
            when false then 'not available'
            else 'not known'
        end as value,
        version.source,
        null::numeric as amount,
        null as currency_code,
        null::date as last_free_on,
        version.valid_from as seen_at,
        case when later.container_id is null then version.valid_to else stay.gone_at end as gone_at
    from boxes as box
    inner join availabilities as version
        on version.container_id = box.container_id
    left join availabilities as earlier
        on earlier.container_id = version.container_id
        and earlier.valid_to = version.valid_from
        and earlier.is_available is not distinct from version.is_available
    left join availabilities as later
        on later.container_id = version.container_id
        and later.valid_from = version.valid_to
        and later.is_available is not distinct from version.is_available
    -- Looked up only if there is more than one version.
    left join lateral (

        select last.valid_to as gone_at
        from availabilities as last
        where later.container_id is not null
            and last.container_id = version.container_id
            and last.valid_from >= version.valid_to
            and not exists (
                select
                from availabilities as next
                where next.container_id = last.container_id
                    and next.valid_from = last.valid_to
                    and next.is_available is not distinct from last.is_available
                -- Forces a look-up of one version instead of a join with all versions of the
                -- container.
                offset 0
            )
        order by last.valid_from
        limit 1

    ) as stay
        on true
    where earlier.container_id is null

)

select
    observation.container_id,
    observation.shipment_id,
    observation.pod_terminal_id,
    observation.container_number,
    observation.bill_of_lading_number,
    observation.shipping_line_scac,
    customer.customer_name,
    customer.ref_numbers_text,
    customer.tags_text,
    customer.custom_fields,
    observation.pod_terminal,
    observation.place,
    observation.kind,
    observation.subject,
    case observation.kind
        when 'last free day' then to_char(observation.last_free_on, 'YYYY-MM-DD')
        else observation.value
    end as value,
    observation.source,
    observation.currency_code,
    observation.pod_zone,
    observation.amount,
    observation.gone_at is null or observation.gone_at > {{analytics}}.as_of() as is_open,
    observation.seen_at > observation.first_seen_at as is_start_known,
    observation.known_zone is not null as is_pod_zone_known,
    observation.last_free_on,
    observation.seen_at,
    observation.seen_at at time zone observation.known_zone as seen_local,
    case when observation.gone_at <= {{analytics}}.as_of() then observation.gone_at end as gone_at,
    case
        when observation.gone_at <= {{analytics}}.as_of()
            then observation.gone_at at time zone observation.known_zone
    end as gone_local,
    observation.pod_arrived_at,
    observation.pod_arrived_local,
    observation.pod_discharged_at,
    observation.pod_discharged_local,
    observation.pod_rail_departed_at,
    observation.pod_rail_departed_local,
    observation.pod_full_out_at,
    observation.pod_full_out_local,
    observation.final_destination_full_out_at,
    observation.final_destination_full_out_local
from observations as observation
left join {{analytics}}.container_customers as customer
    on customer.container_id = observation.container_id
where observation.seen_at <= {{analytics}}.as_of();
