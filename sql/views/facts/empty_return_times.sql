-- From picking up full to returning empty
--
-- One row per container that was picked up full or returned empty.
--
-- The clock starts with the last pickup of the full container: at the final destination of an
-- inland move, else at the port of discharge if it did not go on by rail (picked_up_at of
-- journey_facts).
-- It ends with the return of the empty. For a container that is still out it runs to as_of().
-- days: elapsed, in days of 24 hours.
-- calendar_days: from the local day of pickup to the local day of return; the day after pickup is
-- day 1. Contracts differ in which of the two days they charge: this view ignores free days.
-- state: returned, out, pickup not reported (returned, and the pickup was not reported), out
-- of order (returned before it was picked up). Only returned and out have days.
-- Days are those of the place, see journey_facts. If the shipment is no longer tracked, the return
-- of an open container may be unreported.

create view {{analytics}}.empty_return_times as
with

clocks as (

    select
        journey.container_id,
        journey.container_number,
        journey.equipment_type,
        journey.equipment_length,
        journey.shipment_id,
        journey.pod_terminal_id,
        journey.shipping_line_scac,
        journey.bill_of_lading_number,
        case
            when journey.picked_up_at is null then 'pickup not reported'
            when journey.returned_at is null then 'out'
            when journey.returned_at < journey.picked_up_at then 'out of order'
            else 'returned'
        end as state,
        journey.is_tracking_stopped,
        (
            journey.picked_up_at is null
            or case
                when journey.ramp_out_at is null then journey.is_port_zone_known
                else journey.is_ramp_zone_known
            end
        )
        and (journey.returned_at is null or journey.is_return_zone_known) as is_zone_known,
        journey.picked_up_at as full_out_at,
        journey.returned_at as empty_terminated_at,
        journey.pickup_zone,
        journey.pickup_wall_zone as out_zone,
        journey.return_wall_zone as in_zone
    from {{parts}}.journey_facts as journey
    where journey.picked_up_at is not null
        or journey.returned_at is not null

)

select
    clocks.container_id,
    shipment_id,
    pod_terminal_id,
    container_number,
    bill_of_lading_number,
    shipping_line_scac,
    customer.customer_name,
    customer.ref_numbers_text,
    customer.tags_text,
    customer.custom_fields,
    equipment_type,
    equipment_length,
    state,
    case
        when state = 'returned'
            then round(extract(epoch from empty_terminated_at - full_out_at) / 86400, 2)
        when state = 'out'
            then round(extract(epoch from {{analytics}}.as_of() - full_out_at) / 86400, 2)
    end as days,
    case
        when state = 'returned'
            then (empty_terminated_at at time zone in_zone)::date
                - (full_out_at at time zone out_zone)::date
        when state = 'out'
            then ({{analytics}}.as_of() at time zone pickup_zone)::date
                - (full_out_at at time zone out_zone)::date
    end as calendar_days,
    is_tracking_stopped,
    is_zone_known,
    full_out_at,
    empty_terminated_at,
    full_out_at at time zone out_zone as full_out_local,
    empty_terminated_at at time zone in_zone as empty_terminated_local
from clocks
left join {{analytics}}.container_customers as customer
    on customer.container_id = clocks.container_id;
