-- list checks of places and vessels

select resource_type || ' ' || resource_id as name, due_at <= now() as is_due
from "tracking_sync"."reference_checks";
