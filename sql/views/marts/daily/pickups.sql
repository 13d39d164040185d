-- Containers to pick up first
--
-- One row per container that a truck can fetch, as known at as_of(): it is at the port and does not
-- go on by rail, or it is at the inland ramp. Containers that wait for a train or are on one are
-- left out. See container_stays for the stays, the binding day and the states. terminal_name,
-- terminal_city, place_name and place_locode say where to go; pickup_facility_name is the place of
-- pickup that the service names, if any.
--
-- is_ready: available, and nothing blocks; see container_stays for who says so at the port and at
-- the ramp. A hold with an unknown status blocks.
-- blockers: the reasons why it is not ready: `hold: <name>` for each hold, `not available` or
-- `availability unknown`. Empty when ready. other_holds do not block.
--
-- The most urgent container is first: overdue ones with the most days over; then, as if due today,
-- containers without a last free day that have been there longer than usual (is_long_there); then
-- the fewest days left, then the longest stay. Usual is the 80th percentile of the finished stays
-- that left that terminal of the port in the same way, at the ramp of those with the same
-- destination. Containers whose departure nobody would tell are unknown and last.
--
-- Cost: is_out repeats a fact of the stay, and is known before the stays are made.

create view {{analytics}}.pickups as
select
    stay.container_id,
    stay.shipment_id,
    stay.pod_terminal_id,
    stay.container_number,
    stay.bill_of_lading_number,
    stay.shipping_line_scac,
    stay.pod_terminal,
    stay.place,
    stay.place_locode,
    stay.place_name,
    stay.terminal_name,
    stay.terminal_city,
    coalesce(facility.nickname, facility.name) as pickup_facility_name,
    stay.current_status,
    customer.customer_name,
    customer.ref_numbers_text,
    customer.tags_text,
    customer.custom_fields,
    stay.state,
    readiness.blockers,
    nullif(array_to_string(readiness.blockers, ', '), '') as blockers_text,
    stay.other_holds,
    stay.other_holds_text,
    stay.tracking_stopped_reason,
    stay.days_left,
    round(extract(epoch from {{analytics}}.as_of() - stay.start_at) / 86400, 1) as days_there,
    readiness.blockers = '{}' as is_ready,
    comparison.is_long_there,
    stay.is_zone_known,
    stay.binding_source,
    stay.binding_on,
    stay.pickup_appointment_at,
    -- It is at the terminal of the port.
    case when stay.place = 'port' then stay.pickup_appointment_at at time zone stay.wall_zone end
        as pickup_appointment_local,
    stay.pod_discharged_at,
    stay.start_at,
    stay.start_at at time zone stay.wall_zone as start_local,
    twice.also_tracked_as
from {{analytics}}.container_stays as stay
left join {{parts}}.tracked_twice as twice
    on twice.container_id = stay.container_id
left join {{data}}.terminals as facility
    on facility.terminal_id = stay.pickup_facility_id
left join lateral (

    select
        array(select 'hold: ' || held.name from unnest(stay.blocking_holds) as held (name))
        || case
            when stay.is_available then '{}'
            when not stay.is_available then array['not available']
            else array['availability unknown']
        end as blockers

) as readiness
    on true
cross join lateral (

    select
        case when stay.place = 'port' then stay.pod_terminal_id end as terminal_id,
        case when stay.place = 'port' then stay.mode end as mode,
        case when stay.place = 'ramp' then stay.place_locode end as locode,
        stay.state = 'none' as is_sought
    offset 0

) as sought
left join lateral (

    {{fragment usual_stay}}

) as others
    on true
left join lateral (

    select
        coalesce({{analytics}}.as_of() - stay.start_at > others.usual, false) as is_long_there

) as comparison
    on true
left join {{analytics}}.container_customers as customer
    on customer.container_id = stay.container_id
where stay.has_begun
    and not stay.has_ended
    and stay.mode <> 'rail'
    and not stay.is_out
order by
    stay.state = 'unknown',
    case when comparison.is_long_there then 0 else stay.days_left end,
    stay.start_at,
    stay.container_id;
