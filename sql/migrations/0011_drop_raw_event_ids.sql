-- The list of a container's raw events is not kept: nothing reads it, and it was a third of the row.
-- Raw events are asked for by container (TRACKING_RAW_EVENTS): after a change, and once a day while
-- the shipment is tracked. What was read for the list as it stands is not read again.
alter table {{sync}}.raw_event_reads
add column read_at timestamptz not null default now();

update {{sync}}.raw_event_reads as done
set event_ids_hash = md5(array_to_string(container.transport_event_ids, ' '))
from {{data}}.containers as container
where container.container_id = done.container_id
    and done.event_ids_hash = md5(array_to_string(
        container.raw_event_ids || container.transport_event_ids, ' '
    ));

alter table {{data}}.containers
drop column raw_event_ids;

-- What was noted of the list: it would be told as an attribute that vanished.
delete from {{sync}}.seen_attributes
where stream = 'containers' and attribute = 'relationships.raw_events';
delete from {{sync}}.pass_shares
where table_name = 'containers' and column_name = 'raw_event_ids';

comment on column {{sync}}.raw_event_reads.event_ids_hash is
    'Hash of the transport events that the container named at that time: the raw events are read '
    'again when it differs.';
comment on column {{sync}}.raw_event_reads.read_at is
    'When that was. They are read again once a day until a day after the tracking of the shipment '
    'stopped. UTC.';
