-- How often ships arrive when first promised
--
-- One row per shipping line, lane (port of lading, port of discharge) and month of arrival at the
-- port.
--
-- The unit is the arrival of a shipment: shipments on one ship count each.
-- On time: within one calendar day, local to the port, either side of the first ETA
-- (shipment_arrivals says which ETA that is).
-- Late and early: outside of that window; the mean delay of the late ones is over those alone.
-- Delays are elapsed days.
-- Arrivals without a first ETA are counted separately and are in no share. The month is null for
-- arrivals whose zone PostgreSQL does not know: their calendar day is unknown, so they are in no
-- share either.

create view {{analytics}}.schedule_reliability as
select
    shipping_line_scac,
    port_of_lading_locode,
    port_of_discharge_locode,
    min(shipping_line_name) as shipping_line_name,
    min(port_of_lading_name) as port_of_lading_name,
    min(port_of_discharge_name) as port_of_discharge_name,
    arrival_month_on,
    count(days_late) as n,
    count(*) filter (where days_late between -1 and 1) as on_time,
    count(*) filter (where days_late < -1) as early,
    count(*) filter (where days_late > 1) as late,
    count(*) filter (where days_late is null) as not_measured,
    round(
        count(*) filter (where days_late between -1 and 1)::numeric / nullif(count(days_late), 0), 4
    ) as on_time_share,
    round(avg(delay_days) filter (where days_late > 1), 2) as mean_delay_of_late_days,
    round(avg(delay_days) filter (where days_late is not null), 2) as mean_delay_days
from {{analytics}}.shipment_arrivals
group by
    shipping_line_scac,
    port_of_lading_locode,
    port_of_discharge_locode,
    arrival_month_on;

comment on view {{analytics}}.schedule_reliability is
    'Share of arrivals within one calendar day either side of the first ETA, by shipping line, '
    'lane and month of arrival.';
comment on column {{analytics}}.schedule_reliability.shipping_line_scac is
    'SCAC of the shipping line.';
comment on column {{analytics}}.schedule_reliability.port_of_lading_locode is
    'UN/LOCODE of the port of lading.';
comment on column {{analytics}}.schedule_reliability.port_of_discharge_locode is
    'UN/LOCODE of the port of discharge.';
comment on column {{analytics}}.schedule_reliability.shipping_line_name is
    'Name of the shipping line; one of them where there are several.';
comment on column {{analytics}}.schedule_reliability.port_of_lading_name is
    'Name of the port of lading; one of them where there are several.';
comment on column {{analytics}}.schedule_reliability.port_of_discharge_name is
    'Name of the port of discharge; one of them where there are several.';
comment on column {{analytics}}.schedule_reliability.arrival_month_on is
    'First day of the month of arrival, by the calendar of the port. Null: the zone is not known '
    'to PostgreSQL.';
comment on column {{analytics}}.schedule_reliability.n is
    'Shipments that arrived and had a first ETA.';
comment on column {{analytics}}.schedule_reliability.on_time is
    'Of n, those within one calendar day of the first ETA.';
comment on column {{analytics}}.schedule_reliability.early is
    'Of n, those more than one calendar day before the first ETA.';
comment on column {{analytics}}.schedule_reliability.late is
    'Of n, those more than one calendar day after the first ETA.';
comment on column {{analytics}}.schedule_reliability.not_measured is
    'Shipments that arrived beside n: without a first ETA, or with an unknown zone. In no share.';
comment on column {{analytics}}.schedule_reliability.on_time_share is
    'on_time / n, from 0 to 1. Null when n is 0.';
comment on column {{analytics}}.schedule_reliability.mean_delay_of_late_days is
    'Mean of arrival minus first ETA over the late ones, in days of 24 hours.';
comment on column {{analytics}}.schedule_reliability.mean_delay_days is
    'Mean of arrival minus first ETA over all n, in days of 24 hours; early ones are negative.';
