-- Places at which containers changed ships
--
-- One row per container and place of ship_reports where a transshipment is reported, or where a
-- feeder took it on or off and another ship did the rest. transshipments says which report counts.

create view {{parts}}.ship_changes as
select
    report.container_id,
    report.shipment_id,
    report.container_number,
    report.shipping_line_scac,
    report.is_landed,
    report.is_tracking_stopped,
    report.location_locode,
    max(report.location_id) as location_id,
    (
        array_agg(
            report.timezone
            order by report.ship = 'vessel', report.timestamp, report.timezone
        )
            filter (where report.deed = 'arrived')
    )[1] as arrived_zone,
    (
        array_agg(
            report.timezone
            order by report.ship = 'vessel', report.timestamp, report.timezone
        )
            filter (where report.deed = 'discharged')
    )[1] as discharged_zone,
    (
        array_agg(
            report.timezone
            order by
                report.ship = 'vessel',
                report.timestamp desc nulls last,
                report.timezone
        )
            filter (where report.deed = 'loaded')
    )[1] as loaded_zone,
    (
        array_agg(
            report.timezone
            order by
                report.ship = 'vessel',
                report.timestamp desc nulls last,
                report.timezone
        )
            filter (where report.deed = 'departed')
    )[1] as departed_zone,
    coalesce(
        max(report.vessel_id) filter (
            where report.deed in ('arrived', 'discharged') and report.ship <> 'vessel'
        ),
        max(report.vessel_id) filter (where report.deed in ('arrived', 'discharged'))
    ) as vessel_in_id,
    coalesce(
        max(report.vessel_id) filter (
            where report.deed in ('loaded', 'departed') and report.ship <> 'vessel'
        ),
        max(report.vessel_id) filter (where report.deed in ('loaded', 'departed'))
    ) as vessel_out_id,
    coalesce(
        min(report.timestamp) filter (
            where report.deed = 'arrived' and report.ship <> 'vessel'
        ),
        min(report.timestamp) filter (where report.deed = 'arrived')
    ) as arrived_at,
    coalesce(
        min(report.timestamp) filter (
            where report.deed = 'discharged' and report.ship <> 'vessel'
        ),
        min(report.timestamp) filter (where report.deed = 'discharged')
    ) as discharged_at,
    coalesce(
        max(report.timestamp) filter (
            where report.deed = 'loaded' and report.ship <> 'vessel'
        ),
        max(report.timestamp) filter (where report.deed = 'loaded')
    ) as loaded_at,
    coalesce(
        max(report.timestamp) filter (
            where report.deed = 'departed' and report.ship <> 'vessel'
        ),
        max(report.timestamp) filter (where report.deed = 'departed')
    ) as departed_at
from {{parts}}.ship_reports as report
-- By all that is known of the container, not by its id alone: what a question filters by then
-- reaches the transport events.
group by
    report.container_id,
    report.shipment_id,
    report.container_number,
    report.shipping_line_scac,
    report.is_landed,
    report.is_tracking_stopped,
    report.location_locode
having bool_or(report.ship = 'transshipment')
    or (
        bool_or(report.ship = 'feeder')
        and bool_or(report.deed in ('arrived', 'discharged'))
        and bool_or(report.deed in ('loaded', 'departed'))
        and report.location_locode is not null
    );
