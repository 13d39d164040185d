-- How long containers stay at the terminal
--
-- One row per terminal at the port of discharge, local week of discharge, and mode (truck, rail).
--
-- Dwell: discharge to gate-out (truck) or to the departure of the train (rail), elapsed days of 24
-- hours; stage 6 of port_stages, with the mode, the states and the week from there. waits has the
-- same in hours, with an estimate that counts those still there.
-- mode: how it left, by the earlier of the two if both are reported. For a container that has not
-- left, or left at a time not said: rail if it goes on by rail (journeys), else truck.
-- Containers that have not left are in no mean, median or share; they are counted separately with
-- their age. After tracking has stopped, a departure may not be reported, so such containers are
-- counted without their age. A week with many containers still there looks faster than it will in
-- the end.
-- not_measured: it left at an unknown time (journeys: it is known inland, was returned empty, or a
-- status says so, without a departure from the port), or before it was discharged. A container
-- without a terminal counts under the port of its shipment, terminal null.

create view {{analytics}}.terminal_dwell as
with

dwells as (

    select
        journey.pod_terminal_id as terminal_id,
        case when journey.pod_terminal_id is null then journey.port_of_discharge_locode end
            as shipment_port_locode,
        found.mode,
        found.week_on as discharge_week_on,
        count(*) filter (where found.state = 'over') as n,
        avg(dwell.days) filter (where found.state = 'over') as mean_days,
        percentile_cont(array[0.5, 0.9]) within group (order by dwell.days)
            filter (where found.state = 'over') as dwell_days,
        count(*) filter (where found.state = 'over' and dwell.days > 5) as over_5_days,
        count(*) filter (where found.state in ('waiting', 'unwatched')) as still_there,
        count(*) filter (where found.state = 'unwatched') as still_there_not_tracked,
        avg(dwell.days) filter (where found.state = 'waiting') as mean_age_days,
        max(dwell.days) filter (where found.state = 'waiting') as max_age_days,
        count(*) filter (where found.state = 'not_measured') as not_measured,
        count(*) filter (where not journey.is_port_zone_known) as zone_unknown
    from {{parts}}.journey_facts as journey
    cross join lateral (

        select
            journey.discharged_at as start_at,
            journey.left_port_at as end_at,
            journey.has_left_port as is_passed

    ) as stage
    left join lateral (

        {{fragment stage_length}}

    ) as found
        on true
    cross join lateral (

        select found.waited_hours / 24 as days

    ) as dwell
    where journey.discharged_at is not null
    group by 1, 2, 3, 4

)

select
    dwell.terminal_id,
    coalesce(terminal.nickname, terminal.name) as terminal_name,
    coalesce(dwell.shipment_port_locode, port.code) as port_locode,
    dwell.mode,
    dwell.discharge_week_on,
    dwell.n,
    round(dwell.mean_days::numeric, 2) as mean_days,
    round(dwell.dwell_days[1]::numeric, 2) as median_days,
    round(dwell.dwell_days[2]::numeric, 2) as p90_days,
    round(dwell.over_5_days::numeric / nullif(dwell.n, 0), 4) as over_5_days_share,
    dwell.still_there,
    dwell.still_there_not_tracked,
    round(dwell.mean_age_days::numeric, 2) as still_there_mean_age_days,
    round(dwell.max_age_days::numeric, 2) as still_there_max_age_days,
    dwell.not_measured,
    dwell.zone_unknown
from dwells as dwell
left join {{data}}.terminals as terminal
    on terminal.terminal_id = dwell.terminal_id
left join {{data}}.ports as port
    on port.port_id = terminal.port_id;
