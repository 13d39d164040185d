-- Changes of a container's status, for the timeline
--
-- One row per status that was seen. A status holds until the next one is seen, or until the
-- container is gone at the source; when it is back, it is first seen again.

create view {{parts}}.status_happenings as
with

statuses as (

    select
        container.container_id,
        container.shipment_id,
        container.number as container_number,
        'status' as topic,
        case when earlier.container_id is null then 'first seen' else 'status' end as kind,
        'current_status' as subject,
        earlier.current_status as from_value,
        version.current_status as to_value,
        null as detail,
        null as location_locode,
        version.source,
        earlier.container_id is null as is_first_sight,
        version.valid_from as occurred_at,
        null::timestamptz as recorded_at,
        version.valid_from as learned_at,
        container.pod_timezone as timezone,
        false as is_wall_time,
        -- When the status before it ended: earlier than this look, if the container was gone at the
        -- source in between.
        case
            when earlier.container_id is not null then earlier.valid_to
            else (
                select max(gone.valid_to)
                from {{data}}.container_history as gone
                where gone.container_id = version.container_id
                    and gone.valid_from < version.valid_from
            )
        end as before_until_at
    from {{data}}.container_history as version
    inner join {{parts}}.known_containers as container
        on container.container_id = version.container_id
    left join {{data}}.container_history as earlier
        on earlier.container_id = version.container_id
        and earlier.valid_to = version.valid_from
    where version.valid_from <= {{analytics}}.as_of()
        and (
            earlier.container_id is null
            or earlier.current_status is distinct from version.current_status
        )

)

select
    state.container_id,
    state.shipment_id,
    state.container_number,
    state.topic,
    state.kind,
    state.subject,
    state.from_value,
    state.to_value,
    state.detail,
    state.location_locode,
    state.source,
    state.is_first_sight,
    state.occurred_at,
    state.recorded_at,
    state.learned_at,
    state.timezone,
    state.is_wall_time,
    coalesce(
        lead(state.before_until_at) over (
            partition by state.container_id, state.topic
            order by state.learned_at
        ),
        {{analytics}}.as_of()
    ) as until_at
from statuses as state;
