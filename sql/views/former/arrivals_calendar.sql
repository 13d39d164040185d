-- Arrivals in the next 30 days
--
-- One row per port of discharge, shipping line and local day of the ETA, for containers that have
-- not arrived. arrivals has the containers, without a horizon.
--
-- See expected_arrivals for their states and the day of the ETA. Containers that were left behind
-- lack an ETA of their own and do not count.
-- The 30 days are calendar days at the port, today the first of them. A container whose ETA has
-- passed without an arrival is listed on the day of that ETA, before today, and also counted in
-- eta_passed, while its shipment is tracked. Shipments whose booking was cancelled do not count.
-- The view counts containers, not shipments: a shipment whose containers are still unknown is
-- missing.
-- teu: 20 ft = 1, 40 ft = 2, 45 ft = 2.25, 10 ft = 0.5. Containers of another or unknown length are
-- counted separately and are not in teu. ETAs in a zone that PostgreSQL does not know are in a row
-- without a day if the instant is within 30 times 24 hours. When the service no longer tracks the
-- shipment, its ETA no longer changes: such containers are included, and also counted separately.

create view {{analytics}}.arrivals_calendar as
select
    arrival.port_of_discharge_locode,
    arrival.shipping_line_scac,
    min(arrival.port_of_discharge_name) as port_of_discharge_name,
    min(arrival.shipping_line_name) as shipping_line_name,
    arrival.arrival_on,
    count(distinct arrival.shipment_id) as shipments,
    count(*) as containers,
    coalesce(sum(arrival.teu), 0) as teu,
    count(*) filter (where arrival.teu is null) as length_unknown,
    count(*) filter (where arrival.is_eta_passed) as eta_passed,
    count(*) filter (where arrival.is_tracking_stopped) as tracking_stopped,
    count(*) filter (where not arrival.is_zone_known) as zone_unknown
from {{parts}}.expected_arrivals as arrival
where arrival.state in ('expected', 'eta_passed', 'eta_unclear')
    and (
        arrival.is_eta_passed and not arrival.is_tracking_stopped
        or arrival.days_until between 0 and 29
        or arrival.days_until is null
        and not arrival.is_eta_passed
        and arrival.eta_at < {{analytics}}.as_of() + interval '720 hours'
    )
group by arrival.port_of_discharge_locode, arrival.shipping_line_scac, arrival.arrival_on;
