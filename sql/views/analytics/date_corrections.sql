-- Corrections of milestones
--
-- One row per live container and correction of a milestone, as we saw it: a version of the
-- container has another instant than the one before it (kind moved), or lacks it (kind taken back).
--
-- The first report of an instant, or a new report after it was taken back, is not a correction.
-- learned_at is when we first saw the new instant; the service may have known it earlier, and
-- between two looks it may have moved more than once. shift_hours is positive where it became
-- later; null where it was taken back. An invoice may count from such a day: compare learned_at
-- with the day of the invoice. source is how we learned it; data_source is who told the service:
-- the source of the transport event of this milestone at exactly the new instant; of several, all.
-- Events are stored without history: after a second correction the event may have the later
-- instant, and data_source of the first correction is null. The source of a withdrawal is unknown.
-- Versions before and after a time in which the container was gone at the source are not compared.
-- Corrections learned after as_of() are left out. _local is wall time at the place, in the zone of
-- the version; unconverted if the zone was not sent, null if PostgreSQL does not know it.

create view {{analytics}}.date_corrections as
select
    container.container_id,
    container.shipment_id,
    container.pod_terminal_id,
    container.number as container_number,
    shipment.bill_of_lading_number,
    shipment.shipping_line_scac,
    customer.customer_name,
    customer.ref_numbers_text,
    customer.tags_text,
    customer.custom_fields,
    coalesce(terminal.nickname, terminal.name) as pod_terminal,
    correction.attribute as milestone,
    case when correction.to_at is null then 'taken back' else 'moved' end as kind,
    correction.source,
    report.data_source,
    round(
        (date_part('epoch', correction.to_at - correction.from_at) / 3600)::numeric, 2
    ) as shift_hours,
    correction.learned_at,
    correction.from_at,
    correction.to_at,
    correction.from_at at time zone
        coalesce(zone.name, case when correction.time_zone is null then 'UTC' end) as from_local,
    correction.to_at at time zone
        coalesce(zone.name, case when correction.time_zone is null then 'UTC' end) as to_local
from {{analytics}}.container_version_changes as correction
inner join {{analytics}}.known_containers as container
    on container.container_id = correction.container_id
left join {{analytics}}.known_shipments as shipment
    on shipment.shipment_id = container.shipment_id
left join {{data}}.terminals as terminal
    on terminal.terminal_id = container.pod_terminal_id
left join {{analytics}}.time_zones as zone
    on zone.name = correction.time_zone
left join {{analytics}}.container_customers as customer
    on customer.container_id = container.container_id
left join lateral (

    select string_agg(distinct event.data_source, ', ' order by event.data_source) as data_source
    from {{analytics}}.known_transport_events as event
    where event.container_id = correction.container_id
        and event.timestamp = correction.to_at
        and (correction.attribute, event.event) in (
            ('arrival at the port', 'container.transport.vessel_arrived'),
            ('discharge', 'container.transport.vessel_discharged'),
            ('pickup at the port', 'container.transport.full_out'),
            ('loading on rail', 'container.transport.rail_loaded'),
            ('departure by rail', 'container.transport.rail_departed'),
            ('arrival at the ramp', 'container.transport.rail_arrived'),
            ('arrival at the ramp', 'container.transport.arrived_at_inland_destination'),
            ('unloading at the ramp', 'container.transport.rail_unloaded'),
            ('pickup at the ramp', 'container.transport.full_out'),
            ('empty return', 'container.transport.empty_in')
        )

) as report
    on true
where correction.kind = 'milestone'
    and correction.from_at is not null;

comment on view {{analytics}}.date_corrections is
    'One row per live container and correction of a milestone: what was said before, what is '
    'said now, and when we learned it.';
comment on column {{analytics}}.date_corrections.container_id is
    'The service''s id of the container.';
comment on column {{analytics}}.date_corrections.shipment_id is
    'Shipment; shipments.';
comment on column {{analytics}}.date_corrections.pod_terminal_id is
    'Terminal at the port of discharge; terminals.';
comment on column {{analytics}}.date_corrections.container_number is
    'Container number; used again on later journeys.';
comment on column {{analytics}}.date_corrections.bill_of_lading_number is
    'Bill of lading number of the shipment.';
comment on column {{analytics}}.date_corrections.shipping_line_scac is
    'SCAC of the shipping line.';
comment on column {{analytics}}.date_corrections.customer_name is
    'Customer of the shipment.';
comment on column {{analytics}}.date_corrections.ref_numbers_text is
    'Reference numbers of container and shipment, parted by ", ".';
comment on column {{analytics}}.date_corrections.tags_text is
    'Tags of the shipment, parted by ", ".';
comment on column {{analytics}}.date_corrections.custom_fields is
    'Custom fields of container and shipment: slug and value. Null: none.';
comment on column {{analytics}}.date_corrections.pod_terminal is
    'Terminal at the port of discharge: short name, else name.';
comment on column {{analytics}}.date_corrections.milestone is
    'Which one: arrival at the port, discharge, pickup at the port, loading on rail, '
    'departure by rail, arrival at the ramp, unloading at the ramp, pickup at the ramp, empty '
    'return.';
comment on column {{analytics}}.date_corrections.kind is
    'moved, or taken back.';
comment on column {{analytics}}.date_corrections.source is
    'Where we learned it first: sync or webhook.';
comment on column {{analytics}}.date_corrections.data_source is
    'Who told the service: shipping_line, terminal, ais; parted by ", ". Null: no transport event '
    'says the instant now said.';
comment on column {{analytics}}.date_corrections.shift_hours is
    'Hours from the old instant to the new one; null where it was taken back.';
comment on column {{analytics}}.date_corrections.learned_at is
    'When we first saw the new one. UTC.';
comment on column {{analytics}}.date_corrections.from_at is
    'The instant before. UTC.';
comment on column {{analytics}}.date_corrections.to_at is
    'The instant now said; null: taken back. UTC.';
comment on column {{analytics}}.date_corrections.from_local is
    'The instant before. Wall time at the place.';
comment on column {{analytics}}.date_corrections.to_local is
    'The instant now said. Wall time at the place.';
