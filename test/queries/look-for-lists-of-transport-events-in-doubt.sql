-- look for lists of transport events in doubt

select "container_id" from "tracking_sync"."event_lists_in_doubt" limit $1;
