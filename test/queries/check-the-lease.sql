-- check the lease

select "fencing_token" from "tracking_sync"."lease" where "lease_name" = $1 and "fencing_token" = $2 and "holder" is not null for key share;
