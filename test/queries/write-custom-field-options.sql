-- write custom_field_options

copy "tracking"."custom_field_options" ("custom_field_option_id", "label", "value", "position", "definition_id", "_unmapped", "_coercions", "_fingerprint", "_digest", "_observed_at", "_first_seen_at", "_changed_at", "_sync_run_id") from stdin;
