-- compare ports

select "stored"."port_id" as key,
    stored._fingerprint,
    floor(extract(epoch from stored._observed_at) * 1000) as observed_ms,
    stored._deleted_at is not null as is_deleted,
    (left(stored._digest, 4) = $1::text
        and right(stored._digest, 4) = left(stored._fingerprint, 4)) as has_digest
from unnest($2::text[]) as wanted ("port_id")
cross join lateral (select candidate.* from "tracking"."ports" as candidate where ("candidate"."port_id" = "wanted"."port_id") offset 0) as stored;
