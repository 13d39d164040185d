-- Changes of a container's own values, in words
--
-- One row per change of container_version_changes that changes shows: the ETA at the ramp, the
-- pickup appointment, availability, the terminal, and milestones that were corrected. An instant is
-- wall time in its zone, else UTC, and says so.

create view {{parts}}.attribute_changes as
select
    version.container_id,
    case
        when version.attribute = 'ETA at the ramp' then 'ETA'
        when version.attribute = 'pickup appointment' then 'appointment'
        when version.kind = 'milestone' then 'milestone'
        else version.attribute
    end as change,
    case
        when version.attribute = 'ETA at the ramp' then 'ramp'
        when version.kind = 'milestone' then version.attribute
    end as subject,
    case
        when version.kind <> 'value' then coalesce(
            to_char(version.from_at at time zone clock.name, 'YYYY-MM-DD HH24:MI'),
            to_char(version.from_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI "UTC"')
        )
        else coalesce(before.nickname, before.name, version.from_value)
    end as from_value,
    case
        when version.kind <> 'value' then coalesce(
            to_char(version.to_at at time zone clock.name, 'YYYY-MM-DD HH24:MI'),
            to_char(version.to_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI "UTC"')
        )
        else coalesce(after.nickname, after.name, version.to_value)
    end as to_value,
    case
        when version.attribute = 'availability' and version.to_value = 'available'
            then 'better'
        when version.attribute = 'availability' and version.from_value = 'available'
            then 'worse'
        when version.kind = 'value' then null
        when version.to_at is null or version.to_at > version.from_at then 'worse'
        when version.to_at < version.from_at or version.attribute <> 'ETA at the ramp'
            then 'better'
    end as effect,
    round(
        (date_part('epoch', version.to_at - version.from_at) / 3600)::numeric, 2
    ) as shift_hours,
    version.source,
    version.learned_at
from {{parts}}.container_version_changes as version
left join {{analytics}}.time_zones as zone
    on zone.name = version.time_zone
cross join lateral (

    select coalesce(zone.name, case when version.time_zone is null then 'UTC' end) as name

) as clock
left join {{data}}.terminals as before
    on version.attribute = 'terminal'
    and before.terminal_id = version.from_value
left join {{data}}.terminals as after
    on version.attribute = 'terminal'
    and after.terminal_id = version.to_value;
