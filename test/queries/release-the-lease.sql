-- release the lease

update "tracking_sync"."lease"
set holder = null
where lease_name = $1 and fencing_token = $2 and holder is not null
returning fencing_token;
