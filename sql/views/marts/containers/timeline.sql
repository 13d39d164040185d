-- Everything that happened to a container, in order
--
-- One row per container and thing that happened: a transport event, a status, a hold placed,
-- changed or cleared, a fee listed, changed or removed, a last free day set, moved or withdrawn, a
-- move of the ETA, a correction of a milestone, an attribute that a notification says has changed.
-- Sort it by container_id, coalesce(occurred_at, learned_at), learned_at, kind, subject; a view is
-- unordered.
--
-- Transport events: the view leaves out forecasts, and events that were withdrawn or found to be
-- untrue. occurred_at is when it happened, recorded_at when the service recorded it, learned_at
-- when we first saw it. Without a time of its own occurred_at is null.
-- Last free days: only binding ones, not the other days of a source (original, calculated).
-- Statuses, holds, fees, last free days and ETAs come from comparing two looks: occurred_at and
-- learned_at are when we first saw the new value, and the change happened between the previous look
-- and then. A hold that goes in the look in which another of the same name comes was edited: it is
-- changed, neither cleared nor placed.
-- is_first_sight: our first look at the container found it already, so the time at which it
-- happened is unknown. A change that a notification reports is a row beside the row of the same
-- change as we saw it; the first says who reported it to the service, and when. The ETA is that of
-- the shipment the container belongs to now.
-- hours: how long a status, hold, fee or last free day held, from the look that found it to the one
-- that found its next value or nothing, or to as_of(). It is a lower bound where is_first_sight. A
-- status holds until the container is gone at the source; when it is back, it is first seen again.
-- A correction is a version of the container in which a milestone has another instant than before,
-- or lacks it (taken back).
-- topic says what a row is about and is a constant of its part: a query that names topics reads no
-- history of the others.
-- occurred_local: at the place of a transport event; else at the port of discharge, or where a last
-- free day applies. Times that the source sent without a zone are local wall times and are not
-- converted; our own times are UTC, so without a zone their local time is null. A last free day
-- that was sent without a zone is that of the port or ramp itself, as in container_stays; if that
-- is unknown, it is shown as sent, as an instant of UTC.

create view {{analytics}}.timeline as
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

),

happenings as (

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
    from statuses as state

    union all

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
        )

    union all

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
        and next.container_id is null

    union all

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
        )

    union all

    select
        container.container_id,
        container.shipment_id,
        container.number as container_number,
        'transport event' as topic,
        'transport event' as kind,
        happened.event as subject,
        null as from_value,
        null as to_value,
        happened.voyage_number as detail,
        happened.location_locode,
        happened.data_source as source,
        false as is_first_sight,
        happened.timestamp as occurred_at,
        happened.created_at as recorded_at,
        happened._first_seen_at as learned_at,
        happened.timezone,
        happened.timezone is null as is_wall_time,
        null::timestamptz as until_at
    from {{data}}.transport_events as happened
    inner join {{parts}}.known_containers as container
        on container.container_id = happened.container_id
    where not coalesce(happened.is_estimated, false)
        and happened._first_seen_at <= {{analytics}}.as_of()
        and coalesce(happened._deleted_at > {{analytics}}.as_of(), true)
        and coalesce(happened.invalidated_at > {{analytics}}.as_of(), true)

    union all

    select
        container.container_id,
        container.shipment_id,
        container.number as container_number,
        'ETA' as topic,
        'ETA ' || change.kind as kind,
        'pod_eta_at' as subject,
        to_char(change.from_eta_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as from_value,
        to_char(change.to_eta_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as to_value,
        change.slip_hours || ' hours' as detail,
        change.port_of_discharge_locode as location_locode,
        change.source,
        false as is_first_sight,
        change.changed_at as occurred_at,
        null::timestamptz as recorded_at,
        change.changed_at as learned_at,
        container.pod_timezone as timezone,
        false as is_wall_time,
        null::timestamptz as until_at
    from {{parts}}.known_containers as container
    inner join {{analytics}}.eta_changes as change
        on change.shipment_id = container.shipment_id

    union all

    select
        container.container_id,
        container.shipment_id,
        container.number as container_number,
        'attribute' as topic,
        'attribute changed' as kind,
        change.attribute as subject,
        change.old_value #>> '{}' as from_value,
        change.new_value #>> '{}' as to_value,
        null as detail,
        null as location_locode,
        change.data_source as source,
        false as is_first_sight,
        change.changed_at as occurred_at,
        null::timestamptz as recorded_at,
        change._observed_at as learned_at,
        coalesce(change.timezone, container.pod_timezone) as timezone,
        false as is_wall_time,
        null::timestamptz as until_at
    from {{data}}.container_changes as change
    inner join {{parts}}.known_containers as container
        on container.container_id = change.container_id
    where change._observed_at <= {{analytics}}.as_of()

    union all

    select
        container.container_id,
        container.shipment_id,
        container.number as container_number,
        'correction' as topic,
        case
            when correction.to_at is null then 'milestone taken back'
            else 'milestone moved'
        end as kind,
        correction.attribute as subject,
        to_char(correction.from_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as from_value,
        to_char(correction.to_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as to_value,
        round(
            (date_part('epoch', correction.to_at - correction.from_at) / 3600)::numeric, 2
        ) || ' hours' as detail,
        null as location_locode,
        correction.source,
        false as is_first_sight,
        correction.learned_at as occurred_at,
        null::timestamptz as recorded_at,
        correction.learned_at,
        correction.time_zone as timezone,
        false as is_wall_time,
        null::timestamptz as until_at
    from {{parts}}.container_version_changes as correction
    inner join {{parts}}.known_containers as container
        on container.container_id = correction.container_id
    where correction.kind = 'milestone'
        and correction.from_at is not null

)

select
    happening.container_id,
    happening.shipment_id,
    happening.container_number,
    happening.topic,
    happening.kind,
    happening.subject,
    happening.from_value,
    happening.to_value,
    happening.detail,
    round(
        (date_part('epoch', happening.until_at - happening.learned_at) / 3600)::numeric, 2
    ) as hours,
    happening.location_locode,
    happening.source,
    customer.customer_name,
    customer.ref_numbers_text,
    customer.tags_text,
    customer.custom_fields,
    happening.is_first_sight,
    zone.name is not null as is_zone_known,
    happening.occurred_at,
    happening.recorded_at,
    happening.learned_at,
    happening.occurred_at at time zone
        coalesce(zone.name, case when happening.is_wall_time then 'UTC' end) as occurred_local
from happenings as happening
left join {{analytics}}.time_zones as zone
    on zone.name = happening.timezone
left join {{analytics}}.container_customers as customer
    on customer.container_id = happening.container_id;
