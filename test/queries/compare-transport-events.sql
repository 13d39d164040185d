-- compare transport_events

select "stored"."container_id" || ' ' || "stored"."transport_event_id" as key,
    stored._fingerprint,
    floor(extract(epoch from stored._observed_at) * 1000) as observed_ms,
    stored._deleted_at is not null as is_deleted,
    (left(stored._digest, 4) = $1::text
        and right(stored._digest, 4) = left(stored._fingerprint, 4)) as has_digest
from unnest($2::text[], $3::text[]) as wanted ("container_id", "transport_event_id")
cross join lateral (select candidate.* from "tracking"."transport_events" as candidate where ("candidate"."container_id" = "wanted"."container_id" and "candidate"."transport_event_id" = "wanted"."transport_event_id") offset 0) as stored;
