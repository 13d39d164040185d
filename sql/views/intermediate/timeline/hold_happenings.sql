-- Holds placed, changed and cleared, for the timeline
--
-- One row per interval of a hold, and one where it ended without a next one. A hold whose text was
-- edited is changed, not cleared and placed.

create view {{parts}}.hold_happenings as
select
    container.container_id,
    container.shipment_id,
    container.number as container_number,
    'hold' as topic,
    case
        when earlier.container_id is null and edited.container_id is null then 'hold placed'
        else 'hold changed'
    end as kind,
    standing.name as subject,
    coalesce(earlier.status, edited.status) as from_value,
    standing.status as to_value,
    standing.description as detail,
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
    case standing.place
        when 'ramp' then container.final_destination_timezone
        else container.pod_timezone
    end as timezone,
    false as is_wall_time,
    least(standing.valid_to, {{analytics}}.as_of()) as until_at
from {{data}}.container_hold_history as standing
inner join {{parts}}.known_containers as container
    on container.container_id = standing.container_id
left join {{data}}.container_hold_history as earlier
    on earlier.container_id = standing.container_id
    and earlier.hold_key = standing.hold_key
    and earlier.valid_to = standing.valid_from
-- One of the same name that went in the same look: its text was edited.
left join lateral (

    select
        before.container_id,
        before.status
    from {{data}}.container_hold_history as before
    where earlier.container_id is null
        and before.container_id = standing.container_id
        and before.place = standing.place
        and before.name = standing.name
        and before.valid_to = standing.valid_from
    order by before.hold_key
    limit 1

) as edited
    on true
where standing.valid_from <= {{analytics}}.as_of()

union all

select
    container.container_id,
    container.shipment_id,
    container.number as container_number,
    'hold' as topic,
    'hold cleared' as kind,
    gone.name as subject,
    gone.status as from_value,
    null as to_value,
    gone.description as detail,
    null as location_locode,
    -- An interval records the source of its opening; the version made of the same look tells
    -- the source of its closing.
    version.source,
    false as is_first_sight,
    gone.valid_to as occurred_at,
    null::timestamptz as recorded_at,
    gone.valid_to as learned_at,
    case gone.place
        when 'ramp' then container.final_destination_timezone
        else container.pod_timezone
    end as timezone,
    false as is_wall_time,
    null::timestamptz as until_at
from {{data}}.container_hold_history as gone
inner join {{parts}}.known_containers as container
    on container.container_id = gone.container_id
left join {{data}}.container_hold_history as next
    on next.container_id = gone.container_id
    and next.hold_key = gone.hold_key
    and next.valid_from = gone.valid_to
left join {{data}}.container_history as version
    on version.container_id = gone.container_id
    and version.valid_from = gone.valid_to
where gone.valid_to <= {{analytics}}.as_of()
    and next.container_id is null
    and not exists (
        select
        from {{data}}.container_hold_history as edited
        where edited.container_id = gone.container_id
            and edited.place = gone.place
            and edited.name = gone.name
            and edited.valid_from = gone.valid_to
    );
