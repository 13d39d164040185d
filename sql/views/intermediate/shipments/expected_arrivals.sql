-- Containers that have not arrived, and the day of their ETA
--
-- One row per container that has not arrived at its port of discharge, as known at as_of():
-- journeys decides, so a container that is itself reported as arrived, discharged or further has no
-- row, even if its shipment has not arrived. Cancelled bookings are left out. The base of arrivals
-- and arrivals_calendar.
--
-- state, in this order:
--   left_behind   its shipment arrived more than two days ago, and nothing says that the container
--                 itself did: the ETA is that of the ship that came without it
--   no_eta        also without a shipment
--   eta_unclear   the ETA has a zone that PostgreSQL does not know: nobody knows its day
--   eta_passed    the day of the ETA is before today
--   expected      today or later
-- A container whose shipment is no longer tracked is in its state too: its ETA no longer changes.
--
-- arrival_on: the day of the ETA in the zone that was sent with it. Where none was sent, it is
-- local wall time marked as UTC, which gives the day; today is then that of the port itself
-- (journeys), else that in UTC. is_eta_passed: of an unclear ETA, its instant has passed.
-- mode: rail if the container is expected to go on by rail, else truck.
-- teu: 20 ft = 1, 40 ft = 2, 45 ft = 2.25, 10 ft = 0.5; null for another or unknown length.

create view {{parts}}.expected_arrivals as
select
    journey.container_id,
    journey.shipment_id,
    journey.pod_terminal_id,
    journey.container_number,
    journey.bill_of_lading_number,
    journey.shipping_line_scac,
    shipment.shipping_line_name,
    journey.port_of_discharge_locode,
    journey.port_of_discharge_name,
    journey.destination_locode,
    journey.pod_vessel_name,
    journey.pod_vessel_imo,
    journey.pod_voyage_number,
    journey.equipment_type,
    journey.equipment_height,
    case
        when journey.is_left_behind then 'left_behind'
        when journey.pod_eta_at is null then 'no_eta'
        when day.arrival_on is null then 'eta_unclear'
        when day.arrival_on < day.today_on then 'eta_passed'
        else 'expected'
    end as state,
    case when journey.goes_by_rail then 'rail' else 'truck' end as mode,
    journey.tracking_stopped_reason,
    journey.equipment_length,
    case journey.equipment_length
        when 10 then 0.5
        when 20 then 1
        when 40 then 2
        when 45 then 2.25
    end as teu,
    day.arrival_on - day.today_on as days_until,
    journey.is_tracking_stopped,
    zone.name is not null as is_zone_known,
    coalesce(day.arrival_on < day.today_on, journey.pod_eta_at < {{analytics}}.as_of())
        as is_eta_passed,
    day.arrival_on,
    (journey.departed_at at time zone journey.lading_wall_zone)::date as departed_on,
    journey.pod_eta_at as eta_at,
    day.eta_local,
    shipment.pod_original_eta_at as original_eta_at,
    journey.shipment_arrived_at
from {{parts}}.journey_facts as journey
left join {{parts}}.known_shipments as shipment
    on shipment.shipment_id = journey.shipment_id
left join {{analytics}}.time_zones as zone
    on zone.name = shipment.pod_timezone
-- Converted in one place, because converting an instant is expensive.
left join lateral (

    select
        local.eta as eta_local,
        local.eta::date as arrival_on,
        ({{analytics}}.as_of() at time zone local.zone)::date as today_on
    from (
        select
            case
                when shipment.pod_timezone is null then coalesce(journey.port_zone, 'UTC')
                else zone.name
            end as zone,
            journey.pod_eta_at at time zone case
                when shipment.pod_timezone is null then 'UTC'
                else zone.name
            end as eta
    ) as local

) as day
    on true
where (not journey.has_vessel_arrived or journey.is_left_behind)
    and journey.tracking_stopped_reason is distinct from 'booking_cancelled';
