-- look for recent counts of values

select distinct table_name as name from "tracking_sync"."pass_shares"
where passed_at > now() - interval '1 hour';
