-- How good the data of each shipping line is
--
-- One row per shipping line, by its SCAC: completeness, zones, stale and stopped tracking, failed
-- requests and reporting lag. data_quality says what each figure counts.

create view {{parts}}.line_quality as
with

-- The SCACs have collation "C" everywhere, like the ids of terminals beside them in data_quality;
-- otherwise a question about one line would narrow none of these parts.
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

)

select
    coalesce(line.scac, request.scac) as subject_id,
    line.name as subject_name,
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
    round(lag.lag_hours[2]::numeric, 2) as lag_p90_hours
from line_shipments as line
-- This way round: PostgreSQL narrows both by a line only if the condition names them as coalesce
-- does.
full join line_requests as request
    on line.scac = request.scac
left join line_containers as container
    on container.scac = coalesce(line.scac, request.scac)
left join line_lags as lag
    on lag.scac = coalesce(line.scac, request.scac);
