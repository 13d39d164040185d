-- How good the ETA was, days ahead
--
-- One row per shipping line and horizon bucket: 0-1, 2-3, 4-7, 8-14, 15-21, 22+ days before the
-- arrival.
--
-- For each shipment that has arrived, the ETA that stood at each horizon is held against the
-- arrival. Horizons are whole days: the arrival minus 0, 1, 2 … 60 times 24 hours; further back is
-- not looked at. A shipment gives one sample for each of these instants at which a version of ours
-- with an ETA stood, so n counts samples. Before our first sight of a shipment there are none: what
-- was found already arrived counts nowhere.
-- Error: arrival minus ETA; late is positive. Where the zone is missing both are local wall time
-- and the error is right, but the horizon is off by the offset of the zone.

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

-- The days before arrival at which a version stood, as a range instead of one row each.
-- date_part and not extract: the same seconds, in double precision, at a fraction of the cost.
-- Whole seconds are added up exactly.
standing as (

    select
        shipment.shipment_id,
        shipment.shipping_line_scac,
        shipment.shipping_line_name,
        version.valid_from,
        date_part('epoch', shipment.pod_ata_at - version.pod_eta_at) as error_seconds,
        greatest(
            floor(date_part('epoch', shipment.pod_ata_at - version.valid_to) / 86400) + 1, 0
        ) as first_day,
        floor(date_part('epoch', shipment.pod_ata_at - version.valid_from) / 86400) as last_day
    from {{analytics}}.known_shipments as shipment
    inner join {{data}}.shipment_history as version
        on version.shipment_id = shipment.shipment_id
        and version.valid_from <= shipment.pod_ata_at
    where version.pod_eta_at is not null
        and version.valid_from <= {{analytics}}.as_of()

),

-- With each version the nearest day of the one that gave samples before it: where that day lies in
-- the same bucket, the shipment is counted there already. So shipments are counted without grouping
-- by them.
sampled as (

    select
        shipping_line_scac,
        shipping_line_name,
        error_seconds,
        first_day,
        last_day,
        lag(first_day) over (
            -- The line as well, so that a question about one line reads the versions of that line
            -- only.
            partition by shipment_id, shipping_line_scac
            order by valid_from
        ) as first_day_before
    from standing
    where first_day <= last_day

),

-- Versions that stood on the same days are added up before their days are put into buckets.
spans as (

    select
        shipping_line_scac,
        first_day,
        last_day,
        first_day_before,
        min(shipping_line_name) as shipping_line_name,
        count(*) as versions,
        sum(abs(error_seconds))::numeric as absolute_seconds,
        sum(error_seconds)::numeric as seconds,
        count(*) filter (where abs(error_seconds) <= 86400) as within_24_hours
    from sampled
    group by shipping_line_scac, first_day, last_day, first_day_before

),

samples as (

    select
        span.shipping_line_scac,
        span.shipping_line_name,
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

)

select
    shipping_line_scac,
    min(shipping_line_name) as shipping_line_name,
    horizon,
    first_day as horizon_from_days,
    sum(days * versions)::bigint as n,
    sum(versions) filter (where is_first_of_shipment)::bigint as shipments,
    round(sum(days * absolute_seconds) / sum(days * versions) / 3600, 2)
        as mean_absolute_error_hours,
    round(sum(days * seconds) / sum(days * versions) / 3600, 2) as bias_hours,
    round(sum(days * within_24_hours) / sum(days * versions), 4) as within_24_hours_share
from samples
group by shipping_line_scac, horizon, first_day;

comment on view {{analytics}}.eta_accuracy is
    'Error of the ETA that stood so many days before the arrival, by shipping line and horizon.';
comment on column {{analytics}}.eta_accuracy.shipping_line_scac is
    'SCAC of the shipping line.';
comment on column {{analytics}}.eta_accuracy.shipping_line_name is
    'Name of the shipping line; one of them where there are several.';
comment on column {{analytics}}.eta_accuracy.horizon is
    'Days of 24 hours before the arrival: 0-1, 2-3, 4-7, 8-14, 15-21, 22+ (to 60).';
comment on column {{analytics}}.eta_accuracy.horizon_from_days is
    'First day of the bucket; to sort by.';
comment on column {{analytics}}.eta_accuracy.n is
    'Samples: whole days before the arrival of a shipment at which an ETA stood.';
comment on column {{analytics}}.eta_accuracy.shipments is
    'Shipments the samples are of.';
comment on column {{analytics}}.eta_accuracy.mean_absolute_error_hours is
    'Mean of the distance between arrival and ETA over n, in hours.';
comment on column {{analytics}}.eta_accuracy.bias_hours is
    'Mean of arrival minus ETA over n, in hours; positive: ships come later than said.';
comment on column {{analytics}}.eta_accuracy.within_24_hours_share is
    'Share of n whose ETA was within 24 hours of the arrival, from 0 to 1.';
