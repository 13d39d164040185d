-- write custom_fields

copy "tracking"."custom_fields" ("custom_field_id", "api_slug", "display_value", "value", "entity_id", "entity_type", "definition_id", "data_type", "value_text", "value_number", "value_date", "value_timestamp", "value_boolean", "value_list", "_unmapped", "_coercions", "_fingerprint", "_digest", "_observed_at", "_first_seen_at", "_changed_at", "_sync_run_id") from stdin;
