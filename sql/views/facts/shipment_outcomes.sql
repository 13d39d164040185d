-- Outcomes of shipments, period by period
--
-- One row per shipment and period in which it arrived at the port of discharge, or in which its ETA
-- fell due, as known at as_of(): every fact that carriers counts. The base of carriers, and where
-- to look for the shipments behind its shares.
--
-- period:
--   2026-Q4       quarter of the local day at the port of discharge. Instants in a zone that
--                 PostgreSQL does not know are in no quarter
--   last 90 days  the 90 times 24 hours before as_of()
-- The arrival belongs to the period in which the ship arrived, and a promise of the ETA to the one
-- in which it was due (eta_promises, is_counted), which can be another one. By the arrival, the
-- quarter of a promise would change when a late ship comes, and ships that have not come would be
-- in none. is_of_arrival: the row is of the period of the arrival. In others the columns containers
-- to milestones_reported are null; the columns eta_… are null where nothing was due.
--
-- vessel_call: one call of a ship at the port of discharge, that is port, vessel and voyage:
-- however many shipments it brought, they came early or late together. The vessel is the one that
-- came, or is to come, to the port of discharge: its IMO number, or its name where it has none.
-- Voyages are compared without leading zeros, spaces and case. All shipments of a vessel without a
-- voyage are one call in a period; a shipment without a vessel is a call of its own.
-- days_late, is_on_time and transit_days: see shipment_arrivals; on time is within one calendar day
-- of the first ETA. is_rollover_free: see shipment_rollovers. Milestones: see
-- container_completeness. lag_hours: for each arrival and discharge at the port of discharge that
-- the line reported, when the service recorded it minus when it happened; not before the service
-- knew the shipment, and not in an unknown zone. One for each container and transport event, as in
-- carrier_scorecards. eta_…_is_kept and eta_…_error_hours: see eta_promises. Where has_arrived is
-- false, the error is how late the ship is so far.

create view {{analytics}}.shipment_outcomes as
with

boxes as (

    select
        shipment_id,
        count(*) as containers,
        sum(milestones_expected) as milestones_expected,
        sum(milestones_reported) as milestones_reported
    from {{parts}}.container_completeness
    group by shipment_id

),

reports as (

    select
        report.shipment_id,
        array_agg(date_part('epoch', report.created_at - report.timestamp) / 3600) as lag_hours
    from {{parts}}.known_transport_events as report
    inner join {{parts}}.known_shipments as shipment
        on shipment.shipment_id = report.shipment_id
    inner join {{analytics}}.time_zones as zone
        on zone.name = report.timezone
    where report.event in (
            'container.transport.vessel_arrived', 'container.transport.vessel_discharged'
        )
        and report.data_source = 'shipping_line'
        and report.timestamp >= shipment.created_at
    group by report.shipment_id

),

arrivals as (

    select
        shipment_id,
        arrival_quarter_on,
        days_late,
        transit_days::double precision as transit_days,
        pod_ata_at
    from {{parts}}.shipment_arrivals

),

facts as (

    select
        shipment_id,
        arrival_quarter_on as quarter_on,
        pod_ata_at as happened_at,
        null::integer as horizon_days,
        null::boolean as is_kept,
        null::double precision as error_hours
    from arrivals

    union all

    select
        shipment_id,
        due_quarter_on as quarter_on,
        due_at as happened_at,
        horizon_days,
        outcome = 'kept' as is_kept,
        error_hours
    from {{analytics}}.eta_promises
    where is_counted

),

-- For the last 90 days quarter_on is null.
periods as (

    select
        fact.shipment_id,
        period.quarter_on,
        bool_or(fact.horizon_days is null) as is_of_arrival,
        bool_or(fact.is_kept) filter (where fact.horizon_days = 2) as eta_2_days_is_kept,
        max(fact.error_hours) filter (where fact.horizon_days = 2) as eta_2_days_error_hours,
        bool_or(fact.is_kept) filter (where fact.horizon_days = 7) as eta_7_days_is_kept,
        max(fact.error_hours) filter (where fact.horizon_days = 7) as eta_7_days_error_hours,
        bool_or(fact.is_kept) filter (where fact.horizon_days = 14) as eta_14_days_is_kept,
        max(fact.error_hours) filter (where fact.horizon_days = 14) as eta_14_days_error_hours
    from facts as fact
    cross join lateral (

        select fact.quarter_on
        where fact.quarter_on is not null

        union all

        select null::date as quarter_on
        where fact.happened_at >= {{analytics}}.as_of() - interval '2160 hours'

    ) as period
    group by fact.shipment_id, period.quarter_on

)

select
    shipment.shipment_id,
    coalesce(to_char(period.quarter_on, 'YYYY-"Q"Q'), 'last 90 days') as period,
    shipment.bill_of_lading_number,
    shipment.shipping_line_scac,
    shipment.shipping_line_name,
    shipment.port_of_lading_locode,
    shipment.port_of_discharge_locode,
    shipment.pod_vessel_imo,
    shipment.pod_vessel_name,
    named.vessel,
    case
        when named.vessel is null then shipment.shipment_id
        else concat_ws('|', shipment.port_of_discharge_locode, named.vessel, named.voyage)
    end as vessel_call,
    period.is_of_arrival,
    arrival.pod_ata_at is not null as has_arrived,
    case when period.is_of_arrival then coalesce(boxes.containers, 0) end as containers,
    case when period.is_of_arrival then arrival.days_late end as days_late,
    case when period.is_of_arrival then arrival.days_late between -1 and 1 end as is_on_time,
    case when period.is_of_arrival then arrival.transit_days end as transit_days,
    case when period.is_of_arrival then rollover.is_rollover_free end as is_rollover_free,
    case when period.is_of_arrival then reports.lag_hours end as lag_hours,
    case when period.is_of_arrival then boxes.milestones_expected end as milestones_expected,
    case when period.is_of_arrival then boxes.milestones_reported end as milestones_reported,
    period.eta_2_days_is_kept,
    period.eta_2_days_error_hours,
    period.eta_7_days_is_kept,
    period.eta_7_days_error_hours,
    period.eta_14_days_is_kept,
    period.eta_14_days_error_hours,
    arrival.pod_ata_at
from periods as period
inner join {{parts}}.known_shipments as shipment
    on shipment.shipment_id = period.shipment_id
left join arrivals as arrival
    on arrival.shipment_id = period.shipment_id
left join {{parts}}.shipment_rollovers as rollover
    on rollover.shipment_id = period.shipment_id
left join boxes
    on boxes.shipment_id = period.shipment_id
left join reports
    on reports.shipment_id = period.shipment_id
cross join lateral (

    select
        coalesce(shipment.pod_vessel_imo, upper(btrim(shipment.pod_vessel_name))) as vessel,
        ltrim(upper(btrim(shipment.pod_voyage_number)), '0') as voyage

) as named;
