-- How fresh the data is

select
    stream,
    last_complete_run_id,
    last_outcome,
    last_detail,
    age_hours,
    rows,
    last_complete_started_at,
    last_complete_finished_at,
    last_started_at
from {{analytics}}.freshness
order by stream
limit :limit::text::bigint
