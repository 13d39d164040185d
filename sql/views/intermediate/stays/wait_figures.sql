-- Figures of waits at the port, not rounded
--
-- One row per terminal at the port of discharge, mode, period and stage of port_stages. The base of
-- waits and port_waits; waits says what each figure is.
--
-- The estimate, in plain words: go through the waits from the shortest on. At the end of each,
-- divide it by the number of waits that lasted at least as long, finished or not, and reduce the
-- remaining share by that fraction. A container that still waits counts for as long as it has
-- waited, with the meaning "longer than this": it neither vanishes nor counts as finished. The
-- median is the wait after which less than half is left, p90 the wait after which less than a tenth
-- is left; where exactly so much is left for a while, the middle of that while (as R's survfit).
-- Ends at the same length are taken one by one, which leaves the same share in the end; a container
-- that still waits comes after the ends of its length.
--
-- A wait counts in four figures, so they are sorted a million times in a large account: by numbers,
-- and by one text. A terminal has one port, which tells apart only the waits without a terminal.

create view {{parts}}.wait_figures as
with

waits as (

    select
        stage.pod_terminal_id as terminal_id,
        case when stage.pod_terminal_id is null then stage.port_locode end as only_port_locode,
        counted.cut,
        counted.mode,
        counted.period,
        ascii(stage.stage) as stage_code,
        case when counted.period = 'week' then stage.week_on end as week_on,
        stage.port_locode,
        stage.stage,
        stage.state,
        stage.vessel_call,
        stage.waited_hours,
        stage.is_zone_known,
        stage.state <> 'over' as is_open
    from {{analytics}}.port_stages as stage
    inner join (
        values
            (1, 'week', 'all'),
            (2, 'week', 'truck'),
            (3, 'week', 'rail'),
            (4, 'last 90 days', 'all'),
            (5, 'last 90 days', 'truck'),
            (6, 'last 90 days', 'rail')
    ) as counted (cut, period, mode)
        on counted.mode in ('all', stage.mode)
        and (
            counted.period = 'week'
            or stage.start_at >= {{analytics}}.as_of() - interval '2160 hours'
        )

),

ranked as (

    select
        terminal_id,
        only_port_locode,
        cut,
        mode,
        period,
        stage_code,
        week_on,
        port_locode,
        stage,
        state,
        vessel_call,
        waited_hours,
        is_zone_known,
        is_open,
        count(waited_hours) over whole_figure - row_number() over whole_figure + 1 as lasted
    from waits
    window whole_figure as (
        partition by terminal_id, cut, week_on, stage_code, only_port_locode
        order by waited_hours, is_open
        rows between unbounded preceding and unbounded following
    )

),

-- The share that is left after each wait: a product, made as a sum of logarithms.
shares as (

    select
        terminal_id,
        only_port_locode,
        cut,
        mode,
        period,
        stage_code,
        week_on,
        port_locode,
        stage,
        state,
        vessel_call,
        waited_hours,
        is_zone_known,
        exp(
            sum(
                case
                    when is_open then 0
                    when lasted = 1 then '-infinity'
                    else ln(1 - 1 / lasted::float8)
                end
            ) over (
                partition by terminal_id, cut, week_on, stage_code, only_port_locode
                order by waited_hours, is_open
                rows unbounded preceding
            )
        ) as share_left
    from ranked

)

select
    terminal_id,
    min(port_locode) as port_locode,
    cut,
    min(mode) as mode,
    min(period) as period,
    week_on,
    min(stage) as stage,
    count(*) filter (where state = 'over') as n,
    count(distinct vessel_call) filter (where state = 'over') as vessel_calls,
    (
        percentile_cont(array[0.5, 0.9]) within group (order by waited_hours)
            filter (where state = 'over')
    ) as finished_hours,
    avg(waited_hours) filter (where state = 'over') as mean_hours,
    count(*) filter (where state = 'waiting') as still_waiting,
    max(waited_hours) filter (where state = 'waiting') as longest_waiting_hours,
    -- A share is never exactly a half. The second is missing where nothing ends after it is left.
    (
        min(waited_hours) filter (where share_left < 0.500000001)
        + coalesce(
            min(waited_hours) filter (where share_left < 0.499999999),
            min(waited_hours) filter (where share_left < 0.500000001)
        )
    ) / 2 as estimated_median_hours,
    (
        min(waited_hours) filter (where share_left < 0.100000001)
        + coalesce(
            min(waited_hours) filter (where share_left < 0.099999999),
            min(waited_hours) filter (where share_left < 0.100000001)
        )
    ) / 2 as estimated_p90_hours,
    count(*) filter (where state = 'over' and waited_hours > 120) as over_5_days,
    count(*) filter (where waited_hours is null) as not_measured,
    count(*) filter (where not is_zone_known) as zone_unknown
from shares
group by terminal_id, cut, week_on, stage_code, only_port_locode;
