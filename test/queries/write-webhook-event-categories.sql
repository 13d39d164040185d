-- write webhook_event_categories

copy "tracking"."webhook_event_categories" ("webhook_event_category_id", "name", "events", "_unmapped", "_coercions", "_fingerprint", "_digest", "_observed_at", "_first_seen_at", "_changed_at", "_sync_run_id") from stdin;
