-- How long containers wait at the port, stage by stage
--
-- One row per terminal at the port of discharge, local week in which the wait began, and stage:
--   1 arrival to berth         the vessel waits for its berth
--   2 berth to discharge
--   3 discharge to available   until the terminal first said that it can be picked up
--   4 available to out         until the earlier of gate-out and departure of the train
--   5 arrival to out           all of it
--
-- n, median_hours and p90_hours count the waits that are over. These figures are too low while
-- containers still wait, because the long waits are not over. estimated_median_hours and
-- estimated_p90_hours count those too, by the estimate of Kaplan and Meier.
-- In plain words: go through the waits from the shortest on. At the end of each wait, divide it by
-- the number of waits that lasted at least as long, finished or not, and reduce the remaining share
-- by that fraction. A container that still waits counts for as long as it has waited, with the
-- meaning "longer than this": it neither vanishes nor counts as finished. The median is the wait
-- after which less than half is left, p90 the wait after which less than a tenth is left; where
-- exactly so much is left for a while, the middle of that while (as R's survfit). Null: too many
-- containers still wait, and not long enough, for an estimate. When none waits, the medians agree.
--
-- still_waiting: it began, and neither its end nor anything later at the port, on the rails or
-- behind the gate has been reported. A container that the service no longer tracks counts in the
-- estimate for as long as it was seen to wait, and not in still_waiting.
-- not_measured: its end was not reported although something later was, it ended before it began, or
-- the terminal does not say whether it is available (availability_known). A wait whose begin was
-- not reported is left out. If berths are not reported, containers seem to wait for one until their
-- discharge. An instant after as_of() has not happened.
-- Milestones are those of journey. A container without a terminal counts under the
-- port of its shipment, terminal null. Without a zone the source's times are wall time, and the age
-- of a container that still waits is off by the offset of the place.

create view {{analytics}}.port_waits as
with

boxes as (

    select
        journey.pod_terminal_id as terminal_id,
        case when journey.pod_terminal_id is null then journey.port_of_discharge_locode end
            as shipment_port_locode,
        zone.name is not null as is_zone_known,
        coalesce(zone.name, case when journey.pod_zone is null then 'UTC' end) as clock,
        milestone.arrived_at,
        milestone.berthed_at,
        milestone.discharged_at,
        case when journey.available_at <= {{analytics}}.as_of() then journey.available_at end
            as available_at,
        milestone.out_at,
        milestone.is_gone,
        journey.is_availability_known is false as is_availability_untold,
        -- Until when it is known to have waited, if it did not end.
        case
            when journey.tracking_stopped_at <= {{analytics}}.as_of()
                then journey.tracking_stopped_at
            when journey.tracking_stopped_reason is null then {{analytics}}.as_of()
        end as seen_until_at,
        journey.is_tracking_stopped
    from {{analytics}}.journey as journey
    left join {{analytics}}.time_zones as zone
        on zone.name = journey.pod_zone
    -- Milestones that have happened by now.
    cross join lateral (

        select
            case
                when journey.pod_arrived_at <= {{analytics}}.as_of() then journey.pod_arrived_at
            end as arrived_at,
            case
                when journey.pod_berthed_at <= {{analytics}}.as_of() then journey.pod_berthed_at
            end as berthed_at,
            case
                when journey.pod_discharged_at <= {{analytics}}.as_of()
                    then journey.pod_discharged_at
            end as discharged_at,
            case
                when least(journey.pod_full_out_at, journey.pod_rail_departed_at)
                    <= {{analytics}}.as_of()
                    then least(journey.pod_full_out_at, journey.pod_rail_departed_at)
            end as out_at,
            coalesce(
                least(
                    journey.pod_full_out_at,
                    journey.pod_rail_departed_at,
                    journey.ind_arrived_at,
                    journey.ind_rail_unloaded_at,
                    journey.final_destination_full_out_at,
                    journey.delivered_at,
                    journey.empty_terminated_at
                ) <= {{analytics}}.as_of(),
                false
            ) as is_gone

    ) as milestone

),

waits as (

    select
        box.terminal_id,
        box.shipment_port_locode,
        box.is_zone_known,
        wait.stage,
        date_trunc('week', wait.start_at at time zone box.clock)::date as week_on,
        wait.end_at is not null as is_over,
        wait.end_at is null and not wait.is_passed and not box.is_tracking_stopped as is_waiting,
        case
            when wait.end_at is not null then wait.end_at - wait.start_at
            when not wait.is_passed then greatest(box.seen_until_at - wait.start_at, interval '0')
        end as length
    from boxes as box
    cross join lateral (

        -- Not a list of values: PostgreSQL would prepare its expressions again for each container.
        select
            '1 arrival to berth' as stage,
            box.arrived_at as start_at,
            box.berthed_at as end_at,
            box.is_gone or box.discharged_at is not null as is_passed
        where box.arrived_at is not null

        union all

        select '2 berth to discharge', box.berthed_at, box.discharged_at, box.is_gone
        where box.berthed_at is not null

        union all

        select
            '3 discharge to available',
            box.discharged_at,
            box.available_at,
            box.is_gone or box.is_availability_untold
        where box.discharged_at is not null

        union all

        select '4 available to out', box.available_at, box.out_at, box.is_gone
        where box.available_at is not null

        union all

        select '5 arrival to out', box.arrived_at, box.out_at, box.is_gone
        where box.arrived_at is not null

    ) as wait

),

-- Of each length: how many ended at it, and how many had lasted at least so long.
lengths as (

    select
        terminal_id,
        shipment_port_locode,
        week_on,
        stage,
        length,
        count(*) filter (where is_over) as ended,
        sum(count(*)) over (
            partition by terminal_id, shipment_port_locode, week_on, stage
            order by length desc
        ) as lasted
    from waits
    where length >= interval '0'
    group by terminal_id, shipment_port_locode, week_on, stage, length

),

-- The share that is left after each length: a product, made as a sum of logarithms. Once all that
-- lasted so long have ended, nothing is left.
shares as (

    select
        terminal_id,
        shipment_port_locode,
        week_on,
        stage,
        length,
        case
            when bool_or(ended = lasted) over so_far then 0
            -- Rounded, so that a half is exactly a half.
            else round(
                exp(
                    sum(case when ended < lasted then ln(1 - ended / lasted::float8) else 0 end)
                        over so_far
                )::numeric,
                9
            )
        end as share_left
    from lengths
    window so_far as (
        partition by terminal_id, shipment_port_locode, week_on, stage
        order by length
    )

),

estimates as (

    select
        terminal_id,
        shipment_port_locode,
        week_on,
        stage,
        -- The second is missing where nothing ends after exactly a half, or a tenth, is left.
        (
            min(length) filter (where share_left <= 0.5)
            + coalesce(
                min(length) filter (where share_left < 0.5),
                min(length) filter (where share_left = 0.5)
            )
        ) / 2 as median_length,
        (
            min(length) filter (where share_left <= 0.1)
            + coalesce(
                min(length) filter (where share_left < 0.1),
                min(length) filter (where share_left = 0.1)
            )
        ) / 2 as p90_length
    from shares
    group by terminal_id, shipment_port_locode, week_on, stage

),

figures as (

    select
        terminal_id,
        shipment_port_locode,
        week_on,
        stage,
        count(*) filter (where is_over and length >= interval '0') as n,
        percentile_cont(0.5) within group (order by length)
            filter (where is_over and length >= interval '0') as median_length,
        percentile_cont(0.9) within group (order by length)
            filter (where is_over and length >= interval '0') as p90_length,
        count(*) filter (where is_waiting) as still_waiting,
        max(length) filter (where is_waiting) as longest_length,
        count(*) filter (where length is null or length < interval '0') as not_measured,
        count(*) filter (where not is_zone_known) as zone_unknown
    from waits
    group by terminal_id, shipment_port_locode, week_on, stage

)

select
    figure.terminal_id,
    coalesce(terminal.nickname, terminal.name) as terminal_name,
    coalesce(figure.shipment_port_locode, port.code) as port_locode,
    figure.stage,
    figure.week_on,
    figure.n,
    round(extract(epoch from figure.median_length) / 3600, 1) as median_hours,
    round(extract(epoch from figure.p90_length) / 3600, 1) as p90_hours,
    figure.still_waiting,
    round(extract(epoch from figure.longest_length) / 3600, 1) as longest_waiting_hours,
    round(extract(epoch from estimate.median_length) / 3600, 1) as estimated_median_hours,
    round(extract(epoch from estimate.p90_length) / 3600, 1) as estimated_p90_hours,
    figure.not_measured,
    figure.zone_unknown
from figures as figure
-- Terminal, port and week can be null; by equality PostgreSQL can hash them.
left join estimates as estimate
    on estimate.stage = figure.stage
    and coalesce(estimate.week_on, '-infinity') = coalesce(figure.week_on, '-infinity')
    and coalesce(estimate.terminal_id, '') = coalesce(figure.terminal_id, '')
    and coalesce(estimate.shipment_port_locode, '') = coalesce(figure.shipment_port_locode, '')
left join {{data}}.terminals as terminal
    on terminal.terminal_id = figure.terminal_id
left join {{data}}.ports as port
    on port.port_id = terminal.port_id;
