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
from {{parts}}.container_version_changes as correction
inner join {{parts}}.known_containers as container
    on container.container_id = correction.container_id
left join {{parts}}.known_shipments as shipment
    on shipment.shipment_id = container.shipment_id
left join {{data}}.terminals as terminal
    on terminal.terminal_id = container.pod_terminal_id
left join {{analytics}}.time_zones as zone
    on zone.name = correction.time_zone
left join {{analytics}}.container_customers as customer
    on customer.container_id = container.container_id
left join lateral (

    select string_agg(distinct event.data_source, ', ' order by event.data_source) as data_source
    from {{parts}}.known_transport_events as event
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
