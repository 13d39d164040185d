-- write terminals

copy "tracking"."terminals" ("terminal_id", "name", "nickname", "firms_code", "smdg_code", "bic_facility_code", "street", "city", "state", "state_abbr", "zip", "country", "facility_type", "provided_data", "port_id", "_unmapped", "_coercions", "_fingerprint", "_digest", "_observed_at", "_first_seen_at", "_changed_at", "_sync_run_id") from stdin;

with incoming as (
    select "raw"."terminal_id", "raw"."name", "raw"."nickname", "raw"."firms_code", "raw"."smdg_code", "raw"."bic_facility_code", "raw"."street", "raw"."city", "raw"."state", "raw"."state_abbr", "raw"."zip", "raw"."country", "raw"."facility_type", "raw"."provided_data"::jsonb as "provided_data", "raw"."port_id",
        raw._unmapped::jsonb as _unmapped,
        raw._coercions::jsonb as _coercions,
        raw._fingerprint,
        raw._digest,
        raw._observed_at::timestamptz as _observed_at,
        raw.is_complete
    from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::boolean[]) as raw ("terminal_id", "name", "nickname", "firms_code", "smdg_code", "bic_facility_code", "street", "city", "state", "state_abbr", "zip", "country", "facility_type", "provided_data", "port_id", "_unmapped", "_coercions", "_fingerprint", "_digest", "_observed_at", "is_complete")
),
changed as (
    select incoming.*
    from incoming
    left join lateral (select candidate.* from "tracking"."terminals" as candidate where ("candidate"."terminal_id" = "incoming"."terminal_id") offset 0) as stored
        on true
    where stored._observed_at is null
        or (incoming._observed_at >= stored._observed_at and (
            stored._deleted_at is not null
            or (("stored"."name", "stored"."nickname", "stored"."firms_code", "stored"."smdg_code", "stored"."bic_facility_code", "stored"."street", "stored"."city", "stored"."state", "stored"."state_abbr", "stored"."zip", "stored"."country", "stored"."facility_type", "stored"."provided_data", "stored"."port_id") is distinct from ("incoming"."name", "incoming"."nickname", "incoming"."firms_code", "incoming"."smdg_code", "incoming"."bic_facility_code", "incoming"."street", "incoming"."city", "incoming"."state", "incoming"."state_abbr", "incoming"."zip", "incoming"."country", "incoming"."facility_type", "incoming"."provided_data", "incoming"."port_id") or nullif(coalesce(stored._unmapped, '{}') || coalesce("incoming"._unmapped, '{}'), '{}') is distinct from stored._unmapped or nullif((coalesce(stored._coercions, '{}') - array['terminal_id', 'name', 'nickname', 'firms_code', 'smdg_code', 'bic_facility_code', 'street', 'city', 'state', 'state_abbr', 'zip', 'country', 'facility_type', 'provided_data', 'port_id']::text[] - '_unmapped') || coalesce("incoming"._coercions, '{}'), '{}') is distinct from stored._coercions)
            or (incoming.is_complete and incoming._fingerprint is distinct from stored._fingerprint)
        ))
        
)
insert into "tracking"."terminals" as stored
    ("terminal_id", "name", "nickname", "firms_code", "smdg_code", "bic_facility_code", "street", "city", "state", "state_abbr", "zip", "country", "facility_type", "provided_data", "port_id", "_unmapped", "_coercions", "_fingerprint", "_digest", "_observed_at", "_first_seen_at", "_changed_at", "_sync_run_id")
select "changed"."terminal_id", "changed"."name", "changed"."nickname", "changed"."firms_code", "changed"."smdg_code", "changed"."bic_facility_code", "changed"."street", "changed"."city", "changed"."state", "changed"."state_abbr", "changed"."zip", "changed"."country", "changed"."facility_type", "changed"."provided_data", "changed"."port_id", "changed"."_unmapped", "changed"."_coercions", "changed"."_fingerprint", "changed"."_digest", "changed"."_observed_at",
    changed._observed_at,
    changed._observed_at,
    $22::bigint
from changed
order by "changed"."terminal_id"
on conflict ("terminal_id") do update
set
    "name" = "excluded"."name", "nickname" = "excluded"."nickname", "firms_code" = "excluded"."firms_code", "smdg_code" = "excluded"."smdg_code", "bic_facility_code" = "excluded"."bic_facility_code", "street" = "excluded"."street", "city" = "excluded"."city", "state" = "excluded"."state", "state_abbr" = "excluded"."state_abbr", "zip" = "excluded"."zip", "country" = "excluded"."country", "facility_type" = "excluded"."facility_type", "provided_data" = "excluded"."provided_data", "port_id" = "excluded"."port_id",
    _unmapped = nullif(coalesce(stored._unmapped, '{}') || coalesce("excluded"._unmapped, '{}'), '{}'),
    _coercions = nullif((coalesce(stored._coercions, '{}') - array['terminal_id', 'name', 'nickname', 'firms_code', 'smdg_code', 'bic_facility_code', 'street', 'city', 'state', 'state_abbr', 'zip', 'country', 'facility_type', 'provided_data', 'port_id']::text[] - '_unmapped') || coalesce("excluded"._coercions, '{}'), '{}'),
    _fingerprint = "excluded"."_fingerprint",
    _digest = "excluded"."_digest",
    _changed_at = case when stored._deleted_at is not null or ("stored"."name", "stored"."nickname", "stored"."firms_code", "stored"."smdg_code", "stored"."bic_facility_code", "stored"."street", "stored"."city", "stored"."state", "stored"."state_abbr", "stored"."zip", "stored"."country", "stored"."facility_type", "stored"."provided_data", "stored"."port_id") is distinct from ("excluded"."name", "excluded"."nickname", "excluded"."firms_code", "excluded"."smdg_code", "excluded"."bic_facility_code", "excluded"."street", "excluded"."city", "excluded"."state", "excluded"."state_abbr", "excluded"."zip", "excluded"."country", "excluded"."facility_type", "excluded"."provided_data", "excluded"."port_id") then excluded._observed_at else stored._changed_at end,
    _observed_at = excluded._observed_at,
    _sync_run_id = excluded._sync_run_id,
    _deleted_at = null
where excluded._observed_at >= stored._observed_at
returning "stored"."terminal_id", (xmax = 0) as is_inserted;

with incoming as (
    select "raw"."terminal_id", "raw"."name", "raw"."nickname", "raw"."firms_code", "raw"."smdg_code", "raw"."bic_facility_code", "raw"."street", "raw"."city", "raw"."state", "raw"."state_abbr", "raw"."zip", "raw"."country", "raw"."facility_type", "raw"."provided_data"::jsonb as "provided_data", "raw"."port_id",
        raw._unmapped::jsonb as _unmapped,
        raw._coercions::jsonb as _coercions,
        raw._fingerprint,
        raw._digest,
        raw._observed_at::timestamptz as _observed_at,
        raw.is_complete
    from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::boolean[]) as raw ("terminal_id", "name", "nickname", "firms_code", "smdg_code", "bic_facility_code", "street", "city", "state", "state_abbr", "zip", "country", "facility_type", "provided_data", "port_id", "_unmapped", "_coercions", "_fingerprint", "_digest", "_observed_at", "is_complete")
),
changed as (
    select incoming.*
    from incoming
    left join lateral (select candidate.* from "tracking"."terminals" as candidate where ("candidate"."terminal_id" = "incoming"."terminal_id") offset 0) as stored
        on true
    where stored._observed_at is null
        or (incoming._observed_at >= stored._observed_at and (
            stored._deleted_at is not null
            or (("stored"."name", "stored"."nickname", "stored"."firms_code", "stored"."smdg_code", "stored"."bic_facility_code", "stored"."street", "stored"."city", "stored"."state", "stored"."state_abbr", "stored"."zip", "stored"."country", "stored"."facility_type", "stored"."provided_data", "stored"."port_id") is distinct from ("incoming"."name", "incoming"."nickname", "incoming"."firms_code", "incoming"."smdg_code", "incoming"."bic_facility_code", "incoming"."street", "incoming"."city", "incoming"."state", "incoming"."state_abbr", "incoming"."zip", "incoming"."country", "incoming"."facility_type", "incoming"."provided_data", "incoming"."port_id") or nullif(coalesce(stored._unmapped, '{}') || coalesce("incoming"._unmapped, '{}'), '{}') is distinct from stored._unmapped or nullif((coalesce(stored._coercions, '{}') - array['terminal_id', 'name', 'nickname', 'firms_code', 'smdg_code', 'bic_facility_code', 'street', 'city', 'state', 'state_abbr', 'zip', 'country', 'facility_type', 'provided_data', 'port_id']::text[]) || coalesce("incoming"._coercions, '{}'), '{}') is distinct from stored._coercions)
            or (incoming.is_complete and incoming._fingerprint is distinct from stored._fingerprint)
        ))
        
)
insert into "tracking"."terminals" as stored
    ("terminal_id", "name", "nickname", "firms_code", "smdg_code", "bic_facility_code", "street", "city", "state", "state_abbr", "zip", "country", "facility_type", "provided_data", "port_id", "_unmapped", "_coercions", "_fingerprint", "_digest", "_observed_at", "_first_seen_at", "_changed_at", "_sync_run_id")
select "changed"."terminal_id", "changed"."name", "changed"."nickname", "changed"."firms_code", "changed"."smdg_code", "changed"."bic_facility_code", "changed"."street", "changed"."city", "changed"."state", "changed"."state_abbr", "changed"."zip", "changed"."country", "changed"."facility_type", "changed"."provided_data", "changed"."port_id", "changed"."_unmapped", "changed"."_coercions", "changed"."_fingerprint", "changed"."_digest", "changed"."_observed_at",
    changed._observed_at,
    changed._observed_at,
    $22::bigint
from changed
order by "changed"."terminal_id"
on conflict ("terminal_id") do update
set
    "name" = "excluded"."name", "nickname" = "excluded"."nickname", "firms_code" = "excluded"."firms_code", "smdg_code" = "excluded"."smdg_code", "bic_facility_code" = "excluded"."bic_facility_code", "street" = "excluded"."street", "city" = "excluded"."city", "state" = "excluded"."state", "state_abbr" = "excluded"."state_abbr", "zip" = "excluded"."zip", "country" = "excluded"."country", "facility_type" = "excluded"."facility_type", "provided_data" = "excluded"."provided_data", "port_id" = "excluded"."port_id",
    _unmapped = nullif(coalesce(stored._unmapped, '{}') || coalesce("excluded"._unmapped, '{}'), '{}'),
    _coercions = nullif((coalesce(stored._coercions, '{}') - array['terminal_id', 'name', 'nickname', 'firms_code', 'smdg_code', 'bic_facility_code', 'street', 'city', 'state', 'state_abbr', 'zip', 'country', 'facility_type', 'provided_data', 'port_id']::text[]) || coalesce("excluded"._coercions, '{}'), '{}'),
    _fingerprint = case when (("stored"."name", "stored"."nickname", "stored"."firms_code", "stored"."smdg_code", "stored"."bic_facility_code", "stored"."street", "stored"."city", "stored"."state", "stored"."state_abbr", "stored"."zip", "stored"."country", "stored"."facility_type", "stored"."provided_data", "stored"."port_id") is distinct from ("excluded"."name", "excluded"."nickname", "excluded"."firms_code", "excluded"."smdg_code", "excluded"."bic_facility_code", "excluded"."street", "excluded"."city", "excluded"."state", "excluded"."state_abbr", "excluded"."zip", "excluded"."country", "excluded"."facility_type", "excluded"."provided_data", "excluded"."port_id") or nullif(coalesce(stored._unmapped, '{}') || coalesce("excluded"._unmapped, '{}'), '{}') is distinct from stored._unmapped or nullif((coalesce(stored._coercions, '{}') - array['terminal_id', 'name', 'nickname', 'firms_code', 'smdg_code', 'bic_facility_code', 'street', 'city', 'state', 'state_abbr', 'zip', 'country', 'facility_type', 'provided_data', 'port_id']::text[]) || coalesce("excluded"._coercions, '{}'), '{}') is distinct from stored._coercions) then "excluded"."_fingerprint" else "stored"."_fingerprint" end,
    _digest = case when (("stored"."name", "stored"."nickname", "stored"."firms_code", "stored"."smdg_code", "stored"."bic_facility_code", "stored"."street", "stored"."city", "stored"."state", "stored"."state_abbr", "stored"."zip", "stored"."country", "stored"."facility_type", "stored"."provided_data", "stored"."port_id") is distinct from ("excluded"."name", "excluded"."nickname", "excluded"."firms_code", "excluded"."smdg_code", "excluded"."bic_facility_code", "excluded"."street", "excluded"."city", "excluded"."state", "excluded"."state_abbr", "excluded"."zip", "excluded"."country", "excluded"."facility_type", "excluded"."provided_data", "excluded"."port_id") or nullif(coalesce(stored._unmapped, '{}') || coalesce("excluded"._unmapped, '{}'), '{}') is distinct from stored._unmapped or nullif((coalesce(stored._coercions, '{}') - array['terminal_id', 'name', 'nickname', 'firms_code', 'smdg_code', 'bic_facility_code', 'street', 'city', 'state', 'state_abbr', 'zip', 'country', 'facility_type', 'provided_data', 'port_id']::text[]) || coalesce("excluded"._coercions, '{}'), '{}') is distinct from stored._coercions) then "excluded"."_digest" else "stored"."_digest" end,
    _changed_at = case when stored._deleted_at is not null or ("stored"."name", "stored"."nickname", "stored"."firms_code", "stored"."smdg_code", "stored"."bic_facility_code", "stored"."street", "stored"."city", "stored"."state", "stored"."state_abbr", "stored"."zip", "stored"."country", "stored"."facility_type", "stored"."provided_data", "stored"."port_id") is distinct from ("excluded"."name", "excluded"."nickname", "excluded"."firms_code", "excluded"."smdg_code", "excluded"."bic_facility_code", "excluded"."street", "excluded"."city", "excluded"."state", "excluded"."state_abbr", "excluded"."zip", "excluded"."country", "excluded"."facility_type", "excluded"."provided_data", "excluded"."port_id") then excluded._observed_at else stored._changed_at end,
    _observed_at = excluded._observed_at,
    _sync_run_id = excluded._sync_run_id,
    _deleted_at = null
where excluded._observed_at >= stored._observed_at
returning "stored"."terminal_id", (xmax = 0) as is_inserted;
