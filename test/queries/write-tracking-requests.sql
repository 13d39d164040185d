-- write tracking_requests

copy "tracking"."tracking_requests" ("tracking_request_id", "request_number", "scac", "request_type", "status", "failed_reason", "ref_numbers", "tags", "shipment_tags", "created_at", "updated_at", "is_retrying", "retry_count", "tracked_object_id", "tracked_object_type", "customer_id", "customer_type", "user_id", "_unmapped", "_coercions", "_fingerprint", "_digest", "_observed_at", "_first_seen_at", "_changed_at", "_sync_run_id") from stdin;
