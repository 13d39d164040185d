-- lock the lease

insert into "tracking_sync"."lease" ("lease_name") values ($1) on conflict do nothing;

select "lease_name" from "tracking_sync"."lease" where "lease_name" = $1 for update;

set local lock_timeout = '1500ms';
