-- Reports of ships that took containers on and off
--
-- One row per container and transport event of a transshipment or a feeder; of a container with a
-- feeder also those of other ships at places that are known. Estimated events are left out, and
-- those of an instant after as_of(). The base of ship_changes.

create view {{parts}}.ship_reports as
with

journeys as not materialized (

    select
        container.container_id,
        container.shipment_id,
        container.number as container_number,
        shipment.shipping_line_scac,
        coalesce(
            least(container.pod_arrived_at, container.pod_discharged_at) <= {{analytics}}.as_of(),
            false
        ) as is_landed,
        coalesce(shipment.is_tracking_stopped, false) as is_tracking_stopped
    from {{parts}}.known_containers as container
    left join {{parts}}.known_shipments as shipment
        on shipment.shipment_id = container.shipment_id

),

-- Two halves, so that each can be read from its index; the second is read of containers with a
-- feeder only.
sightings as (

    select
        journey.container_id,
        journey.shipment_id,
        journey.container_number,
        journey.shipping_line_scac,
        journey.is_landed,
        journey.is_tracking_stopped,
        sighting.location_locode,
        sighting.location_id,
        sighting.timezone,
        sighting.vessel_id,
        sighting.event,
        sighting.timestamp
    from journeys as journey
    inner join {{parts}}.known_transport_events as sighting
        on sighting.container_id = journey.container_id
    where sighting.event in (
            'container.transport.transshipment_arrived',
            'container.transport.transshipment_discharged',
            'container.transport.transshipment_loaded',
            'container.transport.transshipment_departed',
            'container.transport.feeder_arrived',
            'container.transport.feeder_discharged',
            'container.transport.feeder_loaded',
            'container.transport.feeder_departed'
        )
        and (sighting.timestamp > {{analytics}}.as_of()) is not true

    union all

    select
        journey.container_id,
        journey.shipment_id,
        journey.container_number,
        journey.shipping_line_scac,
        journey.is_landed,
        journey.is_tracking_stopped,
        ship.location_locode,
        ship.location_id,
        ship.timezone,
        ship.vessel_id,
        ship.event,
        ship.timestamp
    from journeys as journey
    inner join {{parts}}.known_transport_events as ship
        on ship.container_id = journey.container_id
    where ship.event in (
            'container.transport.vessel_arrived',
            'container.transport.vessel_discharged',
            'container.transport.vessel_loaded',
            'container.transport.vessel_departed'
        )
        and ship.location_locode is not null
        and (ship.timestamp > {{analytics}}.as_of()) is not true
        and exists (
            select
            from {{parts}}.known_transport_events as feeder
            where feeder.container_id = journey.container_id
                and feeder.event in (
                    'container.transport.feeder_arrived',
                    'container.transport.feeder_discharged',
                    'container.transport.feeder_loaded',
                    'container.transport.feeder_departed'
                )
        )

)

select
    sighting.container_id,
    sighting.shipment_id,
    sighting.container_number,
    sighting.shipping_line_scac,
    sighting.is_landed,
    sighting.is_tracking_stopped,
    sighting.location_locode,
    sighting.location_id,
    sighting.timezone,
    sighting.vessel_id,
    report.ship,
    report.deed,
    sighting.timestamp
from sightings as sighting
inner join {{parts}}.ship_deeds as report
    on report.event = sighting.event;
