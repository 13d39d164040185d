-- write transport_events

copy "tracking"."transport_events" ("container_id", "transport_event_id", "event", "data_source", "voyage_number", "timezone", "location_locode", "value", "timestamp", "created_at", "invalidated_at", "value_timestamp", "shipment_id", "location_id", "location_type", "vessel_id", "terminal_id", "terminal_type", "source_event_id", "previous_version_id", "is_estimated", "_unmapped", "_coercions", "_fingerprint", "_digest", "_observed_at", "_first_seen_at", "_changed_at", "_sync_run_id") from stdin;
