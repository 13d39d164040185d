-- Times of one availability
--
-- One row per container and time in which the terminal said the same of its availability, in every
-- version of the container that we saw: it begins with the first of these versions and ends with
-- the last. Read it container by container: the whole view reads every version.

create view {{parts}}.availability_spans as
with

-- The availability of each version; null: not known.
availabilities as not materialized (

    select
        version.container_id,
        version.valid_from,
        version.valid_to,
        version.source,
        case
            when version.availability_known is not false then version.available_for_pickup
        end as is_available
    from {{data}}.container_history as version

)

select
    version.container_id,
    case version.is_available
        when true then 'available'
        when false then 'not available'
        else 'not known'
    end as value,
    version.source,
    version.valid_from as seen_at,
    case when later.container_id is null then version.valid_to else stay.gone_at end as gone_at
from availabilities as version
left join availabilities as earlier
    on earlier.container_id = version.container_id
    and earlier.valid_to = version.valid_from
    and earlier.is_available is not distinct from version.is_available
left join availabilities as later
    on later.container_id = version.container_id
    and later.valid_from = version.valid_to
    and later.is_available is not distinct from version.is_available
-- Looked up only if there is more than one version.
left join lateral (

    select last.valid_to as gone_at
    from availabilities as last
    where later.container_id is not null
        and last.container_id = version.container_id
        and last.valid_from >= version.valid_to
        and not exists (
            select
            from availabilities as next
            where next.container_id = last.container_id
                and next.valid_from = last.valid_to
                and next.is_available is not distinct from last.is_available
            -- Forces a look-up of one version instead of a join with all versions of the
            -- container.
            offset 0
        )
    order by last.valid_from
    limit 1

) as stay
    on true
where earlier.container_id is null;
