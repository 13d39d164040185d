-- write vessels

copy "tracking"."vessels" ("vessel_id", "name", "imo", "mmsi", "latitude", "longitude", "nautical_speed_knots", "navigational_heading_degrees", "position_timestamp", "_unmapped", "_coercions", "_fingerprint", "_digest", "_observed_at", "_first_seen_at", "_changed_at", "_sync_run_id") from stdin;

with incoming as (
    select "raw"."vessel_id", "raw"."name", "raw"."imo", "raw"."mmsi", "raw"."latitude"::numeric as "latitude", "raw"."longitude"::numeric as "longitude", "raw"."nautical_speed_knots"::numeric as "nautical_speed_knots", "raw"."navigational_heading_degrees"::numeric as "navigational_heading_degrees", "raw"."position_timestamp"::timestamptz as "position_timestamp",
        raw._unmapped::jsonb as _unmapped,
        raw._coercions::jsonb as _coercions,
        raw._fingerprint,
        raw._digest,
        raw._observed_at::timestamptz as _observed_at,
        raw.is_complete
    from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::boolean[]) as raw ("vessel_id", "name", "imo", "mmsi", "latitude", "longitude", "nautical_speed_knots", "navigational_heading_degrees", "position_timestamp", "_unmapped", "_coercions", "_fingerprint", "_digest", "_observed_at", "is_complete")
),
changed as (
    select incoming.*
    from incoming
    left join lateral (select candidate.* from "tracking"."vessels" as candidate where ("candidate"."vessel_id" = "incoming"."vessel_id") offset 0) as stored
        on true
    where stored._observed_at is null
        or (incoming._observed_at >= stored._observed_at and (
            stored._deleted_at is not null
            or (("stored"."name", "stored"."imo", "stored"."mmsi", "stored"."latitude", "stored"."longitude", "stored"."nautical_speed_knots", "stored"."navigational_heading_degrees", "stored"."position_timestamp") is distinct from ("incoming"."name", "incoming"."imo", "incoming"."mmsi", "incoming"."latitude", "incoming"."longitude", "incoming"."nautical_speed_knots", "incoming"."navigational_heading_degrees", "incoming"."position_timestamp") or nullif(coalesce(stored._unmapped, '{}') || coalesce("incoming"._unmapped, '{}'), '{}') is distinct from stored._unmapped or nullif((coalesce(stored._coercions, '{}') - array['vessel_id', 'name', 'imo', 'mmsi', 'latitude', 'longitude', 'nautical_speed_knots', 'navigational_heading_degrees', 'position_timestamp']::text[] - '_unmapped') || coalesce("incoming"._coercions, '{}'), '{}') is distinct from stored._coercions)
            or (incoming.is_complete and incoming._fingerprint is distinct from stored._fingerprint)
        ))
        
)
insert into "tracking"."vessels" as stored
    ("vessel_id", "name", "imo", "mmsi", "latitude", "longitude", "nautical_speed_knots", "navigational_heading_degrees", "position_timestamp", "_unmapped", "_coercions", "_fingerprint", "_digest", "_observed_at", "_first_seen_at", "_changed_at", "_sync_run_id")
select "changed"."vessel_id", "changed"."name", "changed"."imo", "changed"."mmsi", "changed"."latitude", "changed"."longitude", "changed"."nautical_speed_knots", "changed"."navigational_heading_degrees", "changed"."position_timestamp", "changed"."_unmapped", "changed"."_coercions", "changed"."_fingerprint", "changed"."_digest", "changed"."_observed_at",
    changed._observed_at,
    changed._observed_at,
    $16::bigint
from changed
order by "changed"."vessel_id"
on conflict ("vessel_id") do update
set
    "name" = "excluded"."name", "imo" = "excluded"."imo", "mmsi" = "excluded"."mmsi", "latitude" = "excluded"."latitude", "longitude" = "excluded"."longitude", "nautical_speed_knots" = "excluded"."nautical_speed_knots", "navigational_heading_degrees" = "excluded"."navigational_heading_degrees", "position_timestamp" = "excluded"."position_timestamp",
    _unmapped = nullif(coalesce(stored._unmapped, '{}') || coalesce("excluded"._unmapped, '{}'), '{}'),
    _coercions = nullif((coalesce(stored._coercions, '{}') - array['vessel_id', 'name', 'imo', 'mmsi', 'latitude', 'longitude', 'nautical_speed_knots', 'navigational_heading_degrees', 'position_timestamp']::text[] - '_unmapped') || coalesce("excluded"._coercions, '{}'), '{}'),
    _fingerprint = "excluded"."_fingerprint",
    _digest = "excluded"."_digest",
    _changed_at = case when stored._deleted_at is not null or ("stored"."name", "stored"."imo", "stored"."mmsi") is distinct from ("excluded"."name", "excluded"."imo", "excluded"."mmsi") then excluded._observed_at else stored._changed_at end,
    _observed_at = excluded._observed_at,
    _sync_run_id = excluded._sync_run_id,
    _deleted_at = null
where excluded._observed_at >= stored._observed_at
returning "stored"."vessel_id", (xmax = 0) as is_inserted;
