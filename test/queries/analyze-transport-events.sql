-- analyze transport_events

analyze (skip_locked) "tracking"."transport_events";
