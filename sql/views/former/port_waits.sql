-- How long containers wait at the port, stage by stage
--
-- One row per terminal at the port of discharge, local week in which the wait began, and stage:
--   1 arrival to berth         the vessel waits for its berth
--   2 berth to discharge
--   3 discharge to available   until the terminal first said that it can be picked up
--   4 available to out         until the earlier of gate-out and departure of the train
--   5 arrival to out           all of it
--
-- The weeks of waits with all modes; see there, and port_stages for what begins and ends a stage.
-- Unlike waits it has a p90 of any n.
--
-- n, median_hours and p90_hours count the waits that are over. These figures are too low while
-- containers still wait, because the long waits are not over. estimated_median_hours and
-- estimated_p90_hours count those too, by the estimate of Kaplan and Meier (wait_figures says it in
-- plain words). Null: too many containers still wait, and not long enough, for an estimate. When
-- none waits, the medians agree.
--
-- still_waiting: it began, and neither its end nor anything later is known. A container that the
-- service no longer tracks counts in the estimate for as long as it was seen to wait, and not in
-- still_waiting.
-- not_measured: its end was not reported although something later is known, it ended before it
-- began, or the terminal does not say whether it is available (availability_known). journeys
-- decides whether something later is known: a status can say that a container has landed or left.
-- A container without a terminal counts under the port of its shipment, terminal null.

create view {{analytics}}.port_waits as
select
    figure.terminal_id,
    coalesce(terminal.nickname, terminal.name) as terminal_name,
    figure.port_locode,
    figure.stage,
    figure.week_on,
    figure.n,
    round(figure.finished_hours[1]::numeric, 1) as median_hours,
    round(figure.finished_hours[2]::numeric, 1) as p90_hours,
    figure.still_waiting,
    round(figure.longest_waiting_hours::numeric, 1) as longest_waiting_hours,
    round(figure.estimated_median_hours::numeric, 1) as estimated_median_hours,
    round(figure.estimated_p90_hours::numeric, 1) as estimated_p90_hours,
    figure.not_measured,
    figure.zone_unknown
from {{parts}}.wait_figures as figure
left join {{data}}.terminals as terminal
    on terminal.terminal_id = figure.terminal_id
-- By its number, so that PostgreSQL computes no other: all modes, week by week.
where figure.cut = 1
    and figure.stage <> '6 discharge to out';
