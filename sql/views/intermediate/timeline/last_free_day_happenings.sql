-- Last free days set, moved and withdrawn, for the timeline
--
-- One row per interval of a last free day, and one where it ended without a next one.

create view {{parts}}.last_free_day_happenings as
select
    container.container_id,
    container.shipment_id,
    container.number as container_number,
    'last free day' as topic,
    case
        when earlier.container_id is null then 'last free day set'
        when earlier.deadline_at = standing.deadline_at then 'last free day zone changed'
        else 'last free day moved'
    end as kind,
    standing.kind as subject,
    coalesce(
        to_char(earlier.local_date, 'YYYY-MM-DD'),
        to_char(earlier.deadline_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
    ) as from_value,
    coalesce(
        to_char(standing.local_date, 'YYYY-MM-DD'),
        to_char(standing.deadline_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
    ) as to_value,
    standing.time_zone as detail,
    null as location_locode,
    standing.source,
    not exists (
        select
        from {{data}}.container_history as before
        where before.container_id = standing.container_id
            and before.valid_from < standing.valid_from
    ) as is_first_sight,
    standing.valid_from as occurred_at,
    null::timestamptz as recorded_at,
    standing.valid_from as learned_at,
    coalesce(
        standing.time_zone,
        case standing.place
            when 'ramp' then container.final_destination_timezone
            else container.pod_timezone
        end
    ) as timezone,
    false as is_wall_time,
    least(standing.valid_to, {{analytics}}.as_of()) as until_at
from {{data}}.container_import_deadline_history as standing
inner join {{parts}}.known_containers as container
    on container.container_id = standing.container_id
left join {{data}}.container_import_deadline_history as earlier
    on earlier.container_id = standing.container_id
    and earlier.kind = standing.kind
    and earlier.valid_to = standing.valid_from
where standing.valid_from <= {{analytics}}.as_of()
    and standing.kind in (
        'pickup_lfd', 'pickup_lfd_terminal', 'pickup_lfd_line', 'pickup_lfd_rail'
    )

union all

select
    container.container_id,
    container.shipment_id,
    container.number as container_number,
    'last free day' as topic,
    'last free day withdrawn' as kind,
    gone.kind as subject,
    coalesce(
        to_char(gone.local_date, 'YYYY-MM-DD'),
        to_char(gone.deadline_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
    ) as from_value,
    null as to_value,
    gone.time_zone as detail,
    null as location_locode,
    -- An interval records the source of its opening; the version made of the same look tells
    -- the source of its closing.
    version.source,
    false as is_first_sight,
    gone.valid_to as occurred_at,
    null::timestamptz as recorded_at,
    gone.valid_to as learned_at,
    coalesce(
        gone.time_zone,
        case gone.place
            when 'ramp' then container.final_destination_timezone
            else container.pod_timezone
        end
    ) as timezone,
    false as is_wall_time,
    null::timestamptz as until_at
from {{data}}.container_import_deadline_history as gone
inner join {{parts}}.known_containers as container
    on container.container_id = gone.container_id
left join {{data}}.container_import_deadline_history as next
    on next.container_id = gone.container_id
    and next.kind = gone.kind
    and next.valid_from = gone.valid_to
left join {{data}}.container_history as version
    on version.container_id = gone.container_id
    and version.valid_from = gone.valid_to
where gone.valid_to <= {{analytics}}.as_of()
    and next.container_id is null
    and gone.kind in (
        'pickup_lfd', 'pickup_lfd_terminal', 'pickup_lfd_line', 'pickup_lfd_rail'
    );
