-- Arrivals in the next 30 days
--
-- One row per port of discharge, shipping line and local day of the ETA, for containers that have
-- not arrived.
--
-- The 30 days are calendar days at the port, today the first of them. A container whose ETA has
-- passed without an arrival is listed on the day of that ETA, before today, and also counted in
-- eta_passed, while its shipment is tracked. Shipments whose booking was cancelled do not count.
-- The view counts containers, not shipments: a shipment whose containers are still unknown is
-- missing. A container that is itself reported as arrived, discharged or further does not count,
-- even if its shipment has not arrived. An event after as_of() has not happened.
-- teu: 20 ft = 1, 40 ft = 2, 45 ft = 2.25, 10 ft = 0.5. Containers of another or unknown length are
-- counted separately and are not in teu. Where the zone is missing, the source sent local wall time
-- marked as UTC, which gives the day; today is then the day in UTC. ETAs in a zone that PostgreSQL
-- does not know are in a row without a day if the instant is within 30 times 24 hours. When the
-- service no longer tracks the shipment, its ETA no longer changes: such containers are included,
-- and also counted separately.

create view {{analytics}}.arrivals_calendar as
with

expected as (

    select
        shipment.shipment_id,
        shipment.port_of_discharge_locode,
        shipment.port_of_discharge_name,
        shipment.shipping_line_scac,
        shipment.shipping_line_name,
        shipment.pod_eta_at,
        shipment.is_tracking_stopped,
        zone.name is not null as is_zone_known,
        coalesce(zone.name, case when shipment.pod_timezone is null then 'UTC' end) as zone
    from {{analytics}}.known_shipments as shipment
    left join {{analytics}}.time_zones as zone
        on zone.name = shipment.pod_timezone
    where (shipment.pod_ata_at <= {{analytics}}.as_of()) is not true
        and shipment.line_tracking_stopped_reason is distinct from 'booking_cancelled'
        -- Wider than any zone needs, and cheap to test; the days are cut below.
        and (
            shipment.pod_eta_at >= {{analytics}}.as_of() - interval '2 days'
            or not shipment.is_tracking_stopped
        )
        and shipment.pod_eta_at < {{analytics}}.as_of() + interval '32 days'

),

days as (

    select
        shipment_id,
        port_of_discharge_locode,
        port_of_discharge_name,
        shipping_line_scac,
        shipping_line_name,
        is_tracking_stopped,
        is_zone_known,
        (pod_eta_at at time zone zone)::date as arrival_on,
        coalesce(
            (pod_eta_at at time zone zone)::date < ({{analytics}}.as_of() at time zone zone)::date,
            pod_eta_at < {{analytics}}.as_of()
        ) as is_eta_passed
    from expected
    where (pod_eta_at at time zone zone)::date
            - ({{analytics}}.as_of() at time zone zone)::date between 0 and 29
        or (
            zone is null
            and pod_eta_at >= {{analytics}}.as_of()
            and pod_eta_at < {{analytics}}.as_of() + interval '720 hours'
        )
        or not is_tracking_stopped
        and coalesce(
            (pod_eta_at at time zone zone)::date < ({{analytics}}.as_of() at time zone zone)::date,
            pod_eta_at < {{analytics}}.as_of()
        )

)

select
    day.port_of_discharge_locode,
    day.shipping_line_scac,
    min(day.port_of_discharge_name) as port_of_discharge_name,
    min(day.shipping_line_name) as shipping_line_name,
    day.arrival_on,
    count(distinct day.shipment_id) as shipments,
    count(*) as containers,
    sum(
        case container.equipment_length
            when 10 then 0.5
            when 20 then 1
            when 40 then 2
            when 45 then 2.25
            else 0
        end
    ) as teu,
    count(*) filter (
        where container.equipment_length is null
            or container.equipment_length not in (10, 20, 40, 45)
    ) as length_unknown,
    count(*) filter (where day.is_eta_passed) as eta_passed,
    count(*) filter (where day.is_tracking_stopped) as tracking_stopped,
    count(*) filter (where not day.is_zone_known) as zone_unknown
from days as day
inner join {{analytics}}.known_containers as container
    on container.shipment_id = day.shipment_id
where (
        least(
            container.pod_arrived_at,
            container.pod_discharged_at,
            container.pod_full_out_at,
            container.pod_rail_departed_at,
            container.final_destination_full_out_at,
            container.empty_terminated_at
        ) <= {{analytics}}.as_of()
    ) is not true
group by day.port_of_discharge_locode, day.shipping_line_scac, day.arrival_on;
