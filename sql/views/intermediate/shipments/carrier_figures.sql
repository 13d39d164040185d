-- Counts and medians behind carriers
--
-- One row per cut, period and value of the cut, as known at as_of(): what carriers makes shares,
-- intervals and rounded figures of. The base of carriers, which explains cuts, periods and figures;
-- the shipments are in shipment_outcomes.
--
-- Each cut is counted from the shipments and not added up from another one: a vessel call that
-- brought shipments of two lines is one call for all, and one for each of the lines.
-- Medians of the ETA error are bounds: least takes ships that have not arrived as if they came now,
-- most as if they never came. Where both are equal the median is known already.
-- All lags of a row are gathered as one text, because PostgreSQL cannot join arrays of different
-- lengths while it groups.

create view {{parts}}.carrier_figures as
with

-- Texts are only compared for equality, which collation "C" does byte by byte.
outcomes as (

    select
        period collate "C" as period,
        shipping_line_scac collate "C" as shipping_line_scac,
        port_of_lading_locode collate "C" as port_of_lading_locode,
        port_of_discharge_locode collate "C" as port_of_discharge_locode,
        vessel collate "C" as vessel,
        vessel_call collate "C" as vessel_call,
        shipping_line_name,
        pod_vessel_imo,
        pod_vessel_name,
        is_of_arrival,
        containers,
        days_late,
        is_on_time,
        transit_days,
        is_rollover_free,
        lag_hours,
        eta_2_days_is_kept,
        eta_2_days_error_hours as eta_2_days_least_hours,
        eta_2_days_error_hours + so_far.more as eta_2_days_most_hours,
        eta_7_days_is_kept,
        eta_7_days_error_hours as eta_7_days_least_hours,
        eta_7_days_error_hours + so_far.more as eta_7_days_most_hours,
        eta_14_days_is_kept,
        eta_14_days_error_hours as eta_14_days_least_hours,
        eta_14_days_error_hours + so_far.more as eta_14_days_most_hours,
        milestones_expected,
        milestones_reported
    from {{analytics}}.shipment_outcomes
    cross join lateral (

        select case when has_arrived then 0 else 'infinity'::double precision end as more

    ) as so_far

)

select
    case grouping(shipping_line_scac, port_of_lading_locode, vessel)
        when 7 then 'all'
        when 3 then 'line'
        when 5 then 'lane'
        when 1 then 'lane and line'
        else 'vessel'
    end as cut,
    period,
    shipping_line_scac,
    port_of_lading_locode,
    port_of_discharge_locode,
    vessel,
    case when grouping(shipping_line_scac) = 0 then min(shipping_line_name) end
        as shipping_line_name,
    case when grouping(vessel) = 0 then min(pod_vessel_imo) end as pod_vessel_imo,
    case when grouping(vessel) = 0 then min(pod_vessel_name) end as pod_vessel_name,
    count(*) filter (where is_of_arrival) as arrivals,
    coalesce(sum(containers), 0)::bigint as containers,
    count(distinct vessel_call) filter (where is_of_arrival) as vessel_calls,
    count(*) filter (where is_on_time) as on_time,
    count(days_late) as on_time_n,
    count(distinct vessel_call) filter (where days_late is not null) as on_time_calls,
    percentile_cont(0.5) within group (order by days_late) as median_days_late,
    count(transit_days) as transit_n,
    count(distinct vessel_call) filter (where transit_days is not null) as transit_calls,
    percentile_cont(array[0.1, 0.5, 0.9]) within group (order by transit_days) as transit_days,
    count(eta_2_days_is_kept) as eta_2_days_n,
    count(distinct vessel_call) filter (where eta_2_days_is_kept is not null)
        as eta_2_days_calls,
    count(*) filter (where eta_2_days_is_kept) as eta_2_days_kept,
    percentile_cont(0.5) within group (order by eta_2_days_least_hours)
        as eta_2_days_least_hours,
    percentile_cont(0.5) within group (order by eta_2_days_most_hours)
        as eta_2_days_most_hours,
    count(eta_7_days_is_kept) as eta_7_days_n,
    count(distinct vessel_call) filter (where eta_7_days_is_kept is not null)
        as eta_7_days_calls,
    count(*) filter (where eta_7_days_is_kept) as eta_7_days_kept,
    percentile_cont(0.5) within group (order by eta_7_days_least_hours)
        as eta_7_days_least_hours,
    percentile_cont(0.5) within group (order by eta_7_days_most_hours)
        as eta_7_days_most_hours,
    count(eta_14_days_is_kept) as eta_14_days_n,
    count(distinct vessel_call) filter (where eta_14_days_is_kept is not null)
        as eta_14_days_calls,
    count(*) filter (where eta_14_days_is_kept) as eta_14_days_kept,
    percentile_cont(0.5) within group (order by eta_14_days_least_hours)
        as eta_14_days_least_hours,
    percentile_cont(0.5) within group (order by eta_14_days_most_hours)
        as eta_14_days_most_hours,
    count(is_rollover_free) as rollover_n,
    count(*) filter (where is_rollover_free) as rollover_free,
    coalesce(sum(cardinality(lag_hours)), 0)::bigint as lag_n,
    string_agg(array_to_string(lag_hours, ','), ',') as lags_text,
    coalesce(sum(milestones_expected), 0)::bigint as milestones_expected,
    coalesce(sum(milestones_reported), 0)::bigint as milestones_reported
from outcomes
group by
    period,
    grouping sets (
        (),
        (shipping_line_scac),
        (port_of_lading_locode, port_of_discharge_locode),
        (port_of_lading_locode, port_of_discharge_locode, shipping_line_scac),
        (vessel)
    );
