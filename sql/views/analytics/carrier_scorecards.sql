-- How the shipping lines did
--
-- One row per shipping line and quarter of arrival, by the calendar of the port of discharge. All figures are of the shipments that
-- arrived in it; each has its own n. Arrivals in a zone that PostgreSQL does not know are in no quarter and not here.
--
-- Reliability: share of arrivals within one calendar day of the first ETA, as in schedule_reliability.
-- Accuracy: mean distance of the ETA that stood 7 times 24 hours before the arrival, of the shipments we had an ETA of by then.
-- Transit: median days at sea over all lanes of the line. Lines with other lanes are not to be compared by it; see transit_times.
-- Rollover-free: share of shipments whose vessel and voyage at the port of discharge stayed the same in what we saw from departure
-- (actual, else estimated) to arrival. Vessel: its IMO number, else its name. n are the shipments that we watched from the departure
-- on; of the others nobody knows. A change before departure is a new plan and does not count. The vessel belongs to the shipment,
-- so all its containers roll together.
-- Reporting lag: when the service recorded the arrival or discharge at the port of discharge minus when it happened, where the line
-- reported it, and not before the service knew the shipment. Events in an unknown zone are left out.
-- Completeness: as in data_quality, of the containers of these shipments.

create view {{analytics}}.carrier_scorecards as
with

arrivals as (

    select
        shipping_line_scac,
        arrival_quarter_on,
        min(shipping_line_name) as shipping_line_name,
        count(*) as arrivals,
        count(days_late) as reliability_n,
        count(*) filter (where days_late between -1 and 1) as on_time,
        count(transit_days) as transit_n,
        percentile_cont(0.5) within group (order by transit_days::double precision) as transit_days
    from {{analytics}}.shipment_arrivals
    where arrival_quarter_on is not null
    group by shipping_line_scac, arrival_quarter_on

),

watched as (

    select
        arrival.shipment_id,
        arrival.shipping_line_scac,
        arrival.arrival_quarter_on,
        max(abs(extract(epoch from arrival.pod_ata_at - version.pod_eta_at)) / 3600) filter (
            where version.valid_from <= arrival.pod_ata_at - interval '168 hours'
                and coalesce(version.valid_to > arrival.pod_ata_at - interval '168 hours', true)
        ) as error_hours,
        coalesce(bool_or(
            version.valid_from <= coalesce(arrival.pol_atd_at, arrival.pol_etd_at)
        ), false) as is_watched,
        coalesce(
            min(coalesce(version.pod_vessel_imo, version.pod_vessel_name)) filter (
                where version.valid_to is null
                    or version.valid_to > coalesce(arrival.pol_atd_at, arrival.pol_etd_at)
            ) <> max(coalesce(version.pod_vessel_imo, version.pod_vessel_name)) filter (
                where version.valid_to is null
                    or version.valid_to > coalesce(arrival.pol_atd_at, arrival.pol_etd_at)
            ),
            false
        ) as is_vessel_changed,
        coalesce(
            min(version.pod_voyage_number) filter (
                where version.valid_to is null
                    or version.valid_to > coalesce(arrival.pol_atd_at, arrival.pol_etd_at)
            ) <> max(version.pod_voyage_number) filter (
                where version.valid_to is null
                    or version.valid_to > coalesce(arrival.pol_atd_at, arrival.pol_etd_at)
            ),
            false
        ) as is_voyage_changed
    from {{analytics}}.shipment_arrivals as arrival
    inner join {{data}}.shipment_history as version
        on version.shipment_id = arrival.shipment_id
        and version.valid_from < arrival.pod_ata_at
    where arrival.arrival_quarter_on is not null
        and version.valid_from <= {{analytics}}.as_of()
    group by arrival.shipment_id, arrival.shipping_line_scac, arrival.arrival_quarter_on

),

histories as (

    select
        shipping_line_scac,
        arrival_quarter_on,
        count(error_hours) as accuracy_n,
        avg(error_hours) as error_hours,
        count(*) filter (where is_watched) as rollover_n,
        count(*) filter (where is_watched and not is_vessel_changed and not is_voyage_changed)
            as rollover_free
    from watched
    group by shipping_line_scac, arrival_quarter_on

),

lags as (

    select
        arrival.shipping_line_scac,
        arrival.arrival_quarter_on,
        count(*) as lag_n,
        percentile_cont(0.5) within group (
            order by extract(epoch from report.created_at - report.timestamp)::double precision / 3600
        ) as lag_hours
    from {{analytics}}.known_transport_events as report
    inner join {{analytics}}.shipment_arrivals as arrival
        on arrival.shipment_id = report.shipment_id
    inner join {{analytics}}.time_zones as zone
        on zone.name = report.timezone
    where report.event in (
            'container.transport.vessel_arrived', 'container.transport.vessel_discharged'
        )
        and report.data_source = 'shipping_line'
        and report.timestamp >= arrival.created_at
        and arrival.arrival_quarter_on is not null
    group by arrival.shipping_line_scac, arrival.arrival_quarter_on

),

completeness as (

    select
        arrival.shipping_line_scac,
        arrival.arrival_quarter_on,
        count(*) as containers,
        sum(container.milestones_expected) as milestones_expected,
        sum(container.milestones_reported) as milestones_reported
    from {{analytics}}.container_completeness as container
    inner join {{analytics}}.shipment_arrivals as arrival
        on arrival.shipment_id = container.shipment_id
    where arrival.arrival_quarter_on is not null
    group by arrival.shipping_line_scac, arrival.arrival_quarter_on

)

select
    arrival.shipping_line_scac,
    arrival.shipping_line_name,
    arrival.arrival_quarter_on,
    arrival.arrivals,
    arrival.reliability_n,
    round(arrival.on_time::numeric / nullif(arrival.reliability_n, 0), 4) as on_time_share,
    coalesce(history.accuracy_n, 0) as accuracy_n,
    round(history.error_hours, 2) as eta_error_7_days_ahead_hours,
    arrival.transit_n,
    round(arrival.transit_days::numeric, 2) as median_transit_days,
    coalesce(history.rollover_n, 0) as rollover_n,
    round(history.rollover_free::numeric / nullif(history.rollover_n, 0), 4) as rollover_free_share,
    coalesce(lag.lag_n, 0) as lag_n,
    round(lag.lag_hours::numeric, 2) as lag_median_hours,
    coalesce(completeness.containers, 0) as containers,
    coalesce(completeness.milestones_expected, 0)::bigint as completeness_n,
    round(completeness.milestones_reported::numeric / nullif(completeness.milestones_expected, 0), 4)
        as milestone_completeness
from arrivals as arrival
left join histories as history
    on history.shipping_line_scac = arrival.shipping_line_scac
    and history.arrival_quarter_on = arrival.arrival_quarter_on
left join lags as lag
    on lag.shipping_line_scac = arrival.shipping_line_scac
    and lag.arrival_quarter_on = arrival.arrival_quarter_on
left join completeness
    on completeness.shipping_line_scac = arrival.shipping_line_scac
    and completeness.arrival_quarter_on = arrival.arrival_quarter_on;

comment on view {{analytics}}.carrier_scorecards is
    'One row per shipping line and quarter of arrival: reliability, accuracy, transit, rollovers, '
    'reporting lag, completeness.';
comment on column {{analytics}}.carrier_scorecards.shipping_line_scac is
    'SCAC of the shipping line.';
comment on column {{analytics}}.carrier_scorecards.shipping_line_name is
    'Name of the shipping line; one of them where there are several.';
comment on column {{analytics}}.carrier_scorecards.arrival_quarter_on is
    'First day of the quarter of arrival, by the calendar of the port of discharge.';
comment on column {{analytics}}.carrier_scorecards.arrivals is
    'Shipments that arrived in the quarter.';
comment on column {{analytics}}.carrier_scorecards.reliability_n is
    'Of arrivals, those with a first ETA.';
comment on column {{analytics}}.carrier_scorecards.on_time_share is
    'Share of reliability_n within one calendar day of the first ETA, from 0 to 1. Null when n is '
    '0.';
comment on column {{analytics}}.carrier_scorecards.accuracy_n is
    'Of arrivals, those of which we had an ETA 7 days before.';
comment on column {{analytics}}.carrier_scorecards.eta_error_7_days_ahead_hours is
    'Mean distance between arrival and the ETA that stood 7 days before, over accuracy_n, in '
    'hours.';
comment on column {{analytics}}.carrier_scorecards.transit_n is
    'Of arrivals, those with an earlier departure.';
comment on column {{analytics}}.carrier_scorecards.median_transit_days is
    'Median days of 24 hours from departure to arrival, over transit_n, all lanes together.';
comment on column {{analytics}}.carrier_scorecards.rollover_n is
    'Of arrivals, those that we watched from the departure on.';
comment on column {{analytics}}.carrier_scorecards.rollover_free_share is
    'Share of rollover_n whose vessel and voyage stayed the same from departure to arrival, from '
    '0 to 1. Null when n is 0.';
comment on column {{analytics}}.carrier_scorecards.lag_n is
    'Arrivals and discharges reported by the line; transport events.';
comment on column {{analytics}}.carrier_scorecards.lag_median_hours is
    'Median hours from happening to record, over lag_n.';
comment on column {{analytics}}.carrier_scorecards.containers is
    'Containers of the arrivals.';
comment on column {{analytics}}.carrier_scorecards.completeness_n is
    'Milestones that these containers must have passed.';
comment on column {{analytics}}.carrier_scorecards.milestone_completeness is
    'Share of completeness_n that is reported, from 0 to 1. Null when n is 0.';
