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
    from {{parts}}.evidence_containers as box
    -- Looked up container by container: a question about a few containers must not read all holds.
    cross join lateral (

        select
            listed.place,
            listed.kind,
            listed.subject,
            listed.value,
            listed.source,
            listed.amount,
            listed.currency_code,
            listed.last_free_on,
            listed.seen_at,
            listed.gone_at
        from {{parts}}.list_observations as listed
        where listed.container_id = box.container_id
        offset 0

    ) as observation

    union all

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
        availability.value,
        availability.source,
        null::numeric as amount,
        null as currency_code,
        null::date as last_free_on,
        availability.seen_at,
        availability.gone_at
    from {{parts}}.evidence_containers as box
    -- Looked up in the same way: the whole of them reads every version twice.
    cross join lateral (

        select
            span.value,
            span.source,
            span.seen_at,
            span.gone_at
        from {{parts}}.availability_spans as span
        where span.container_id = box.container_id
        offset 0

    ) as availability

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
