-- compare webhook_event_categories

select "stored"."webhook_event_category_id" as key,
    stored._fingerprint,
    floor(extract(epoch from stored._observed_at) * 1000) as observed_ms,
    stored._deleted_at is not null as is_deleted,
    (left(stored._digest, 4) = $1::text
        and right(stored._digest, 4) = left(stored._fingerprint, 4)) as has_digest
from unnest($2::text[]) as wanted ("webhook_event_category_id")
cross join lateral (select candidate.* from "tracking"."webhook_event_categories" as candidate where ("candidate"."webhook_event_category_id" = "wanted"."webhook_event_category_id") offset 0) as stored;
