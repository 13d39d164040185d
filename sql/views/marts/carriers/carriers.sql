-- How the shipping lines, lanes and vessels did
--
-- One row per cut, period and value of the cut, as known at as_of(): how often ships came on time,
-- how long they took, how good the ETA was, and what was reported. shipment_outcomes has the
-- shipments behind it, shipment by shipment.
--
-- cut, the common property of the shipments in a row:
--   all            all shipments together
--   line           the shipping line
--   lane           port of lading and port of discharge
--   lane and line  both
--   vessel         the vessel that came, or is to come, to the port of discharge: its IMO number,
--                  or its name where it has none; before a transshipment it was another one
-- period:
--   last 90 days   the 90 times 24 hours before as_of()
--   2026-Q4        quarter of the local day at the port of discharge; instants in a zone that
--                  PostgreSQL does not know are in no quarter
-- Each cut counts every shipment again: add up, and compare, only rows of one cut and one period.
-- Columns that do not belong to the cut are null; the others are null if the value was not
-- reported. Arrivals are in the period in which the ship arrived, promises of the ETA in the one in
-- which they were due. A row can have only one of both.
--
-- vessel_calls: distinct calls of a ship, that is port of discharge, vessel and voyage. A ship with
-- forty shipments is one observation: they come early or late together. All shipments of a vessel
-- without a voyage are one call; a shipment without a vessel is a call of its own. Every n has its
-- calls beside it where shipments share a ship. is_few: less than five vessel calls, which say
-- little about the next ship. The question leaves such rows out by default.
--
-- on_time_share: arrivals within one calendar day, local to the port, either side of the first ETA
-- (shipment_arrivals says which ETA that is). on_time_low_share and on_time_high_share: the 95 %
-- interval of Wilson with on_time_calls as the number of observations. Two rows whose intervals
-- overlap widely do not differ for certain. Arrivals without a first ETA, or in an unknown zone,
-- are not in on_time_n.
-- Transit: from actual departure at the port of lading to actual arrival at the port of discharge,
-- elapsed days of 24 hours, with all transshipments; departure missing or not before the arrival:
-- not in transit_n. Lines with other lanes are not to be compared by it, except by cut lane and
-- line. p10 and p90 are null below ten vessel calls: the tenth of nine is a guess.
-- eta_2_days, eta_7_days, eta_14_days: what came of the ETA that was so many days ahead at the
-- time (eta_promises), one promise for each shipment. Within 24 hours: the ship arrived at most 24
-- hours before or after that ETA. Ships that have not arrived 24 hours after it count as not
-- within; promises that are not due, and ships of which nobody would tell the arrival, do not
-- count. median_error_hours: arrival minus ETA; late is positive. Ships that have not arrived count
-- as later than they are so far. Null where the median depends on when they come.
-- Rollover-free: shipments whose vessel and voyage at the port of discharge stayed the same in what
-- we saw from departure to arrival (shipment_rollovers). rollover_n: shipments watched from the
-- departure on.
-- Reporting lag: when the service recorded the arrival or discharge at the port of discharge minus
-- when it happened, where the line reported it; lag_n counts transport events, one a container.
-- Completeness: as in data_quality, of the containers of the arrivals.
--
-- Against carrier_scorecards: the cut line has the same arrivals, on-time share, transit,
-- rollovers, lag and completeness by quarter. Shipments without a line have all figures here.

create view {{analytics}}.carriers as
select
    figure.cut,
    figure.period,
    case
        when figure.cut = 'all' then 'all'
        else nullif(
            concat_ws(
                ' ',
                figure.port_of_lading_locode || '-' || figure.port_of_discharge_locode,
                figure.shipping_line_scac,
                coalesce(figure.pod_vessel_name, figure.pod_vessel_imo)
            ),
            ''
        )
    end as subject,
    figure.shipping_line_scac,
    figure.shipping_line_name,
    figure.port_of_lading_locode,
    figure.port_of_discharge_locode,
    figure.pod_vessel_imo,
    figure.pod_vessel_name,
    figure.arrivals,
    figure.containers,
    figure.vessel_calls,
    round(on_time.share, 4) as on_time_share,
    figure.on_time_n,
    figure.on_time_calls,
    round((on_time.share + wilson.half - wilson.spread) / (1 + 2 * wilson.half), 4)
        as on_time_low_share,
    round((on_time.share + wilson.half + wilson.spread) / (1 + 2 * wilson.half), 4)
        as on_time_high_share,
    round(figure.median_days_late::numeric, 1) as median_days_late,
    figure.transit_n,
    figure.transit_calls,
    case when figure.transit_calls >= 10 then round(figure.transit_days[1]::numeric, 2) end
        as p10_transit_days,
    round(figure.transit_days[2]::numeric, 2) as median_transit_days,
    case when figure.transit_calls >= 10 then round(figure.transit_days[3]::numeric, 2) end
        as p90_transit_days,
    figure.eta_2_days_n,
    figure.eta_2_days_calls,
    round(figure.eta_2_days_kept::numeric / nullif(figure.eta_2_days_n, 0), 4)
        as eta_2_days_within_24_hours_share,
    case
        when figure.eta_2_days_least_hours = figure.eta_2_days_most_hours
            then round(figure.eta_2_days_least_hours::numeric, 2)
    end as eta_2_days_median_error_hours,
    figure.eta_7_days_n,
    figure.eta_7_days_calls,
    round(figure.eta_7_days_kept::numeric / nullif(figure.eta_7_days_n, 0), 4)
        as eta_7_days_within_24_hours_share,
    case
        when figure.eta_7_days_least_hours = figure.eta_7_days_most_hours
            then round(figure.eta_7_days_least_hours::numeric, 2)
    end as eta_7_days_median_error_hours,
    figure.eta_14_days_n,
    figure.eta_14_days_calls,
    round(figure.eta_14_days_kept::numeric / nullif(figure.eta_14_days_n, 0), 4)
        as eta_14_days_within_24_hours_share,
    case
        when figure.eta_14_days_least_hours = figure.eta_14_days_most_hours
            then round(figure.eta_14_days_least_hours::numeric, 2)
    end as eta_14_days_median_error_hours,
    figure.rollover_n,
    round(figure.rollover_free::numeric / nullif(figure.rollover_n, 0), 4) as rollover_free_share,
    figure.lag_n,
    round(lag.median_hours::numeric, 2) as lag_median_hours,
    figure.milestones_expected as completeness_n,
    round(figure.milestones_reported::numeric / nullif(figure.milestones_expected, 0), 4)
        as milestone_completeness,
    figure.vessel_calls < 5 as is_few
from {{parts}}.carrier_figures as figure
cross join lateral (

    select
        figure.on_time::numeric / nullif(figure.on_time_n, 0) as share,
        1.96 * 1.96 / nullif(figure.on_time_calls, 0) as z_squared_by_n

) as on_time
cross join lateral (

    select
        on_time.z_squared_by_n / 2 as half,
        sqrt(
            on_time.z_squared_by_n * on_time.share * (1 - on_time.share)
            + on_time.z_squared_by_n * on_time.z_squared_by_n / 4
        ) as spread

) as wilson
cross join lateral (

    select percentile_cont(0.5) within group (order by hours::double precision) as median_hours
    from unnest(string_to_array(figure.lags_text, ',')) as report (hours)

) as lag;
