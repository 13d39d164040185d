-- How good the ETA was, days ahead
--
-- One row per cut, period, value of the cut, and horizon bucket: 0-1, 2-3, 4-7, 8-14, 15-21, 22+
-- days before the arrival.
--
-- cut, the common property of the shipments in a row:
--   line          the shipping line
--   lane          port of lading and port of discharge
--   vessel        the vessel that came to the port of discharge: its IMO number, or its name. It
--                 is the last vessel: an ETA can come from an earlier one
-- period, which shipments are in it:
--   all           all that have arrived
--   last 90 days  shipments that arrived in the 90 times 24 hours before as_of()
-- Each cut counts every shipment again: add up, and compare, only rows of one cut and one period.
-- Columns that do not belong to the cut are null; the others are null if the value was not
-- reported.
--
-- For each shipment that has arrived, the view compares the ETA at each horizon with the arrival.
-- Horizons are whole days: the arrival minus 0, 1, 2 … 60 times 24 hours; it looks no further back.
-- A shipment gives one sample for each of these instants at which our version had an ETA, so n
-- counts samples. Samples begin with our first sight of a shipment: one that had
-- arrived by then does not count.
-- Error: arrival minus ETA; late is positive. Where the zone is missing both are local wall time
-- and the error is right, but the horizon is off by the offset of the zone.
-- is_single: the row counts one shipment only, even if it has samples for many days. The question
-- leaves such rows out by default.

create view {{analytics}}.eta_accuracy as
with

horizons (horizon, first_day, last_day) as (

    values
        ('0-1', 0, 1),
        ('2-3', 2, 3),
        ('4-7', 4, 7),
        ('8-14', 8, 14),
        ('15-21', 15, 21),
        ('22+', 22, 60)

),

-- The days before arrival at which a version was valid, as a range instead of one row each.
-- date_part and not extract: the same seconds, in double precision, at a fraction of the cost.
-- Whole seconds are added up exactly.
standing as (

    select
        shipment.shipment_id,
        shipment.shipping_line_scac,
        shipment.port_of_lading_locode,
        shipment.port_of_discharge_locode,
        coalesce(shipment.pod_vessel_imo, upper(btrim(shipment.pod_vessel_name))) as vessel,
        shipment.pod_vessel_imo,
        shipment.shipping_line_name,
        shipment.port_of_lading_name,
        shipment.port_of_discharge_name,
        shipment.pod_vessel_name,
        shipment.pod_ata_at >= {{analytics}}.as_of() - interval '2160 hours' as is_recent,
        version.valid_from,
        date_part('epoch', shipment.pod_ata_at - version.pod_eta_at) as error_seconds,
        greatest(
            floor(date_part('epoch', shipment.pod_ata_at - version.valid_to) / 86400) + 1, 0
        ) as first_day,
        floor(date_part('epoch', shipment.pod_ata_at - version.valid_from) / 86400) as last_day
    from {{parts}}.known_shipments as shipment
    inner join {{data}}.shipment_history as version
        on version.shipment_id = shipment.shipment_id
        and version.valid_from <= shipment.pod_ata_at
    where version.pod_eta_at is not null
        and version.valid_from <= {{analytics}}.as_of()
        and shipment.pod_ata_at <= {{analytics}}.as_of()

),

-- With each version the nearest day of the one that gave samples before it: where that day lies in
-- the same bucket, the shipment is counted there already. So shipments are counted without grouping
-- by them.
sampled as (

    select
        shipping_line_scac,
        port_of_lading_locode,
        port_of_discharge_locode,
        vessel,
        pod_vessel_imo,
        shipping_line_name,
        port_of_lading_name,
        port_of_discharge_name,
        pod_vessel_name,
        is_recent,
        error_seconds,
        first_day,
        last_day,
        lag(first_day) over (
            partition by shipment_id
            order by valid_from
        ) as first_day_before
    from standing
    where first_day <= last_day

),

-- Versions that were valid on the same days are added up before their days are put into buckets.
spans as (

    select
        shipping_line_scac,
        port_of_lading_locode,
        port_of_discharge_locode,
        vessel,
        is_recent,
        first_day,
        last_day,
        first_day_before,
        min(pod_vessel_imo) as pod_vessel_imo,
        min(shipping_line_name) as shipping_line_name,
        min(port_of_lading_name) as port_of_lading_name,
        min(port_of_discharge_name) as port_of_discharge_name,
        min(pod_vessel_name) as pod_vessel_name,
        count(*) as versions,
        sum(abs(error_seconds))::numeric as absolute_seconds,
        sum(error_seconds)::numeric as seconds,
        count(*) filter (where abs(error_seconds) <= 86400) as within_24_hours
    from sampled
    group by
        shipping_line_scac,
        port_of_lading_locode,
        port_of_discharge_locode,
        vessel,
        is_recent,
        first_day,
        last_day,
        first_day_before

),

samples as (

    select
        period.period,
        span.shipping_line_scac,
        span.port_of_lading_locode,
        span.port_of_discharge_locode,
        span.vessel,
        span.pod_vessel_imo,
        span.shipping_line_name,
        span.port_of_lading_name,
        span.port_of_discharge_name,
        span.pod_vessel_name,
        horizons.horizon,
        horizons.first_day,
        (
            least(span.last_day, horizons.last_day)
            - greatest(span.first_day, horizons.first_day) + 1
        )::numeric as days,
        span.versions,
        span.absolute_seconds,
        span.seconds,
        span.within_24_hours,
        coalesce(span.first_day_before > horizons.last_day, true) as is_first_of_shipment
    from spans as span
    inner join horizons
        on horizons.first_day <= span.last_day
        and horizons.last_day >= span.first_day
    inner join (values ('all'), ('last 90 days')) as period (period)
        on period.period = 'all'
        or span.is_recent

)

select
    case
        when grouping(shipping_line_scac) = 0 then 'line'
        when grouping(vessel) = 0 then 'vessel'
        else 'lane'
    end as cut,
    period,
    nullif(
        concat_ws(
            ' ',
            shipping_line_scac,
            port_of_lading_locode || '-' || port_of_discharge_locode,
            case when grouping(vessel) = 0
                then coalesce(min(pod_vessel_name), min(pod_vessel_imo))
            end
        ),
        ''
    ) as subject,
    shipping_line_scac,
    port_of_lading_locode,
    port_of_discharge_locode,
    case when grouping(vessel) = 0 then min(pod_vessel_imo) end as pod_vessel_imo,
    case when grouping(shipping_line_scac) = 0 then min(shipping_line_name) end
        as shipping_line_name,
    case when grouping(port_of_lading_locode) = 0 then min(port_of_lading_name) end
        as port_of_lading_name,
    case when grouping(port_of_lading_locode) = 0 then min(port_of_discharge_name) end
        as port_of_discharge_name,
    case when grouping(vessel) = 0 then min(pod_vessel_name) end as pod_vessel_name,
    horizon,
    first_day as horizon_from_days,
    sum(days * versions)::bigint as n,
    sum(versions) filter (where is_first_of_shipment)::bigint as shipments,
    round(sum(days * absolute_seconds) / sum(days * versions) / 3600, 2)
        as mean_absolute_error_hours,
    round(sum(days * seconds) / sum(days * versions) / 3600, 2) as bias_hours,
    round(sum(days * within_24_hours) / sum(days * versions), 4) as within_24_hours_share,
    sum(versions) filter (where is_first_of_shipment) = 1 as is_single
from samples
group by
    period,
    horizon,
    first_day,
    grouping sets (
        (shipping_line_scac),
        (port_of_lading_locode, port_of_discharge_locode),
        (vessel)
    );
