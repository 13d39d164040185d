-- Arrivals at the port of discharge
--
-- One row per shipment that has arrived at its port of discharge by as_of(). The base of
-- schedule_reliability, transit_times and carrier_scorecards, and where to look for the shipments
-- behind their shares.
--
-- first_eta_at: pod_original_eta_at, the first ETA the line reported. Where the service does not
-- have it: the first ETA among the versions we saw before the arrival; an ETA first seen after the
-- arrival is not a forecast and does not count.
-- days_late: calendar days at the port from the first ETA to the arrival, early is negative. Null
-- without a first ETA, or if PostgreSQL does not know the zone: then the day is unknown.
-- delay_days: the same as elapsed time, in days of 24 hours.
-- transit_days: departure from the port of lading to arrival, elapsed. Null when one is missing or
-- they are not in order. Where a zone is missing the source sent local wall time marked as UTC, so
-- that the figure can be off by the difference of the zones.
-- arrival_month_on, arrival_quarter_on: of the local day. Null if days_late is unknown because of
-- the zone.

create view {{analytics}}.shipment_arrivals as
with

arrived as (

    select
        shipment.shipment_id,
        shipment.shipping_line_scac,
        shipment.shipping_line_name,
        shipment.port_of_lading_locode,
        shipment.port_of_lading_name,
        shipment.port_of_discharge_locode,
        shipment.port_of_discharge_name,
        shipment.bill_of_lading_number,
        shipment.pod_vessel_imo,
        shipment.pod_vessel_name,
        shipment.created_at,
        shipment.pol_etd_at,
        shipment.pol_atd_at,
        shipment.pod_ata_at,
        coalesce(shipment.pod_original_eta_at, seen.pod_eta_at) as first_eta_at,
        shipment.pod_original_eta_at is not null as is_first_eta_of_line,
        coalesce(pod.name, case when shipment.pod_timezone is null then 'UTC' end) as pod_zone,
        pod.name is not null as is_zone_known,
        pod.name is not null and pol.name is not null as is_transit_exact
    from {{analytics}}.known_shipments as shipment
    left join {{analytics}}.time_zones as pod
        on pod.name = shipment.pod_timezone
    left join {{analytics}}.time_zones as pol
        on pol.name = shipment.pol_timezone
    -- Joined, and to the shipments that need it alone: a column with a query of its own keeps
    -- PostgreSQL to one process, and without their shipments the histories would all be read.
    left join (

        select
            unsaid.shipment_id,
            version.pod_eta_at
        from {{analytics}}.known_shipments as unsaid
        inner join {{data}}.shipment_history as version
            on version.shipment_id = unsaid.shipment_id
            and version.valid_from < unsaid.pod_ata_at
        where unsaid.pod_original_eta_at is null
            and version.pod_eta_at is not null
            and version.valid_from <= {{analytics}}.as_of()
            and not exists (
                select
                from {{data}}.shipment_history as before
                where before.shipment_id = version.shipment_id
                    and before.valid_from < version.valid_from
                    and before.pod_eta_at is not null
            )

    ) as seen
        on seen.shipment_id = shipment.shipment_id
    where shipment.pod_ata_at <= {{analytics}}.as_of()

)

select
    shipment_id,
    shipping_line_scac,
    shipping_line_name,
    port_of_lading_locode,
    port_of_lading_name,
    port_of_discharge_locode,
    port_of_discharge_name,
    bill_of_lading_number,
    pod_vessel_imo,
    pod_vessel_name,
    (first_eta_at at time zone pod_zone)::date as first_eta_on,
    (pod_ata_at at time zone pod_zone)::date as arrived_on,
    date_trunc('month', pod_ata_at at time zone pod_zone)::date as arrival_month_on,
    date_trunc('quarter', pod_ata_at at time zone pod_zone)::date as arrival_quarter_on,
    (pod_ata_at at time zone pod_zone)::date
        - (first_eta_at at time zone pod_zone)::date as days_late,
    extract(epoch from pod_ata_at - first_eta_at) / 86400 as delay_days,
    case
        when pod_ata_at > pol_atd_at then extract(epoch from pod_ata_at - pol_atd_at) / 86400
    end as transit_days,
    is_first_eta_of_line,
    is_transit_exact,
    is_zone_known,
    created_at,
    first_eta_at,
    pol_etd_at,
    pol_atd_at,
    pod_ata_at
from arrived;

comment on view {{analytics}}.shipment_arrivals is
    'One row per shipment that has arrived at its port of discharge: how late it was, and how '
    'long it was at sea.';
comment on column {{analytics}}.shipment_arrivals.shipment_id is
    'Shipment; shipments.';
comment on column {{analytics}}.shipment_arrivals.shipping_line_scac is
    'SCAC of the shipping line.';
comment on column {{analytics}}.shipment_arrivals.shipping_line_name is
    'Name of the shipping line.';
comment on column {{analytics}}.shipment_arrivals.port_of_lading_locode is
    'UN/LOCODE of the port of lading.';
comment on column {{analytics}}.shipment_arrivals.port_of_lading_name is
    'Name of the port of lading.';
comment on column {{analytics}}.shipment_arrivals.port_of_discharge_locode is
    'UN/LOCODE of the port of discharge.';
comment on column {{analytics}}.shipment_arrivals.port_of_discharge_name is
    'Name of the port of discharge.';
comment on column {{analytics}}.shipment_arrivals.bill_of_lading_number is
    'Bill of lading number.';
comment on column {{analytics}}.shipment_arrivals.pod_vessel_imo is
    'IMO number of the vessel that came to the port of discharge.';
comment on column {{analytics}}.shipment_arrivals.pod_vessel_name is
    'Name of the vessel that came to the port of discharge.';
comment on column {{analytics}}.shipment_arrivals.first_eta_on is
    'Calendar day of the first ETA at the port of discharge.';
comment on column {{analytics}}.shipment_arrivals.arrived_on is
    'Calendar day of the arrival at the port of discharge.';
comment on column {{analytics}}.shipment_arrivals.arrival_month_on is
    'First day of the month of the arrival, by the calendar of the port. Null: the zone is not '
    'known to PostgreSQL.';
comment on column {{analytics}}.shipment_arrivals.arrival_quarter_on is
    'First day of the quarter of the arrival, by the calendar of the port. Null: the zone is not '
    'known to PostgreSQL.';
comment on column {{analytics}}.shipment_arrivals.days_late is
    'Calendar days at the port from the first ETA to the arrival; early is negative. Null: no '
    'first ETA, or a zone that PostgreSQL does not know.';
comment on column {{analytics}}.shipment_arrivals.delay_days is
    'Elapsed days of 24 hours from the first ETA to the arrival; early is negative. Null: no '
    'first ETA.';
comment on column {{analytics}}.shipment_arrivals.transit_days is
    'Elapsed days of 24 hours from the actual departure at the port of lading to the actual '
    'arrival. Null: no departure known, or one that is not before the arrival.';
comment on column {{analytics}}.shipment_arrivals.is_first_eta_of_line is
    'True: the first ETA is the one the line reported first. False: it is the first that we saw '
    'before the arrival, or there is none.';
comment on column {{analytics}}.shipment_arrivals.is_transit_exact is
    'Whether both zones are known; else transit_days can be off by the difference of the zones.';
comment on column {{analytics}}.shipment_arrivals.is_zone_known is
    'Whether the zone of the port of discharge is known. False with days: the source sent local '
    'wall time marked as UTC, taken as it is.';
comment on column {{analytics}}.shipment_arrivals.created_at is
    'When the service created the shipment. UTC.';
comment on column {{analytics}}.shipment_arrivals.first_eta_at is
    'First ETA at the port of discharge. UTC.';
comment on column {{analytics}}.shipment_arrivals.pol_etd_at is
    'Estimated departure from the port of lading. UTC.';
comment on column {{analytics}}.shipment_arrivals.pol_atd_at is
    'Actual departure from the port of lading. UTC.';
comment on column {{analytics}}.shipment_arrivals.pod_ata_at is
    'Actual arrival at the port of discharge. UTC.';
