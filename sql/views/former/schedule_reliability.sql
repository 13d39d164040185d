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
from {{parts}}.shipment_arrivals
group by
    shipping_line_scac,
    port_of_lading_locode,
    port_of_discharge_locode,
    arrival_month_on;
