-- compare custom_field_definitions

select "stored"."custom_field_definition_id" as key,
    stored._fingerprint,
    floor(extract(epoch from stored._observed_at) * 1000) as observed_ms,
    stored._deleted_at is not null as is_deleted,
    (left(stored._digest, 4) = $1::text
        and right(stored._digest, 4) = left(stored._fingerprint, 4)) as has_digest
from unnest($2::text[]) as wanted ("custom_field_definition_id")
cross join lateral (select candidate.* from "tracking"."custom_field_definitions" as candidate where ("candidate"."custom_field_definition_id" = "wanted"."custom_field_definition_id") offset 0) as stored;
