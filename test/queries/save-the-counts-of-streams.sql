-- save the counts of streams

insert into "tracking_sync"."sync_run_streams"
    (sync_run_id, finished_at, stream, "outcome", "detail", "pass_began_at", "pass_scope", "pages", "requests", "fetched", "inserted", "updated", "unchanged", "stale", "duplicate", "quarantined", "tombstoned", "coerced")
select $1::bigint, case when given.outcome != 'running' then now() end, given.*
from unnest(
    $2::text[],
    $3::text[],
    $4::text[],
    $5::timestamptz[],
    $6::text[],
    $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[], $15::bigint[], $16::bigint[], $17::bigint[]
) as given (stream, "outcome", "detail", "pass_began_at", "pass_scope", "pages", "requests", "fetched", "inserted", "updated", "unchanged", "stale", "duplicate", "quarantined", "tombstoned", "coerced")
on conflict (sync_run_id, stream) do update
set "finished_at" = "excluded"."finished_at", "outcome" = "excluded"."outcome", "detail" = "excluded"."detail", "pass_began_at" = "excluded"."pass_began_at", "pass_scope" = "excluded"."pass_scope", "pages" = "excluded"."pages", "requests" = "excluded"."requests", "fetched" = "excluded"."fetched", "inserted" = "excluded"."inserted", "updated" = "excluded"."updated", "unchanged" = "excluded"."unchanged", "stale" = "excluded"."stale", "duplicate" = "excluded"."duplicate", "quarantined" = "excluded"."quarantined", "tombstoned" = "excluded"."tombstoned", "coerced" = "excluded"."coerced";
