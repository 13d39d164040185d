-- How fees changed
--
-- One row per interval of the history in which a fee of a live container had one amount.
--
-- seen_at and gone_at are when we first saw the amount and first saw it gone or changed; gone_at is
-- null if the amount is valid at as_of() (is_open).
-- change_amount: difference from the previous amount of the same fee, null for the first;
-- is_gap_before: the fee was not listed in between. is_start_known is false if our first look at
-- the container found the fee already. is_total marks a line that sums others: never add it to
-- them. Currencies are never added together.
-- Fees first seen after as_of() are left out; fees gone after it count as open.

create view {{analytics}}.fee_history as
select
    fee.container_id,
    container.shipment_id,
    container.pod_terminal_id,
    fee.fee_key,
    container.number as container_number,
    shipment.bill_of_lading_number,
    shipment.shipping_line_scac,
    customer.customer_name,
    customer.ref_numbers_text,
    customer.tags_text,
    customer.custom_fields,
    coalesce(terminal.nickname, terminal.name) as pod_terminal,
    fee.place,
    fee.type as fee_type,
    fee.currency_code,
    fee.source,
    fee.amount,
    coalesce(earlier.amount, gone.amount) as amount_before,
    fee.amount - coalesce(earlier.amount, gone.amount) as change_amount,
    coalesce(fee.type = 'total', false) as is_total,
    fee.valid_to is null or fee.valid_to > {{analytics}}.as_of() as is_open,
    coalesce(gone.valid_to < fee.valid_from, false) as is_gap_before,
    fee.valid_from > first_sight._first_seen_at as is_start_known,
    fee.valid_from as seen_at,
    wall_time.seen_local,
    case when fee.valid_to <= {{analytics}}.as_of() then fee.valid_to end as gone_at,
    wall_time.gone_local
from {{data}}.container_fee_history as fee
inner join {{parts}}.known_containers as container
    on container.container_id = fee.container_id
inner join {{data}}.containers as first_sight
    on first_sight.container_id = fee.container_id
left join {{parts}}.known_shipments as shipment
    on shipment.shipment_id = container.shipment_id
left join {{data}}.terminals as terminal
    on terminal.terminal_id = container.pod_terminal_id
left join {{analytics}}.time_zones as zone
    on zone.name = case fee.place
        when 'ramp' then container.final_destination_timezone
        else container.pod_timezone
    end
-- The amount that was replaced by this one: the rule.
left join {{data}}.container_fee_history as earlier
    on earlier.container_id = fee.container_id
    and earlier.fee_key = fee.fee_key
    and earlier.valid_to = fee.valid_from
-- Here and not above, so that parallel workers make the wall times, before what follows, which they
-- cannot do.
left join lateral (

    select
        fee.valid_from at time zone zone.name as seen_local,
        case
            when fee.valid_to <= {{analytics}}.as_of() then fee.valid_to at time zone zone.name
        end as gone_local

) as wall_time
    on true
-- The last amount before a gap, looked up only for an amount that did not replace another. Not a
-- window, which would be computed for all containers before a filter.
left join lateral (

    select
        before.amount,
        before.valid_to
    from {{data}}.container_fee_history as before
    where earlier.container_id is null
        and before.container_id = fee.container_id
        and before.fee_key = fee.fee_key
        and before.valid_from < fee.valid_from
    order by before.valid_from desc
    limit 1

) as gone
    on true
left join {{analytics}}.container_customers as customer
    on customer.container_id = fee.container_id
where fee.valid_from <= {{analytics}}.as_of();
