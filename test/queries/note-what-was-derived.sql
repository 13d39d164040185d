-- note what was derived

update "tracking_sync"."derivations"
set derived_up_to = $1, finished_at = case when $2::boolean then clock_timestamp() end
where derivation = $3;
