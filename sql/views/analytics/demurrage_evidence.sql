-- What was known when, to dispute an invoice
--
-- One row per live container and observation: a last free day, a hold, an availability or a fee as it stood for a time, beside the
-- milestones of the container. Read it in the order of container_id, seen_at, kind, subject; a view has no order of its own.
--
-- kind and subject: `last free day` with the source whose day it is (service, line, terminal, rail), `hold` with its name, `availability`,
-- `fee` with its type. value says it in words; last_free_on, amount and currency_code say it in types.
-- seen_at is when we first saw it so, gone_at when we first saw it gone or different: what we could know, not when it happened. Null
-- gone_at: it stands at as_of(). is_start_known is false where it stood already when we first saw the container.
-- _local is wall time at the port of discharge. Where its zone is not known there is none for our own times, which are UTC; a milestone
-- whose zone was not sent is wall time marked as UTC and stands as it is.
-- Only histories are read, so what the service showed and took back between two looks is not here. A fee of the type total sums
-- others. What was first seen after as_of() is left out.
--
-- Cost: histories are read container by container. Ask for containers, a terminal, a line; all of it is a dump.

create view {{analytics}}.demurrage_evidence as
select
    container.container_id,
    container.shipment_id,
    container.pod_terminal_id,
    container.number as container_number,
    shipment.bill_of_lading_number,
    shipment.shipping_line_scac,
    coalesce(terminal.nickname, terminal.name) as pod_terminal,
    observation.kind,
    observation.subject,
    observation.value,
    observation.source,
    observation.currency_code,
    container.pod_timezone as pod_zone,
    observation.amount,
    observation.gone_at is null or observation.gone_at > {{analytics}}.as_of() as is_open,
    observation.seen_at > first_sight._first_seen_at as is_start_known,
    zone.name is not null as is_pod_zone_known,
    observation.last_free_on,
    observation.seen_at,
    observation.seen_at at time zone zone.name as seen_local,
    case when observation.gone_at <= {{analytics}}.as_of() then observation.gone_at end as gone_at,
    case
        when observation.gone_at <= {{analytics}}.as_of()
            then observation.gone_at at time zone zone.name
    end as gone_local,
    container.pod_arrived_at,
    container.pod_arrived_at at time zone coalesce(
        zone.name,
        case when container.pod_timezone is null then 'UTC' end
    ) as pod_arrived_local,
    container.pod_discharged_at,
    container.pod_discharged_at at time zone coalesce(
        zone.name,
        case when container.pod_timezone is null then 'UTC' end
    ) as pod_discharged_local,
    container.pod_rail_departed_at,
    container.pod_rail_departed_at at time zone coalesce(
        zone.name,
        case when container.pod_timezone is null then 'UTC' end
    ) as pod_rail_departed_local,
    container.pod_full_out_at,
    container.pod_full_out_at at time zone coalesce(
        zone.name,
        case when container.pod_timezone is null then 'UTC' end
    ) as pod_full_out_local,
    container.final_destination_full_out_at,
    container.final_destination_full_out_at at time zone coalesce(
        inland_zone.name,
        case when container.final_destination_timezone is null then 'UTC' end
    ) as final_destination_full_out_local
from {{analytics}}.known_containers as container
inner join {{data}}.containers as first_sight
    on first_sight.container_id = container.container_id
left join {{analytics}}.known_shipments as shipment
    on shipment.shipment_id = container.shipment_id
cross join lateral (

    select
        'last free day' as kind,
        case deadline.kind
            when 'pickup_lfd' then 'service'
            when 'pickup_lfd_line' then 'line'
            when 'pickup_lfd_terminal' then 'terminal'
            when 'pickup_lfd_rail' then 'rail'
            else deadline.kind
        end as subject,
        to_char(deadline.local_date, 'YYYY-MM-DD') as value,
        deadline.source,
        null::numeric as amount,
        null as currency_code,
        deadline.local_date as last_free_on,
        deadline.valid_from as seen_at,
        deadline.valid_to as gone_at
    from {{data}}.container_import_deadline_history as deadline
    where deadline.container_id = container.container_id

    union all

    select
        'hold' as kind,
        hold.name as subject,
        concat_ws(': ', hold.status, hold.description) as value,
        hold.source,
        null::numeric as amount,
        null as currency_code,
        null::date as last_free_on,
        hold.valid_from as seen_at,
        hold.valid_to as gone_at
    from {{data}}.container_hold_history as hold
    where hold.container_id = container.container_id

    union all

    select
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
    where fee.container_id = container.container_id

    union all

    -- Versions of the container with one availability, one after the other, are one observation.
    select
        'availability' as kind,
        null as subject,
        stay.value,
        min(stay.source) filter (where stay.is_change) as source,
        null::numeric as amount,
        null as currency_code,
        null::date as last_free_on,
        min(stay.valid_from) as seen_at,
        case when bool_and(stay.valid_to is not null) then max(stay.valid_to) end as gone_at
    from (
        select
            change.value,
            change.source,
            change.valid_from,
            change.valid_to,
            change.is_change,
            count(*) filter (where change.is_change) over (order by change.valid_from) as run
        from (
            select
                availability.value,
                availability.source,
                availability.valid_from,
                availability.valid_to,
                availability.value is distinct from lag(availability.value) over versions
                    or lag(availability.valid_to) over versions < availability.valid_from
                    as is_change
            from (
                select
                    case
                        when version.availability_known is false then 'not known'
                        when version.available_for_pickup then 'available'
                        when not version.available_for_pickup then 'not available'
                        else 'not known'
                    end as value,
                    version.source,
                    version.valid_from,
                    version.valid_to
                from {{data}}.container_history as version
                where version.container_id = container.container_id
                    and version.valid_from <= {{analytics}}.as_of()
            ) as availability
            window versions as (order by availability.valid_from)
        ) as change
    ) as stay
    group by stay.run, stay.value

) as observation
left join {{data}}.terminals as terminal
    on terminal.terminal_id = container.pod_terminal_id
left join {{analytics}}.time_zones as zone
    on zone.name = container.pod_timezone
left join {{analytics}}.time_zones as inland_zone
    on inland_zone.name = container.final_destination_timezone
where observation.seen_at <= {{analytics}}.as_of();

comment on view {{analytics}}.demurrage_evidence is
    'One row per live container and observation: what was known when of its last free days, '
    'holds, availability and fees, beside its milestones.';
comment on column {{analytics}}.demurrage_evidence.container_id is
    'The service''s id of the container.';
comment on column {{analytics}}.demurrage_evidence.shipment_id is
    'Shipment; shipments.';
comment on column {{analytics}}.demurrage_evidence.pod_terminal_id is
    'Terminal at the port of discharge; terminals.';
comment on column {{analytics}}.demurrage_evidence.container_number is
    'Container number; used again on later journeys.';
comment on column {{analytics}}.demurrage_evidence.bill_of_lading_number is
    'Bill of lading number of the shipment.';
comment on column {{analytics}}.demurrage_evidence.shipping_line_scac is
    'SCAC of the shipping line.';
comment on column {{analytics}}.demurrage_evidence.pod_terminal is
    'Terminal at the port of discharge: short name, else name.';
comment on column {{analytics}}.demurrage_evidence.kind is
    'last free day, hold, availability or fee.';
comment on column {{analytics}}.demurrage_evidence.subject is
    'Whose last free day (service, line, terminal, rail), name of the hold, type of the fee; null '
    'for availability.';
comment on column {{analytics}}.demurrage_evidence.value is
    'What was seen, in words: a day, status and text of a hold, available or not, an amount.';
comment on column {{analytics}}.demurrage_evidence.source is
    'What told us first: sync or webhook.';
comment on column {{analytics}}.demurrage_evidence.currency_code is
    'ISO 4217 code of a fee; null: local currency, not said.';
comment on column {{analytics}}.demurrage_evidence.pod_zone is
    'IANA zone of the port of discharge, as sent.';
comment on column {{analytics}}.demurrage_evidence.amount is
    'Amount of a fee, in its currency.';
comment on column {{analytics}}.demurrage_evidence.is_open is
    'Whether it still stands at as_of().';
comment on column {{analytics}}.demurrage_evidence.is_start_known is
    'False where it stood already when we first saw the container.';
comment on column {{analytics}}.demurrage_evidence.is_pod_zone_known is
    'Whether pod_zone was sent and PostgreSQL knows it.';
comment on column {{analytics}}.demurrage_evidence.last_free_on is
    'The last free day that was seen. Calendar day at the place.';
comment on column {{analytics}}.demurrage_evidence.seen_at is
    'When we first saw it so. UTC.';
comment on column {{analytics}}.demurrage_evidence.seen_local is
    'When we first saw it so. Wall time at the port of discharge; null where its zone is not '
    'known.';
comment on column {{analytics}}.demurrage_evidence.gone_at is
    'When we first saw it gone or different; null while it stands. UTC.';
comment on column {{analytics}}.demurrage_evidence.gone_local is
    'When we first saw it gone or different. Wall time at the port of discharge; null where its '
    'zone is not known.';
comment on column {{analytics}}.demurrage_evidence.pod_arrived_at is
    'Arrival at the port of discharge, as known at as_of(). UTC.';
comment on column {{analytics}}.demurrage_evidence.pod_arrived_local is
    'Arrival at the port of discharge. Wall time at the place; unconverted where no zone was '
    'sent, null where PostgreSQL does not know it.';
comment on column {{analytics}}.demurrage_evidence.pod_discharged_at is
    'Discharge at the port of discharge, as known at as_of(). UTC.';
comment on column {{analytics}}.demurrage_evidence.pod_discharged_local is
    'Discharge at the port of discharge. Wall time at the place; unconverted where no zone was '
    'sent, null where PostgreSQL does not know it.';
comment on column {{analytics}}.demurrage_evidence.pod_rail_departed_at is
    'Departure by rail from the port of discharge, as known at as_of(). UTC.';
comment on column {{analytics}}.demurrage_evidence.pod_rail_departed_local is
    'Departure by rail from the port of discharge. Wall time at the place; unconverted where no '
    'zone was sent, null where PostgreSQL does not know it.';
comment on column {{analytics}}.demurrage_evidence.pod_full_out_at is
    'Full out of the terminal at the port of discharge, as known at as_of(). UTC.';
comment on column {{analytics}}.demurrage_evidence.pod_full_out_local is
    'Full out of the terminal at the port of discharge. Wall time at the place; unconverted where '
    'no zone was sent, null where PostgreSQL does not know it.';
comment on column {{analytics}}.demurrage_evidence.final_destination_full_out_at is
    'Full out at the inland destination, as known at as_of(). UTC.';
comment on column {{analytics}}.demurrage_evidence.final_destination_full_out_local is
    'Full out at the inland destination. Wall time at the place; unconverted where no zone was '
    'sent, null where PostgreSQL does not know it.';
