-- begin to derive again

insert into "tracking_sync"."derivations" as made (derivation, text_hash)
values ($1, $2)
on conflict (derivation) do update
set
    text_hash = excluded.text_hash,
    begun_at = excluded.begun_at,
    finished_at = null,
    derived_up_to = case when made.text_hash = excluded.text_hash then made.derived_up_to end
returning derived_up_to;
