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
select
    'shipping_line' as subject_type,
    line.subject_id,
    line.subject_name,
    null as last_outcome,
    line.containers,
    line.milestones_expected,
    line.milestones_reported,
    line.milestone_completeness,
    line.zone_missing,
    line.zone_invalid,
    line.tracked,
    line.stale,
    line.stopped,
    line.stop_reasons,
    line.requests,
    line.failed_requests,
    line.failed_requests_share,
    line.lag_n,
    line.lag_median_hours,
    line.lag_p90_hours,
    null::numeric as age_hours,
    null::bigint as rows
from {{parts}}.line_quality as line

union all

select
    'terminal' as subject_type,
    terminal.subject_id,
    terminal.subject_name,
    null as last_outcome,
    terminal.containers,
    terminal.milestones_expected,
    terminal.milestones_reported,
    terminal.milestone_completeness,
    terminal.zone_missing,
    terminal.zone_invalid,
    terminal.tracked,
    terminal.stale,
    terminal.stopped,
    terminal.stop_reasons,
    null::bigint as requests,
    null::bigint as failed_requests,
    null::numeric as failed_requests_share,
    terminal.lag_n,
    terminal.lag_median_hours,
    terminal.lag_p90_hours,
    null::numeric as age_hours,
    null::bigint as rows
from {{parts}}.terminal_quality as terminal

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
