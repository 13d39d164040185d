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

happenings as (

    select
        container_id,
        shipment_id,
        container_number,
        topic,
        kind,
        subject,
        from_value,
        to_value,
        detail,
        location_locode,
        source,
        is_first_sight,
        occurred_at,
        recorded_at,
        learned_at,
        timezone,
        is_wall_time,
        until_at
    from {{parts}}.status_happenings

    union all

    select
        container_id,
        shipment_id,
        container_number,
        topic,
        kind,
        subject,
        from_value,
        to_value,
        detail,
        location_locode,
        source,
        is_first_sight,
        occurred_at,
        recorded_at,
        learned_at,
        timezone,
        is_wall_time,
        until_at
    from {{parts}}.hold_happenings

    union all

    select
        container_id,
        shipment_id,
        container_number,
        topic,
        kind,
        subject,
        from_value,
        to_value,
        detail,
        location_locode,
        source,
        is_first_sight,
        occurred_at,
        recorded_at,
        learned_at,
        timezone,
        is_wall_time,
        until_at
    from {{parts}}.fee_happenings

    union all

    select
        container_id,
        shipment_id,
        container_number,
        topic,
        kind,
        subject,
        from_value,
        to_value,
        detail,
        location_locode,
        source,
        is_first_sight,
        occurred_at,
        recorded_at,
        learned_at,
        timezone,
        is_wall_time,
        until_at
    from {{parts}}.last_free_day_happenings

    union all

    select
        container_id,
        shipment_id,
        container_number,
        topic,
        kind,
        subject,
        from_value,
        to_value,
        detail,
        location_locode,
        source,
        is_first_sight,
        occurred_at,
        recorded_at,
        learned_at,
        timezone,
        is_wall_time,
        until_at
    from {{parts}}.told_happenings

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
