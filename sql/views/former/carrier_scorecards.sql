-- How the shipping lines did, quarter by quarter
--
-- One row per shipping line and quarter of arrival, by the calendar of the port of discharge. All
-- figures are of the shipments that arrived in it; each has its own n. Arrivals in a zone that
-- PostgreSQL does not know are in no quarter and not here.
--
-- Reliability: share of arrivals within one calendar day of the first ETA, as in
-- schedule_reliability.
-- Accuracy: mean distance between the arrival and the ETA of 7 times 24 hours before it, over the
-- shipments for which we had an ETA by then.
-- Transit: median days at sea over all lanes of the line. Lines with other lanes are not to be
-- compared by it; see transit_times.
-- Rollover-free: share of shipments whose vessel and voyage at the port of discharge stayed the
-- same in what we saw from departure (actual, else estimated) to arrival.
-- Vessel: its IMO number, or its name where a version lacks the number, so that a number that is
-- filled in later does not count as a rollover. Voyages are compared without leading zeros, spaces
-- and case. n are the shipments that we watched from the departure on; the others are unknown. A
-- change before departure is a new plan and does not count. The vessel belongs to the shipment, so
-- all its containers roll together.
-- Reporting lag: when the service recorded the arrival or discharge at the port of discharge minus
-- when it happened, where the line reported it, and not before the service knew the shipment.
-- Events in an unknown zone are left out.
-- Completeness: as in data_quality, of the containers of these shipments.

create view {{analytics}}.carrier_scorecards as
with

-- date_part and not extract: the same seconds, in double precision, at a fraction of the cost.
-- Texts are only compared for equality, which collation "C" does byte by byte.
shipments as (

    select
        arrival.shipment_id,
        arrival.shipping_line_scac,
        arrival.arrival_quarter_on,
        arrival.shipping_line_name,
        arrival.days_late,
        arrival.transit_days,
        max(abs(date_part('epoch', arrival.pod_ata_at - version.pod_eta_at))) filter (
            where version.valid_from <= arrival.pod_ata_at - interval '168 hours'
                and coalesce(version.valid_to > arrival.pod_ata_at - interval '168 hours', true)
        ) as error_seconds,
        coalesce(min(version.valid_from) <= arrival.departed_at, false) as is_watched,
        coalesce(
            min(version.pod_vessel_imo collate "C") filter (
                where version.valid_to is null or version.valid_to > arrival.departed_at
            ) <> max(version.pod_vessel_imo collate "C") filter (
                where version.valid_to is null or version.valid_to > arrival.departed_at
            ),
            false
        )
        or coalesce(
            bool_or(version.pod_vessel_imo is null) filter (
                where version.valid_to is null or version.valid_to > arrival.departed_at
            )
            and min(upper(btrim(version.pod_vessel_name)) collate "C") filter (
                where version.valid_to is null or version.valid_to > arrival.departed_at
            )
                <> max(upper(btrim(version.pod_vessel_name)) collate "C") filter (
                where version.valid_to is null or version.valid_to > arrival.departed_at
            ),
            false
        ) as is_vessel_changed,
        coalesce(
            min(ltrim(upper(btrim(version.pod_voyage_number)), '0') collate "C") filter (
                where version.valid_to is null or version.valid_to > arrival.departed_at
            ) <> max(ltrim(upper(btrim(version.pod_voyage_number)), '0') collate "C") filter (
                where version.valid_to is null or version.valid_to > arrival.departed_at
            ),
            false
        ) as is_voyage_changed
    from (

        select
            shipment_id,
            shipping_line_scac,
            arrival_quarter_on,
            shipping_line_name,
            days_late,
            transit_days::double precision as transit_days,
            pod_ata_at,
            coalesce(pol_atd_at, pol_etd_at) as departed_at
        from {{parts}}.shipment_arrivals

    ) as arrival
    left join {{data}}.shipment_history as version
        on version.shipment_id = arrival.shipment_id
        and version.valid_from < arrival.pod_ata_at
        and version.valid_from <= {{analytics}}.as_of()
    group by
        arrival.shipment_id,
        arrival.shipping_line_scac,
        arrival.arrival_quarter_on,
        arrival.shipping_line_name,
        arrival.days_late,
        arrival.transit_days,
        arrival.departed_at

),

-- One row per line and quarter from each of three sides, and not three joined ones: so a question
-- about a line or a quarter narrows them all. A line that is not named has figures of its shipments
-- alone.
figures as (

    select
        shipping_line_scac,
        arrival_quarter_on,
        min(shipping_line_name) as shipping_line_name,
        count(*) as arrivals,
        count(days_late) as reliability_n,
        count(*) filter (where days_late between -1 and 1) as on_time,
        count(error_seconds) filter (where shipping_line_scac is not null) as accuracy_n,
        avg(error_seconds) filter (where shipping_line_scac is not null) as error_seconds,
        count(transit_days) as transit_n,
        percentile_cont(0.5) within group (order by transit_days) as transit_days,
        count(*) filter (where is_watched and shipping_line_scac is not null) as rollover_n,
        count(*) filter (
            where is_watched
                and not is_vessel_changed
                and not is_voyage_changed
                and shipping_line_scac is not null
        ) as rollover_free,
        null::bigint as lag_n,
        null::double precision as lag_seconds,
        null::bigint as containers,
        null::bigint as milestones_expected,
        null::bigint as milestones_reported
    from shipments
    group by shipping_line_scac, arrival_quarter_on

    union all

    select
        arrival.shipping_line_scac,
        arrival.arrival_quarter_on,
        null::text as shipping_line_name,
        null::bigint as arrivals,
        null::bigint as reliability_n,
        null::bigint as on_time,
        null::bigint as accuracy_n,
        null::double precision as error_seconds,
        null::bigint as transit_n,
        null::double precision as transit_days,
        null::bigint as rollover_n,
        null::bigint as rollover_free,
        count(*) as lag_n,
        percentile_cont(0.5) within group (
            order by date_part('epoch', report.created_at - report.timestamp)
        ) as lag_seconds,
        null::bigint as containers,
        null::bigint as milestones_expected,
        null::bigint as milestones_reported
    from {{parts}}.known_transport_events as report
    inner join {{parts}}.shipment_arrivals as arrival
        on arrival.shipment_id = report.shipment_id
    inner join {{analytics}}.time_zones as zone
        on zone.name = report.timezone
    where report.event in (
            'container.transport.vessel_arrived', 'container.transport.vessel_discharged'
        )
        and report.data_source = 'shipping_line'
        and report.timestamp >= arrival.created_at
        and arrival.shipping_line_scac is not null
    group by arrival.shipping_line_scac, arrival.arrival_quarter_on

    union all

    select
        arrival.shipping_line_scac,
        arrival.arrival_quarter_on,
        null::text as shipping_line_name,
        null::bigint as arrivals,
        null::bigint as reliability_n,
        null::bigint as on_time,
        null::bigint as accuracy_n,
        null::double precision as error_seconds,
        null::bigint as transit_n,
        null::double precision as transit_days,
        null::bigint as rollover_n,
        null::bigint as rollover_free,
        null::bigint as lag_n,
        null::double precision as lag_seconds,
        count(*) as containers,
        sum(container.milestones_expected) as milestones_expected,
        sum(container.milestones_reported) as milestones_reported
    from {{parts}}.container_completeness as container
    -- By the line as well, which both have of the shipment: so those of one line are found without
    -- reading the others.
    inner join {{parts}}.shipment_arrivals as arrival
        on arrival.shipment_id = container.shipment_id
        and arrival.shipping_line_scac = container.shipping_line_scac
    group by arrival.shipping_line_scac, arrival.arrival_quarter_on

)

select
    shipping_line_scac,
    min(shipping_line_name) as shipping_line_name,
    arrival_quarter_on,
    max(arrivals) as arrivals,
    max(reliability_n) as reliability_n,
    round(max(on_time)::numeric / nullif(max(reliability_n), 0), 4) as on_time_share,
    max(accuracy_n) as accuracy_n,
    round((max(error_seconds) / 3600)::numeric, 2) as eta_error_7_days_ahead_hours,
    max(transit_n) as transit_n,
    round(max(transit_days)::numeric, 2) as median_transit_days,
    max(rollover_n) as rollover_n,
    round(max(rollover_free)::numeric / nullif(max(rollover_n), 0), 4) as rollover_free_share,
    coalesce(max(lag_n), 0) as lag_n,
    round((max(lag_seconds) / 3600)::numeric, 2) as lag_median_hours,
    coalesce(max(containers), 0) as containers,
    coalesce(max(milestones_expected), 0) as completeness_n,
    round(max(milestones_reported)::numeric / nullif(max(milestones_expected), 0), 4)
        as milestone_completeness
from figures
group by shipping_line_scac, arrival_quarter_on
-- Not in a condition on rows, which PostgreSQL would work out the quarter twice for.
having count(arrival_quarter_on) > 0;
