-- take the lease

with taken as (select lease_name from "tracking_sync"."lease" where lease_name = $1 )
update "tracking_sync"."lease" as held
set
    holder = $2,
    fencing_token = held.fencing_token + 1,
    acquired_at = clock_timestamp(),
    heartbeat_at = clock_timestamp()
from taken
where held.lease_name = taken.lease_name
returning held.fencing_token;

with taken as (select lease_name from "tracking_sync"."lease" where lease_name = $1 and holder is null for update skip locked)
update "tracking_sync"."lease" as held
set
    holder = $2,
    fencing_token = held.fencing_token + 1,
    acquired_at = clock_timestamp(),
    heartbeat_at = clock_timestamp()
from taken
where held.lease_name = taken.lease_name
returning held.fencing_token;
