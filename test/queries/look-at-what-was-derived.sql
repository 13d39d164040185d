-- look at what was derived

select
    exists (
        select from "tracking"."container_import_deadlines" as standing
        inner join "tracking_analytics"."time_zones" as zone
            on zone.name = standing.time_zone
        where standing.local_date <> (standing.deadline_at at time zone zone.name)::date
    )
    -- Listing the zones takes long, and an unknown zone is rare.
    or case
        when exists (
            select from "tracking"."container_import_deadlines" as standing
            where not standing.is_zone_known and standing.time_zone is not null
        )
            then exists (
                select from "tracking"."container_import_deadlines" as standing
                inner join pg_timezone_names as known
                    on known.name = standing.time_zone
                where not standing.is_zone_known
            )
        else false
    end as is_outdated;

select exists (
    select from "tracking_sync"."derivations" as made
    where made.derivation = $1 and made.text_hash = $2 and made.finished_at is not null
) as is_made;
