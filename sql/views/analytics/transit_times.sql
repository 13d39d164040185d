-- Days at sea
--
-- One row per lane (port of lading, port of discharge), shipping line and month of arrival at the
-- port of discharge.
--
-- From actual departure at the port of lading to actual arrival at the port of discharge, elapsed
-- days of 24 hours, with all transshipments in between. The unit is a shipment.
-- The month is that of the arrival: months of departure would look fast until their slow ships have
-- come in.
-- Shipments without a departure, or with one that is not before the arrival, are counted apart.
-- Where a zone is missing the source sent local wall time marked as UTC; such a figure can be off
-- by the difference of the zones. They are in, and counted.

create view {{analytics}}.transit_times as
select
    port_of_lading_locode,
    port_of_discharge_locode,
    shipping_line_scac,
    min(port_of_lading_name) as port_of_lading_name,
    min(port_of_discharge_name) as port_of_discharge_name,
    min(shipping_line_name) as shipping_line_name,
    arrival_month_on,
    count(transit_days) as n,
    count(*) filter (where transit_days is null) as not_measured,
    count(transit_days) filter (where not is_transit_exact) as zone_unknown,
    round(avg(transit_days), 2) as mean_days,
    round(percentile_cont(0.1) within group (order by transit_days)::numeric, 2) as p10_days,
    round(percentile_cont(0.5) within group (order by transit_days)::numeric, 2) as median_days,
    round(percentile_cont(0.9) within group (order by transit_days)::numeric, 2) as p90_days
from {{analytics}}.shipment_arrivals
group by
    port_of_lading_locode,
    port_of_discharge_locode,
    shipping_line_scac,
    arrival_month_on;

comment on view {{analytics}}.transit_times is
    'Days from departure at the port of lading to arrival at the port of discharge, by lane, '
    'shipping line and month of arrival.';
comment on column {{analytics}}.transit_times.port_of_lading_locode is
    'UN/LOCODE of the port of lading.';
comment on column {{analytics}}.transit_times.port_of_discharge_locode is
    'UN/LOCODE of the port of discharge.';
comment on column {{analytics}}.transit_times.shipping_line_scac is
    'SCAC of the shipping line.';
comment on column {{analytics}}.transit_times.port_of_lading_name is
    'Name of the port of lading; one of them where there are several.';
comment on column {{analytics}}.transit_times.port_of_discharge_name is
    'Name of the port of discharge; one of them where there are several.';
comment on column {{analytics}}.transit_times.shipping_line_name is
    'Name of the shipping line; one of them where there are several.';
comment on column {{analytics}}.transit_times.arrival_month_on is
    'First day of the month of arrival, by the calendar of the port of discharge. Null: the zone '
    'is not known to PostgreSQL.';
comment on column {{analytics}}.transit_times.n is
    'Shipments with a departure and a later arrival.';
comment on column {{analytics}}.transit_times.not_measured is
    'Shipments that arrived beside n: no departure known, or one that is not before the arrival.';
comment on column {{analytics}}.transit_times.zone_unknown is
    'Of n, those with a port whose zone is not known; off by up to the difference of the zones.';
comment on column {{analytics}}.transit_times.mean_days is
    'Mean, in days of 24 hours.';
comment on column {{analytics}}.transit_times.p10_days is
    'A tenth of n was at most so long, in days of 24 hours; interpolated.';
comment on column {{analytics}}.transit_times.median_days is
    'Half of n was at most so long, in days of 24 hours; interpolated.';
comment on column {{analytics}}.transit_times.p90_days is
    'Nine tenths of n were at most so long, in days of 24 hours; interpolated.';
