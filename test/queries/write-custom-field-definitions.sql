-- write custom_field_definitions

copy "tracking"."custom_field_definitions" ("custom_field_definition_id", "entity_type", "api_slug", "display_name", "data_type", "description", "reference_type", "default_format", "validation", "default_value", "sensitive", "_unmapped", "_coercions", "_fingerprint", "_digest", "_observed_at", "_first_seen_at", "_changed_at", "_sync_run_id") from stdin;
