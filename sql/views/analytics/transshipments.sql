-- Where containers changed ships
--
-- One row per container and place at which it changed ships on the way to its port of discharge.
--
-- A place counts when the container has a transshipment event there, or when a feeder and another ship met there: it came in by
-- feeder (feeder_arrived or feeder_discharged) and went out by ship, or came in by ship and went out by feeder (feeder_loaded or
-- feeder_departed). The port a feeder starts from, or ends at, is no change of ships. Events of the main ship (vessel_*) at the place
-- fill the side of the change that the feeder did not.
-- Places are told apart by UN/LOCODE; events that do not say where they were share one row without a place, and only transshipment
-- events make such a row. Estimated events are left out. Of several reports of one thing the earliest arrival and discharge and the
-- latest loading and departure count; a place called at twice is one row.
-- dwell_hours: from arrival, else discharge, to departure, else loading. Null while one side is missing.
-- is_waiting: neither loaded nor departed, and not yet arrived at the port of discharge; hours_so_far runs to as_of().

create view {{analytics}}.transshipments as
with

-- What an event says in parts: which kind of ship, and what it did. As rows, because taking names apart costs more than a join.
deeds (event, ship, deed) as (

    values
        ('container.transport.transshipment_arrived', 'transshipment', 'arrived'),
        ('container.transport.transshipment_discharged', 'transshipment', 'discharged'),
        ('container.transport.transshipment_loaded', 'transshipment', 'loaded'),
        ('container.transport.transshipment_departed', 'transshipment', 'departed'),
        ('container.transport.feeder_arrived', 'feeder', 'arrived'),
        ('container.transport.feeder_discharged', 'feeder', 'discharged'),
        ('container.transport.feeder_loaded', 'feeder', 'loaded'),
        ('container.transport.feeder_departed', 'feeder', 'departed'),
        ('container.transport.vessel_arrived', 'vessel', 'arrived'),
        ('container.transport.vessel_discharged', 'vessel', 'discharged'),
        ('container.transport.vessel_loaded', 'vessel', 'loaded'),
        ('container.transport.vessel_departed', 'vessel', 'departed')

)

select
    container.container_id,
    container.shipment_id,
    stop.location_id,
    container.number as container_number,
    shipment.shipping_line_scac,
    stop.location_locode,
    -- Looked up and not joined: PostgreSQL takes a hash join of what is made anew for each container to cost nothing, and would make it of all.
    (
        select port.name
        from {{data}}.ports as port
        where port.port_id = stop.location_id
    ) as location_name,
    (
        select vessel.name
        from {{data}}.vessels as vessel
        where vessel.vessel_id = stop.vessel_in_id
    ) as vessel_in_name,
    (
        select vessel.name
        from {{data}}.vessels as vessel
        where vessel.vessel_id = stop.vessel_out_id
    ) as vessel_out_name,
    round(extract(epoch from
        coalesce(stop.departed_at, stop.loaded_at) - coalesce(stop.arrived_at, stop.discharged_at)
    ) / 3600, 2) as dwell_hours,
    case
        when stop.loaded_at is null
            and stop.departed_at is null
            and container.pod_arrived_at is null
            and container.pod_discharged_at is null
            then round(extract(epoch from
                {{analytics}}.as_of() - coalesce(stop.arrived_at, stop.discharged_at)
            ) / 3600, 2)
    end as hours_so_far,
    stop.loaded_at is null
        and stop.departed_at is null
        and container.pod_arrived_at is null
        and container.pod_discharged_at is null as is_waiting,
    shipment.line_tracking_stopped_at is not null as is_tracking_stopped,
    stop.is_zone_known,
    stop.arrived_at,
    stop.discharged_at,
    stop.loaded_at,
    stop.departed_at,
    stop.arrived_at at time zone
        stop.clock as arrived_local,
    stop.discharged_at at time zone
        stop.clock as discharged_local,
    stop.loaded_at at time zone
        stop.clock as loaded_local,
    stop.departed_at at time zone
        stop.clock as departed_local
from {{analytics}}.known_containers as container
left join {{analytics}}.known_shipments as shipment
    on shipment.shipment_id = container.shipment_id
cross join lateral (

    select
        change.location_locode,
        change.location_id,
        change.vessel_in_id,
        change.vessel_out_id,
        change.arrived_at,
        change.discharged_at,
        change.loaded_at,
        change.departed_at,
        change.zone is not null as is_zone_known,
        coalesce(change.zone, case when change.timezone is null then 'UTC' end) as clock
    from (

        select
            sighting.location_locode,
            max(sighting.location_id) as location_id,
            max(sighting.timezone) as timezone,
            (
                select zone.name
                from {{analytics}}.time_zones as zone
                where zone.name = max(sighting.timezone)
            ) as zone,
            coalesce(
                max(sighting.vessel_id) filter (
                    where report.deed in ('arrived', 'discharged') and report.ship <> 'vessel'
                ),
                max(sighting.vessel_id) filter (where report.deed in ('arrived', 'discharged'))
            ) as vessel_in_id,
            coalesce(
                max(sighting.vessel_id) filter (
                    where report.deed in ('loaded', 'departed') and report.ship <> 'vessel'
                ),
                max(sighting.vessel_id) filter (where report.deed in ('loaded', 'departed'))
            ) as vessel_out_id,
            coalesce(
                min(sighting.timestamp) filter (
                    where report.deed = 'arrived' and report.ship <> 'vessel'
                ),
                min(sighting.timestamp) filter (where report.deed = 'arrived')
            ) as arrived_at,
            coalesce(
                min(sighting.timestamp) filter (
                    where report.deed = 'discharged' and report.ship <> 'vessel'
                ),
                min(sighting.timestamp) filter (where report.deed = 'discharged')
            ) as discharged_at,
            coalesce(
                max(sighting.timestamp) filter (
                    where report.deed = 'loaded' and report.ship <> 'vessel'
                ),
                max(sighting.timestamp) filter (where report.deed = 'loaded')
            ) as loaded_at,
            coalesce(
                max(sighting.timestamp) filter (
                    where report.deed = 'departed' and report.ship <> 'vessel'
                ),
                max(sighting.timestamp) filter (where report.deed = 'departed')
            ) as departed_at
        from (

            -- Two halves, so that each can be read from its index; the second is read of containers with a feeder only.
                select
                    sighting.location_locode,
                    sighting.location_id,
                    sighting.timezone,
                    sighting.vessel_id,
                    sighting.event,
                    sighting.timestamp
                from {{analytics}}.known_transport_events as sighting
                where sighting.container_id = container.container_id
                    and sighting.event in (
                        'container.transport.transshipment_arrived',
                        'container.transport.transshipment_discharged',
                        'container.transport.transshipment_loaded',
                        'container.transport.transshipment_departed',
                        'container.transport.feeder_arrived',
                        'container.transport.feeder_discharged',
                        'container.transport.feeder_loaded',
                        'container.transport.feeder_departed'
                    )

                union all

                select
                    ship.location_locode,
                    ship.location_id,
                    ship.timezone,
                    ship.vessel_id,
                    ship.event,
                    ship.timestamp
                from (

                    select
                    from {{analytics}}.known_transport_events as feeder
                    where feeder.container_id = container.container_id
                        and feeder.event in (
                            'container.transport.feeder_arrived',
                            'container.transport.feeder_discharged',
                            'container.transport.feeder_loaded',
                            'container.transport.feeder_departed'
                        )
                    limit 1

                ) as has_feeder
                cross join {{analytics}}.known_transport_events as ship
                where ship.container_id = container.container_id
                    and ship.event in (
                        'container.transport.vessel_arrived',
                        'container.transport.vessel_discharged',
                        'container.transport.vessel_loaded',
                        'container.transport.vessel_departed'
                    )
                    and ship.location_locode is not null

            ) as sighting
        inner join deeds as report
            on report.event = sighting.event
        group by sighting.location_locode
        having bool_or(report.ship = 'transshipment')
            or (
                bool_or(report.ship = 'feeder')
                and bool_or(report.deed in ('arrived', 'discharged'))
                and bool_or(report.deed in ('loaded', 'departed'))
                and sighting.location_locode is not null
            )

    ) as change

) as stop;

comment on view {{analytics}}.transshipments is
    'One row per container and place where it changed ships: arrival, discharge, loading, '
    'departure and the hours between.';
comment on column {{analytics}}.transshipments.container_id is
    'Container; containers.';
comment on column {{analytics}}.transshipments.shipment_id is
    'Shipment the container belongs to; shipments.';
comment on column {{analytics}}.transshipments.location_id is
    'Place; ports. Null: not said.';
comment on column {{analytics}}.transshipments.container_number is
    'Container number.';
comment on column {{analytics}}.transshipments.shipping_line_scac is
    'SCAC of the shipping line.';
comment on column {{analytics}}.transshipments.location_locode is
    'UN/LOCODE of the place. Null: not said.';
comment on column {{analytics}}.transshipments.location_name is
    'Name of the place.';
comment on column {{analytics}}.transshipments.vessel_in_name is
    'Ship it came with, if said.';
comment on column {{analytics}}.transshipments.vessel_out_name is
    'Ship it went on with, if said.';
comment on column {{analytics}}.transshipments.dwell_hours is
    'Hours from arrival (else discharge) to departure (else loading). Null: one side is missing.';
comment on column {{analytics}}.transshipments.hours_so_far is
    'While is_waiting: hours from arrival (else discharge) to as_of().';
comment on column {{analytics}}.transshipments.is_waiting is
    'True while it has not gone on from here, as far as was reported, and has not reached its '
    'port of discharge.';
comment on column {{analytics}}.transshipments.is_tracking_stopped is
    'Whether the service no longer tracks the shipment: a waiting one may be gone.';
comment on column {{analytics}}.transshipments.is_zone_known is
    'Whether the zone of the place is known.';
comment on column {{analytics}}.transshipments.arrived_at is
    'Arrival of the ship it came with. UTC.';
comment on column {{analytics}}.transshipments.discharged_at is
    'Discharge from it. UTC.';
comment on column {{analytics}}.transshipments.loaded_at is
    'Loading on the next ship. UTC.';
comment on column {{analytics}}.transshipments.departed_at is
    'Departure of the next ship. UTC.';
comment on column {{analytics}}.transshipments.arrived_local is
    'Arrival, wall time at the place. Unconverted where the zone is missing; null where '
    'PostgreSQL does not know it.';
comment on column {{analytics}}.transshipments.discharged_local is
    'Discharge, wall time at the place. Unconverted where the zone is missing; null where '
    'PostgreSQL does not know it.';
comment on column {{analytics}}.transshipments.loaded_local is
    'Loading, wall time at the place. Unconverted where the zone is missing; null where '
    'PostgreSQL does not know it.';
comment on column {{analytics}}.transshipments.departed_local is
    'Departure, wall time at the place. Unconverted where the zone is missing; null where '
    'PostgreSQL does not know it.';
