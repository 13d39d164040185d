-- forget old counts of values

delete from "tracking_sync"."pass_shares" where passed_at < now() - interval '90 days';
