-- write ports

copy "tracking"."ports" ("port_id", "name", "code", "state_abbr", "city", "country_code", "time_zone", "latitude", "longitude", "terminal_ids", "_unmapped", "_coercions", "_fingerprint", "_digest", "_observed_at", "_first_seen_at", "_changed_at", "_sync_run_id") from stdin;

with incoming as (
    select "raw"."port_id", "raw"."name", "raw"."code", "raw"."state_abbr", "raw"."city", "raw"."country_code", "raw"."time_zone", "raw"."latitude"::numeric as "latitude", "raw"."longitude"::numeric as "longitude", "raw"."terminal_ids"::text[] as "terminal_ids",
        raw._unmapped::jsonb as _unmapped,
        raw._coercions::jsonb as _coercions,
        raw._fingerprint,
        raw._digest,
        raw._observed_at::timestamptz as _observed_at,
        raw.is_complete
    from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::boolean[]) as raw ("port_id", "name", "code", "state_abbr", "city", "country_code", "time_zone", "latitude", "longitude", "terminal_ids", "_unmapped", "_coercions", "_fingerprint", "_digest", "_observed_at", "is_complete")
),
changed as (
    select incoming.*
    from incoming
    left join lateral (select candidate.* from "tracking"."ports" as candidate where ("candidate"."port_id" = "incoming"."port_id") offset 0) as stored
        on true
    where stored._observed_at is null
        or (incoming._observed_at >= stored._observed_at and (
            stored._deleted_at is not null
            or (("stored"."name", "stored"."code", "stored"."state_abbr", "stored"."city", "stored"."country_code", "stored"."time_zone", "stored"."latitude", "stored"."longitude", "stored"."terminal_ids") is distinct from ("incoming"."name", "incoming"."code", "incoming"."state_abbr", "incoming"."city", "incoming"."country_code", "incoming"."time_zone", "incoming"."latitude", "incoming"."longitude", "incoming"."terminal_ids") or nullif(coalesce(stored._unmapped, '{}') || coalesce("incoming"._unmapped, '{}'), '{}') is distinct from stored._unmapped or nullif((coalesce(stored._coercions, '{}') - array['port_id', 'name', 'code', 'state_abbr', 'city', 'country_code', 'time_zone', 'latitude', 'longitude', 'terminal_ids']::text[]) || coalesce("incoming"._coercions, '{}'), '{}') is distinct from stored._coercions)
            or (incoming.is_complete and incoming._fingerprint is distinct from stored._fingerprint)
        ))
        
)
insert into "tracking"."ports" as stored
    ("port_id", "name", "code", "state_abbr", "city", "country_code", "time_zone", "latitude", "longitude", "terminal_ids", "_unmapped", "_coercions", "_fingerprint", "_digest", "_observed_at", "_first_seen_at", "_changed_at", "_sync_run_id")
select "changed"."port_id", "changed"."name", "changed"."code", "changed"."state_abbr", "changed"."city", "changed"."country_code", "changed"."time_zone", "changed"."latitude", "changed"."longitude", "changed"."terminal_ids", "changed"."_unmapped", "changed"."_coercions", "changed"."_fingerprint", "changed"."_digest", "changed"."_observed_at",
    changed._observed_at,
    changed._observed_at,
    $17::bigint
from changed
order by "changed"."port_id"
on conflict ("port_id") do update
set
    "name" = "excluded"."name", "code" = "excluded"."code", "state_abbr" = "excluded"."state_abbr", "city" = "excluded"."city", "country_code" = "excluded"."country_code", "time_zone" = "excluded"."time_zone", "latitude" = "excluded"."latitude", "longitude" = "excluded"."longitude", "terminal_ids" = "excluded"."terminal_ids",
    _unmapped = nullif(coalesce(stored._unmapped, '{}') || coalesce("excluded"._unmapped, '{}'), '{}'),
    _coercions = nullif((coalesce(stored._coercions, '{}') - array['port_id', 'name', 'code', 'state_abbr', 'city', 'country_code', 'time_zone', 'latitude', 'longitude', 'terminal_ids']::text[]) || coalesce("excluded"._coercions, '{}'), '{}'),
    _fingerprint = case when (("stored"."name", "stored"."code", "stored"."state_abbr", "stored"."city", "stored"."country_code", "stored"."time_zone", "stored"."latitude", "stored"."longitude", "stored"."terminal_ids") is distinct from ("excluded"."name", "excluded"."code", "excluded"."state_abbr", "excluded"."city", "excluded"."country_code", "excluded"."time_zone", "excluded"."latitude", "excluded"."longitude", "excluded"."terminal_ids") or nullif(coalesce(stored._unmapped, '{}') || coalesce("excluded"._unmapped, '{}'), '{}') is distinct from stored._unmapped or nullif((coalesce(stored._coercions, '{}') - array['port_id', 'name', 'code', 'state_abbr', 'city', 'country_code', 'time_zone', 'latitude', 'longitude', 'terminal_ids']::text[]) || coalesce("excluded"._coercions, '{}'), '{}') is distinct from stored._coercions) then "excluded"."_fingerprint" else "stored"."_fingerprint" end,
    _digest = case when (("stored"."name", "stored"."code", "stored"."state_abbr", "stored"."city", "stored"."country_code", "stored"."time_zone", "stored"."latitude", "stored"."longitude", "stored"."terminal_ids") is distinct from ("excluded"."name", "excluded"."code", "excluded"."state_abbr", "excluded"."city", "excluded"."country_code", "excluded"."time_zone", "excluded"."latitude", "excluded"."longitude", "excluded"."terminal_ids") or nullif(coalesce(stored._unmapped, '{}') || coalesce("excluded"._unmapped, '{}'), '{}') is distinct from stored._unmapped or nullif((coalesce(stored._coercions, '{}') - array['port_id', 'name', 'code', 'state_abbr', 'city', 'country_code', 'time_zone', 'latitude', 'longitude', 'terminal_ids']::text[]) || coalesce("excluded"._coercions, '{}'), '{}') is distinct from stored._coercions) then "excluded"."_digest" else "stored"."_digest" end,
    _changed_at = case when stored._deleted_at is not null or ("stored"."name", "stored"."code", "stored"."state_abbr", "stored"."city", "stored"."country_code", "stored"."time_zone", "stored"."latitude", "stored"."longitude") is distinct from ("excluded"."name", "excluded"."code", "excluded"."state_abbr", "excluded"."city", "excluded"."country_code", "excluded"."time_zone", "excluded"."latitude", "excluded"."longitude") then excluded._observed_at else stored._changed_at end,
    _observed_at = excluded._observed_at,
    _sync_run_id = excluded._sync_run_id,
    _deleted_at = null
where excluded._observed_at >= stored._observed_at
returning "stored"."port_id", (xmax = 0) as is_inserted;
