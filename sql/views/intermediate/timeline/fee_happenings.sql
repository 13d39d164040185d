-- Fees listed, changed and removed, for the timeline
--
-- One row per interval of a fee, and one where it ended without a next one.

create view {{parts}}.fee_happenings as
select
    container.container_id,
    container.shipment_id,
    container.number as container_number,
    'fee' as topic,
    case when earlier.container_id is null then 'fee listed' else 'fee changed' end as kind,
    standing.type as subject,
    earlier.amount::text as from_value,
    standing.amount::text as to_value,
    standing.currency_code as detail,
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
from {{data}}.container_fee_history as standing
inner join {{parts}}.known_containers as container
    on container.container_id = standing.container_id
left join {{data}}.container_fee_history as earlier
    on earlier.container_id = standing.container_id
    and earlier.fee_key = standing.fee_key
    and earlier.valid_to = standing.valid_from
where standing.valid_from <= {{analytics}}.as_of()

union all

select
    container.container_id,
    container.shipment_id,
    container.number as container_number,
    'fee' as topic,
    'fee removed' as kind,
    gone.type as subject,
    gone.amount::text as from_value,
    null as to_value,
    gone.currency_code as detail,
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
from {{data}}.container_fee_history as gone
inner join {{parts}}.known_containers as container
    on container.container_id = gone.container_id
left join {{data}}.container_fee_history as next
    on next.container_id = gone.container_id
    and next.fee_key = gone.fee_key
    and next.valid_from = gone.valid_to
left join {{data}}.container_history as version
    on version.container_id = gone.container_id
    and version.valid_from = gone.valid_to
where gone.valid_to <= {{analytics}}.as_of()
    and next.container_id is null;
