-- How far the data can be trusted
--
-- One row per shipping line (subject_type shipping_line, subject_id its SCAC), per terminal at a
-- port of discharge (subject_type terminal) and per stream (subject_type stream): how good the data
-- of the service are, and how fresh ours.
--
-- Completeness: of the milestones that the containers must have passed, those reported
-- (container_completeness).
-- Zones: containers whose port of discharge lacks a zone, and containers whose zone PostgreSQL does
-- not know, counted separately.
-- Stale: of a line, shipments still tracked of which the line last gave an answer more than 48
-- hours ago, or never. Of a terminal, containers that have landed and not left (journeys, also by a
-- status), which the terminal was last asked about 48 hours ago or more, or never. The times of
-- checking are stored without history: with the setting tracking_sync.as_of these are null.
-- Stopped: shipments that the service no longer tracks, with its reasons, of which
-- all_containers_terminated is the ordinary end; of a terminal, containers of such shipments.
-- Failed requests: tracking requests by the SCAC they named; null for a terminal. The status of a
-- request is stored without history: it is the present status of the requests made by as_of().
-- Reporting lag: when the service recorded a transport event minus when it happened, over events
-- recorded in the 30 days before as_of(). A line counts its own reports; a terminal counts its own
-- reports about that place.
-- Left out: estimated events; events in an unknown zone, whose instant is off by the offset; events
-- before the service knew the shipment, which were not late; and availability, which happens when
-- it is seen.
-- Streams: age_hours, last_outcome and rows are those of freshness; rows are counted only when the
-- column is read. All other figures of a stream are null, and these three of a line or terminal.

create view {{analytics}}.data_quality as
with

-- The SCACs have collation "C" everywhere, like the ids of terminals in the same column; otherwise
-- a question about one line would narrow none of these parts.
line_reasons as (

    select
        shipment.shipping_line_scac collate "C" as scac,
        case
            when shipment.is_tracking_stopped
                then coalesce(shipment.line_tracking_stopped_reason, 'not said')
        end as stop_reason,
        min(shipment.shipping_line_name) as name,
        count(*) as shipments,
        count(*) filter (
            where not shipment.is_tracking_stopped
                and coalesce(
                    checked.line_tracking_last_succeeded_at
                        < {{analytics}}.as_of() - interval '48 hours',
                    true
                )
        ) as stale
    from {{parts}}.known_shipments as shipment
    left join {{data}}.shipments as checked
        on checked.shipment_id = shipment.shipment_id
    where shipment.shipping_line_scac is not null
    group by 1, 2

),

line_shipments as (

    select
        scac,
        min(name) as name,
        sum(shipments)::bigint as shipments,
        coalesce(sum(shipments) filter (where stop_reason is null), 0)::bigint as tracked,
        sum(stale)::bigint as stale,
        coalesce(sum(shipments) filter (where stop_reason is not null), 0)::bigint as stopped,
        jsonb_object_agg(stop_reason, shipments) filter (where stop_reason is not null)
            as stop_reasons
    from line_reasons
    group by scac

),

line_containers as (

    select
        container.shipping_line_scac collate "C" as scac,
        count(*) as containers,
        count(*) filter (where container.pod_timezone is null) as zone_missing,
        count(*)
            filter (where container.pod_timezone is not null and zone.name is null) as zone_invalid,
        sum(container.milestones_expected) as milestones_expected,
        sum(container.milestones_reported) as milestones_reported
    from {{parts}}.container_completeness as container
    left join {{analytics}}.time_zones as zone
        on zone.name = container.pod_timezone
    group by 1

),

line_requests as (

    select
        scac collate "C" as scac,
        count(*) as requests,
        count(*) filter (where status = 'failed') as failed_requests
    from {{data}}.tracking_requests
    where scac is not null
        and _deleted_at is null
        and created_at <= {{analytics}}.as_of()
    group by 1

),

line_lags as (

    select
        shipment.shipping_line_scac collate "C" as scac,
        count(*) as lag_n,
        percentile_cont(array[0.5, 0.9]) within group (
            order by date_part('epoch', report.created_at - report.timestamp) / 3600
        ) as lag_hours
    from {{parts}}.known_transport_events as report
    inner join {{parts}}.known_shipments as shipment
        on shipment.shipment_id = report.shipment_id
    inner join {{analytics}}.time_zones as zone
        on zone.name = report.timezone
    where report.data_source = 'shipping_line'
        and not report.is_estimated
        and report.event like 'container.transport.%'
        and report.event not in (
            'container.transport.available', 'container.transport.not_available'
        )
        and report.timestamp >= shipment.created_at
        and report.created_at > {{analytics}}.as_of() - interval '30 days'
        and report.created_at <= {{analytics}}.as_of()
    group by 1

),

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
    'shipping_line' as subject_type,
    coalesce(line.scac, request.scac) as subject_id,
    line.name as subject_name,
    null as last_outcome,
    coalesce(container.containers, 0) as containers,
    coalesce(container.milestones_expected, 0)::bigint as milestones_expected,
    coalesce(container.milestones_reported, 0)::bigint as milestones_reported,
    round(container.milestones_reported::numeric / nullif(container.milestones_expected, 0), 4)
        as milestone_completeness,
    coalesce(container.zone_missing, 0) as zone_missing,
    coalesce(container.zone_invalid, 0) as zone_invalid,
    coalesce(line.tracked, 0) as tracked,
    case
        when nullif(current_setting('tracking_sync.as_of', true), '') is null
            then coalesce(line.stale, 0)
    end as stale,
    coalesce(line.stopped, 0) as stopped,
    line.stop_reasons,
    coalesce(request.requests, 0) as requests,
    coalesce(request.failed_requests, 0) as failed_requests,
    round(request.failed_requests::numeric / nullif(request.requests, 0), 4)
        as failed_requests_share,
    coalesce(lag.lag_n, 0) as lag_n,
    round(lag.lag_hours[1]::numeric, 2) as lag_median_hours,
    round(lag.lag_hours[2]::numeric, 2) as lag_p90_hours,
    null::numeric as age_hours,
    null::bigint as rows
from line_shipments as line
-- This way round: PostgreSQL narrows both by a line only if the condition names them as coalesce
-- does.
full join line_requests as request
    on line.scac = request.scac
left join line_containers as container
    on container.scac = coalesce(line.scac, request.scac)
left join line_lags as lag
    on lag.scac = coalesce(line.scac, request.scac)

union all

select
    'terminal' as subject_type,
    container.terminal_id as subject_id,
    coalesce(terminal.nickname, terminal.name) as subject_name,
    null as last_outcome,
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
    null::bigint as requests,
    null::bigint as failed_requests,
    null::numeric as failed_requests_share,
    coalesce(lag.lag_n, 0) as lag_n,
    round(lag.lag_hours[1]::numeric, 2) as lag_median_hours,
    round(lag.lag_hours[2]::numeric, 2) as lag_p90_hours,
    null::numeric as age_hours,
    null::bigint as rows
from terminal_containers as container
left join terminal_lags as lag
    on lag.terminal_id = container.terminal_id
left join {{data}}.terminals as terminal
    on terminal.terminal_id = container.terminal_id

union all

select
    'stream' as subject_type,
    fresh.stream collate "C" as subject_id,
    fresh.stream as subject_name,
    fresh.last_outcome,
    null::bigint as containers,
    null::bigint as milestones_expected,
    null::bigint as milestones_reported,
    null::numeric as milestone_completeness,
    null::bigint as zone_missing,
    null::bigint as zone_invalid,
    null::bigint as tracked,
    null::bigint as stale,
    null::bigint as stopped,
    null::jsonb as stop_reasons,
    null::bigint as requests,
    null::bigint as failed_requests,
    null::numeric as failed_requests_share,
    null::bigint as lag_n,
    null::numeric as lag_median_hours,
    null::numeric as lag_p90_hours,
    fresh.age_hours,
    fresh.rows
from {{analytics}}.freshness as fresh;
