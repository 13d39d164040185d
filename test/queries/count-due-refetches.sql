-- count due refetches

select to_json(now()) #>> '{}' as asked_until, (
        select count(*) from "tracking_sync"."refetch_queue" as queued
        where (queued.not_before is null or queued.not_before <= now())
            and queued.resource_type != $1
            and ($2::text[] is null or queued.resource_type = any($3::text[]))
    ) as due;
