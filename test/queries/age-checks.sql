-- age checks

update "tracking_sync"."reference_checks" set due_at = now();
