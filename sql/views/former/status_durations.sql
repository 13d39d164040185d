-- How long containers were in each status
--
-- One row per live container and current_status it has had, from the versions of the history known
-- at as_of(). A status it had several times is one row with the hours added up.
--
-- Times are when we saw it: a status counts from the look that found it to the look that found
-- another one, so hours are exact to the time between two looks. The status it has at as_of() runs
-- to as_of() (is_current); after the end of a journey that grows for ever. is_start_known is false
-- for the status at our first look: it began before, so its hours are a lower bound. Leave such
-- rows, and current ones, out of averages. Time without a version (a container that was tombstoned
-- and came back) does not count for any status.
--
-- Cost: the history is read container by container, so that every filter on containers counts.

create view {{analytics}}.status_durations as
select
    container.container_id,
    container.shipment_id,
    container.pod_terminal_id,
    container.number as container_number,
    shipment.bill_of_lading_number,
    shipment.shipping_line_scac,
    customer.customer_name,
    customer.ref_numbers_text,
    customer.tags_text,
    customer.custom_fields,
    status.status,
    round(status.seconds / 3600, 2) as hours,
    status.is_current,
    status.first_seen_at > first_sight._first_seen_at as is_start_known,
    status.first_seen_at,
    case when not status.is_current then status.ended_at end as ended_at
from {{parts}}.known_containers as container
inner join {{data}}.containers as first_sight
    on first_sight.container_id = container.container_id
left join {{parts}}.known_shipments as shipment
    on shipment.shipment_id = container.shipment_id
cross join lateral (

    select
        version.current_status as status,
        sum(
            extract(
                epoch from
                least(coalesce(version.valid_to, {{analytics}}.as_of()), {{analytics}}.as_of())
                - version.valid_from
            )
        ) as seconds,
        bool_or(version.valid_to is null or version.valid_to > {{analytics}}.as_of()) as is_current,
        min(version.valid_from) as first_seen_at,
        max(version.valid_to) as ended_at
    from {{data}}.container_history as version
    where version.container_id = container.container_id
        and version.valid_from <= {{analytics}}.as_of()
    group by version.current_status

) as status
left join {{analytics}}.container_customers as customer
    on customer.container_id = container.container_id;
