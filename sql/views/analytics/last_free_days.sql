-- Last free days, and which source rules
--
-- One row per container, as known at as_of(), those without a last free day included.
--
-- last_free_on is the service's coalesced last free day (pickup_lfd), line_on, terminal_on and
-- rail_on are what each source says: calendar days at the place. ruling_source: the source whose
-- day the service took, the line's first, as the service prefers it; `other` when it took none of
-- the three; null when there is no last free day. today_on and out_on are calendar days at the
-- place too; days_left counts days from today to the last free day: 0 on the day itself, negative
-- after it, null once the container is out.
-- The zone is the one that applies to the last free day. Where the source sent none, its days are
-- wall time marked as UTC, and today is taken in UTC: around midnight a day off. Where PostgreSQL
-- does not know the zone, today is taken in UTC too. is_zone_known is false in both cases.
--
-- Out: picked up full, at the inland destination or else at the port of discharge. A terminal's
-- last free day ends when the container leaves by rail, so where the terminal's day rules and no
-- pickup at the port is reported, departure by rail counts.
-- state: none (no last free day), upcoming, due today, overdue, out in time (up to and on the day),
-- out late. Null: there is a last free day and the answer is not known: the service's day is in a
-- zone that PostgreSQL does not know, or the empty container came back and the pickup was not
-- reported.
-- Where the shipment is no longer tracked, an overdue one may be out unreported:
-- tracking_stopped_reason.
--
-- Cost: a container has at most one deadline of a kind, so those of each kind are joined as they
-- are: filters reach them, and so do parallel workers. The two days that need the zone are made in
-- one place and not where they are compared, because to convert an instant costs much.

create view {{analytics}}.last_free_days as
with

deadlines as (

    select
        container.container_id,
        container.shipment_id,
        container.pod_terminal_id,
        container.number as container_number,
        container.equipment_type,
        container.equipment_length,
        container.current_status,
        container.pod_discharged_at,
        container.pod_full_out_at,
        container.pod_rail_departed_at,
        container.final_destination_full_out_at,
        container.empty_terminated_at,
        deadline.time_zone,
        deadline.local_date as last_free_on,
        by_line.local_date as line_on,
        by_terminal.local_date as terminal_on,
        by_rail.local_date as rail_on,
        case
            when deadline.container_id is null then null
            when by_line.deadline_at = deadline.deadline_at then 'line'
            when by_terminal.deadline_at = deadline.deadline_at then 'terminal'
            when by_rail.deadline_at = deadline.deadline_at then 'rail'
            when by_line.local_date = deadline.local_date then 'line'
            when by_terminal.local_date = deadline.local_date then 'terminal'
            when by_rail.local_date = deadline.local_date then 'rail'
            else 'other'
        end as ruling_source,
        deadline.container_id is not null as has_last_free_day
    from {{analytics}}.known_containers as container
    left join {{analytics}}.known_import_deadlines as deadline
        on deadline.container_id = container.container_id
        and deadline.kind = 'pickup_lfd'
    left join {{analytics}}.known_import_deadlines as by_line
        on by_line.container_id = container.container_id
        and by_line.kind = 'pickup_lfd_line'
    left join {{analytics}}.known_import_deadlines as by_terminal
        on by_terminal.container_id = container.container_id
        and by_terminal.kind = 'pickup_lfd_terminal'
    left join {{analytics}}.known_import_deadlines as by_rail
        on by_rail.container_id = container.container_id
        and by_rail.kind = 'pickup_lfd_rail'

),

stays as (

    select
        deadline.container_id,
        deadline.shipment_id,
        deadline.pod_terminal_id,
        deadline.container_number,
        deadline.equipment_type,
        deadline.equipment_length,
        deadline.current_status,
        deadline.ruling_source,
        deadline.time_zone,
        deadline.has_last_free_day,
        zone.name is not null as is_zone_known,
        deadline.last_free_on,
        deadline.line_on,
        deadline.terminal_on,
        deadline.rail_on,
        deadline.pod_discharged_at,
        deadline.empty_terminated_at,
        coalesce(zone.name, 'UTC') as clock,
        case
            when deadline.ruling_source = 'terminal'
                then coalesce(
                    deadline.pod_full_out_at,
                    deadline.pod_rail_departed_at,
                    deadline.final_destination_full_out_at
                )
            else coalesce(deadline.final_destination_full_out_at, deadline.pod_full_out_at)
        end as out_at
    from deadlines as deadline
    left join {{analytics}}.time_zones as zone
        on zone.name = deadline.time_zone

),

days as (

    select
        stay.container_id,
        stay.shipment_id,
        stay.pod_terminal_id,
        stay.container_number,
        stay.equipment_type,
        stay.equipment_length,
        stay.current_status,
        stay.ruling_source,
        stay.time_zone,
        stay.has_last_free_day,
        stay.is_zone_known,
        stay.last_free_on,
        stay.line_on,
        stay.terminal_on,
        stay.rail_on,
        calendar.today_on,
        calendar.out_on,
        coalesce(stay.out_at, stay.empty_terminated_at) is not null as is_out,
        stay.pod_discharged_at,
        stay.out_at
    from stays as stay
    left join lateral (

        select
            ({{analytics}}.as_of() at time zone stay.clock)::date as today_on,
            (stay.out_at at time zone stay.clock)::date as out_on

    ) as calendar
        on true

)

select
    day.container_id,
    day.shipment_id,
    day.pod_terminal_id,
    day.container_number,
    shipment.bill_of_lading_number,
    shipment.shipping_line_scac,
    coalesce(terminal.nickname, terminal.name) as pod_terminal,
    day.equipment_type,
    day.equipment_length,
    day.current_status,
    case
        when not day.has_last_free_day then 'none'
        when day.out_on <= day.last_free_on then 'out in time'
        when day.out_on > day.last_free_on then 'out late'
        when day.is_out then null
        when day.today_on < day.last_free_on then 'upcoming'
        when day.today_on = day.last_free_on then 'due today'
        when day.today_on > day.last_free_on then 'overdue'
    end as state,
    day.ruling_source,
    day.time_zone,
    shipment.line_tracking_stopped_reason as tracking_stopped_reason,
    case when not day.is_out then day.last_free_on - day.today_on end as days_left,
    day.is_zone_known,
    day.is_out,
    day.last_free_on,
    day.line_on,
    day.terminal_on,
    day.rail_on,
    day.today_on,
    day.out_on,
    day.pod_discharged_at,
    day.out_at
from days as day
left join {{analytics}}.known_shipments as shipment
    on shipment.shipment_id = day.shipment_id
left join {{data}}.terminals as terminal
    on terminal.terminal_id = day.pod_terminal_id;

comment on view {{analytics}}.last_free_days is
    'One row per live container, as known at as_of(): its last free day, what each source says, '
    'and how it stands against it.';
comment on column {{analytics}}.last_free_days.container_id is
    'The service''s id of the container.';
comment on column {{analytics}}.last_free_days.shipment_id is
    'Shipment; shipments.';
comment on column {{analytics}}.last_free_days.pod_terminal_id is
    'Terminal at the port of discharge; terminals.';
comment on column {{analytics}}.last_free_days.container_number is
    'Container number; used again on later journeys.';
comment on column {{analytics}}.last_free_days.bill_of_lading_number is
    'Bill of lading number of the shipment.';
comment on column {{analytics}}.last_free_days.shipping_line_scac is
    'SCAC of the shipping line.';
comment on column {{analytics}}.last_free_days.pod_terminal is
    'Terminal at the port of discharge: short name, else name.';
comment on column {{analytics}}.last_free_days.equipment_type is
    'dry, reefer, open top, flat rack, bulk, tank; other values are kept.';
comment on column {{analytics}}.last_free_days.equipment_length is
    'Length in feet.';
comment on column {{analytics}}.last_free_days.current_status is
    'Status of the container, in the service''s words.';
comment on column {{analytics}}.last_free_days.state is
    'none, upcoming, due today, overdue, out in time, out late; null where there is a last free '
    'day and the answer is not known.';
comment on column {{analytics}}.last_free_days.ruling_source is
    'Whose day the service took: line, terminal, rail, other; null without a last free day.';
comment on column {{analytics}}.last_free_days.time_zone is
    'IANA zone that applies to the last free day, as sent; null: none was sent, or no last free '
    'day.';
comment on column {{analytics}}.last_free_days.tracking_stopped_reason is
    'Why the service stopped asking the shipping line; null while it asks.';
comment on column {{analytics}}.last_free_days.days_left is
    'Calendar days from today to the last free day: 0 on the day, negative after it; null once '
    'out.';
comment on column {{analytics}}.last_free_days.is_zone_known is
    'Whether time_zone was sent and PostgreSQL knows it.';
comment on column {{analytics}}.last_free_days.is_out is
    'Whether it was picked up, left the terminal for good, or came back empty.';
comment on column {{analytics}}.last_free_days.last_free_on is
    'Last free day as the service coalesces it. Calendar day at the place.';
comment on column {{analytics}}.last_free_days.line_on is
    'Last free day as the shipping line says. Calendar day at the place.';
comment on column {{analytics}}.last_free_days.terminal_on is
    'Last free day as the terminal says. Calendar day at the place.';
comment on column {{analytics}}.last_free_days.rail_on is
    'Last free day at the inland destination as the railway says. Calendar day at the place.';
comment on column {{analytics}}.last_free_days.today_on is
    'Today, the day of as_of(), at the place; in UTC where the zone is not known.';
comment on column {{analytics}}.last_free_days.out_on is
    'Day it went out. Calendar day at the place; null while it is in, or nobody said when.';
comment on column {{analytics}}.last_free_days.pod_discharged_at is
    'Discharge at the port of discharge. UTC.';
comment on column {{analytics}}.last_free_days.out_at is
    'When it went out: the pickup, or the departure by rail where the terminal''s day rules. UTC.';
