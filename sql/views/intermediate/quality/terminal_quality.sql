-- How good the data of each terminal is
--
-- One row per terminal at a port of discharge: completeness, zones, stale and stopped tracking, and
-- reporting lag. data_quality says what each figure counts.

create view {{parts}}.terminal_quality as
with

terminal_reasons as (

    select
        container.pod_terminal_id as terminal_id,
        container.tracking_stopped_reason as stop_reason,
        count(*) as containers,
        count(*) filter (where journey.has_landed and not journey.has_left_port) as tracked,
        count(*) filter (
            where journey.has_landed
                and not journey.has_left_port
                and not journey.is_terminal_fresh
        ) as stale,
        count(*) filter (where container.pod_timezone is null) as zone_missing,
        count(*) filter (
            where container.pod_timezone is not null and not journey.is_port_zone_known
        ) as zone_invalid,
        sum(container.milestones_expected) as milestones_expected,
        sum(container.milestones_reported) as milestones_reported
    from {{parts}}.container_completeness as container
    inner join {{parts}}.journey_facts as journey
        on journey.container_id = container.container_id
    where container.pod_terminal_id is not null
    group by container.pod_terminal_id, container.tracking_stopped_reason

),

terminal_containers as (

    select
        terminal_id,
        sum(containers)::bigint as containers,
        sum(tracked)::bigint as tracked,
        sum(stale)::bigint as stale,
        coalesce(sum(containers) filter (where stop_reason is not null), 0)::bigint as stopped,
        jsonb_object_agg(stop_reason, containers) filter (where stop_reason is not null)
            as stop_reasons,
        sum(zone_missing)::bigint as zone_missing,
        sum(zone_invalid)::bigint as zone_invalid,
        sum(milestones_expected) as milestones_expected,
        sum(milestones_reported) as milestones_reported
    from terminal_reasons
    group by terminal_id

),

terminal_lags as (

    select
        report.terminal_id,
        count(*) as lag_n,
        percentile_cont(array[0.5, 0.9]) within group (
            order by date_part('epoch', report.created_at - report.timestamp) / 3600
        ) as lag_hours
    from {{parts}}.known_transport_events as report
    inner join {{parts}}.known_shipments as shipment
        on shipment.shipment_id = report.shipment_id
    inner join {{analytics}}.time_zones as zone
        on zone.name = report.timezone
    where report.terminal_type = 'terminal'
        and report.data_source = 'terminal'
        and not report.is_estimated
        and report.event like 'container.transport.%'
        and report.event not in (
            'container.transport.available', 'container.transport.not_available'
        )
        and report.timestamp >= shipment.created_at
        and report.created_at > {{analytics}}.as_of() - interval '30 days'
        and report.created_at <= {{analytics}}.as_of()
    group by report.terminal_id

)

select
    container.terminal_id as subject_id,
    coalesce(terminal.nickname, terminal.name) as subject_name,
    container.containers,
    container.milestones_expected::bigint as milestones_expected,
    container.milestones_reported::bigint as milestones_reported,
    round(container.milestones_reported::numeric / nullif(container.milestones_expected, 0), 4)
        as milestone_completeness,
    container.zone_missing,
    container.zone_invalid,
    container.tracked,
    case
        when nullif(current_setting('tracking_sync.as_of', true), '') is null
            then container.stale
    end as stale,
    container.stopped,
    container.stop_reasons,
    coalesce(lag.lag_n, 0) as lag_n,
    round(lag.lag_hours[1]::numeric, 2) as lag_median_hours,
    round(lag.lag_hours[2]::numeric, 2) as lag_p90_hours
from terminal_containers as container
left join terminal_lags as lag
    on lag.terminal_id = container.terminal_id
left join {{data}}.terminals as terminal
    on terminal.terminal_id = container.terminal_id;
