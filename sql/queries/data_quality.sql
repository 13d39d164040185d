-- How far the data can be trusted

select
    subject_type,
    subject_id,
    subject_name,
    containers,
    milestones_expected,
    milestones_reported,
    milestone_completeness,
    zone_missing,
    zone_invalid,
    tracked,
    stale,
    stopped,
    stop_reasons,
    requests,
    failed_requests,
    failed_requests_share,
    lag_n,
    lag_median_hours,
    lag_p90_hours
from {{analytics}}.data_quality
where (
        :line::text is null
        or subject_type = 'shipping_line' and subject_id = upper(:line::text)
        or lower(subject_name) = lower(:line::text)
    )
order by subject_type, containers desc, subject_id
limit :limit::text::bigint
