-- How good the ETA was, days ahead
--
-- One row per shipping line and horizon bucket: 0-1, 2-3, 4-7, 8-14, 15-21, 22+ days before the arrival.
--
-- For each shipment that has arrived, the ETA that stood at each horizon is held against the arrival. Horizons are whole days: the
-- arrival minus 0, 1, 2 … 60 times 24 hours; further back is not looked at. A shipment gives one sample for each of these instants
-- at which a version of ours with an ETA stood, so n counts samples. Before our first sight of a shipment there are none: what was
-- found already arrived counts nowhere.
-- Error: arrival minus ETA; late is positive. Where the zone is missing both are local wall time and the error is right, but the
-- horizon is off by the offset of the zone.

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
standing as (

    select
        shipment.shipment_id,
        shipment.shipping_line_scac,
        shipment.shipping_line_name,
        extract(epoch from shipment.pod_ata_at - version.pod_eta_at) / 3600 as error_hours,
        greatest(
            floor(extract(epoch from shipment.pod_ata_at - version.valid_to) / 86400) + 1, 0
        ) as first_day,
        floor(extract(epoch from shipment.pod_ata_at - version.valid_from) / 86400) as last_day
    from {{analytics}}.known_shipments as shipment
    inner join {{data}}.shipment_history as version
        on version.shipment_id = shipment.shipment_id
        and version.valid_from <= shipment.pod_ata_at
    where version.pod_eta_at is not null
        and version.valid_from <= {{analytics}}.as_of()

),

-- One row per shipment in a bucket, so that shipments can be counted without sorting them.
samples as (

    select
        standing.shipment_id,
        standing.shipping_line_scac,
        standing.shipping_line_name,
        horizons.horizon,
        horizons.first_day,
        least(standing.last_day, horizons.last_day)
            - greatest(standing.first_day, horizons.first_day) + 1 as n,
        standing.error_hours
    from standing
    inner join horizons
        on horizons.first_day <= standing.last_day
        and horizons.last_day >= standing.first_day
    where standing.first_day <= standing.last_day

),

shipments as (

    select
        shipment_id,
        shipping_line_scac,
        min(shipping_line_name) as shipping_line_name,
        horizon,
        first_day,
        sum(n) as n,
        sum(n * abs(error_hours)) as absolute_hours,
        sum(n * error_hours) as hours,
        coalesce(sum(n) filter (where abs(error_hours) <= 24), 0) as within_24_hours
    from samples
    group by shipment_id, shipping_line_scac, horizon, first_day

)

select
    shipping_line_scac,
    min(shipping_line_name) as shipping_line_name,
    horizon,
    first_day::integer as horizon_from_days,
    sum(n)::bigint as n,
    count(*) as shipments,
    round(sum(absolute_hours) / sum(n), 2) as mean_absolute_error_hours,
    round(sum(hours) / sum(n), 2) as bias_hours,
    round(sum(within_24_hours) / sum(n), 4) as within_24_hours_share
from shipments
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
