-- How long containers wait at the port, stage by stage, by truck and by rail
--
-- One row per terminal at the port of discharge, mode, period and stage. See port_stages for the
-- stages and what begins and ends them, and wait_figures for the estimate in plain words.
--
-- mode: truck, rail, or all of them together.
-- period, by the begin of the wait:
--   last 90 days   within the 90 times 24 hours before as_of(); week_on is null
--   week           the local week of week_on; null where PostgreSQL does not know the zone
-- Each mode and period counts every container again: add up, and compare, only rows of one of each.
-- A container without a terminal counts under the port of its shipment, terminal null.
--
-- n, median_hours, p90_hours, mean_hours and over_5_days_share count the waits that are over. They
-- are too low while containers still wait, because the long waits are not over.
-- estimated_median_hours and estimated_p90_hours count those too, by the estimate of Kaplan and
-- Meier; null where too many containers still wait, and not long enough. When none waits, the
-- medians agree. A container that the service no longer tracks counts in the estimate for as long
-- as it was seen to wait, and not in still_waiting.
-- vessel_calls: a ship with forty boxes is one observation of how long it took, not forty. Vessel
-- and voyage are those of the shipments behind n; where no vessel is said, none is counted.
-- p90_hours is null below ten waits, where it would be the longest of them.
-- is_few: fewer than five containers, waiting ones counted. The question leaves such rows out.
-- over_5_days_share is of the dwell alone, discharge to out.
--
-- port_waits and terminal_dwell give the same figures, with these differences: port_waits has
-- neither modes nor the dwell, and a p90 of any n; terminal_dwell has days, and counts unwatched
-- containers as still there.

create view {{analytics}}.waits as
select
    figure.terminal_id as pod_terminal_id,
    coalesce(terminal.nickname, terminal.name) as pod_terminal,
    figure.port_locode,
    figure.mode,
    figure.period,
    figure.stage,
    figure.n,
    figure.vessel_calls,
    round(figure.finished_hours[1]::numeric, 1) as median_hours,
    case when figure.n >= 10 then round(figure.finished_hours[2]::numeric, 1) end as p90_hours,
    round(figure.mean_hours::numeric, 1) as mean_hours,
    figure.still_waiting,
    round(figure.longest_waiting_hours::numeric, 1) as longest_waiting_hours,
    round(figure.estimated_median_hours::numeric, 1) as estimated_median_hours,
    round(figure.estimated_p90_hours::numeric, 1) as estimated_p90_hours,
    case
        when figure.stage = '6 discharge to out'
            then round(figure.over_5_days::numeric / nullif(figure.n, 0), 4)
    end as over_5_days_share,
    figure.not_measured,
    figure.zone_unknown,
    figure.n + figure.still_waiting < 5 as is_few,
    figure.week_on
from {{parts}}.wait_figures as figure
left join {{data}}.terminals as terminal
    on terminal.terminal_id = figure.terminal_id;
