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

create view {{parts}}.shipment_arrivals as
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
    from {{parts}}.known_shipments as shipment
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
        from {{parts}}.known_shipments as unsaid
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
