-- From picking up full to returning empty
--
-- One row per container that was picked up full or returned empty.
--
-- The clock starts with the last pickup of the full container: at the final destination of an
-- inland move, else at the port of discharge if it did not go on by rail (picked_up_at of
-- journeys).
-- It ends with the return of the empty. For a container that is still out it runs to as_of().
-- days: elapsed, in days of 24 hours.
-- calendar_days: from the local day of pickup to the local day of return; the day after pickup is
-- day 1. Contracts differ in which of the two days they charge: this view ignores free days.
-- state: returned, out, pickup not reported (returned, and the pickup was not reported), out
-- of order (returned before it was picked up). Only returned and out have days.
-- Days are those of the place, see journeys. If the shipment is no longer tracked, the return of an
-- open container may be unreported.

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
    from {{analytics}}.journeys as journey
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

comment on view {{analytics}}.empty_return_times is
    'One row per container picked up full or returned empty: how long the line''s equipment was '
    'out.';
comment on column {{analytics}}.empty_return_times.container_id is
    'Container; containers.';
comment on column {{analytics}}.empty_return_times.shipment_id is
    'Shipment; shipments.';
comment on column {{analytics}}.empty_return_times.pod_terminal_id is
    'Terminal at the port of discharge; terminals.';
comment on column {{analytics}}.empty_return_times.container_number is
    'Container number.';
comment on column {{analytics}}.empty_return_times.bill_of_lading_number is
    'Bill of lading number of the shipment.';
comment on column {{analytics}}.empty_return_times.shipping_line_scac is
    'SCAC of the shipping line.';
comment on column {{analytics}}.empty_return_times.customer_name is
    'Customer of the shipment.';
comment on column {{analytics}}.empty_return_times.ref_numbers_text is
    'Reference numbers of container and shipment, parted by ", ".';
comment on column {{analytics}}.empty_return_times.tags_text is
    'Tags of the shipment, parted by ", ".';
comment on column {{analytics}}.empty_return_times.custom_fields is
    'Custom fields of container and shipment: slug and value. Null: none.';
comment on column {{analytics}}.empty_return_times.equipment_type is
    'dry, reefer and so on.';
comment on column {{analytics}}.empty_return_times.equipment_length is
    'Length in feet.';
comment on column {{analytics}}.empty_return_times.state is
    'returned, out, pickup not reported, or out of order.';
comment on column {{analytics}}.empty_return_times.days is
    'Days of 24 hours from full out to empty in; to as_of() while it is out. Null in the other '
    'states.';
comment on column {{analytics}}.empty_return_times.calendar_days is
    'Calendar days from the local day of full out to that of empty in, the day after pickup is 1; '
    'to today at the place of pickup while it is out. Null in the other states, and where '
    'PostgreSQL does not know a zone.';
comment on column {{analytics}}.empty_return_times.is_tracking_stopped is
    'Whether the service no longer tracks the shipment: an open one may have been returned.';
comment on column {{analytics}}.empty_return_times.is_zone_known is
    'Whether the zones of the times that are there are known. False: where a zone is missing the '
    'time is local wall time taken as it is, and days can be off by the zone''s offset.';
comment on column {{analytics}}.empty_return_times.full_out_at is
    'Last pickup of the full container. UTC.';
comment on column {{analytics}}.empty_return_times.empty_terminated_at is
    'Return of the empty container. UTC.';
comment on column {{analytics}}.empty_return_times.full_out_local is
    'Last pickup, wall time at the place. Unconverted where the zone is missing; null where '
    'PostgreSQL does not know it.';
comment on column {{analytics}}.empty_return_times.empty_terminated_local is
    'Return, wall time at the place. Unconverted where the zone is missing; null where PostgreSQL '
    'does not know it.';
