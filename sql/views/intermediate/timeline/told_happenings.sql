-- Transport events, ETAs, notified attributes and corrections, for the timeline
--
-- One row per transport event, change of the shipment's ETA, change that a notification told, and
-- milestone that was moved or taken back.

create view {{parts}}.told_happenings as
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
    and correction.from_at is not null;
