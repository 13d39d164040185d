-- Last free days, and which source binds
--
-- One row per container and stay (port, ramp), as known at as_of(), those without a last free day
-- included. See container_stays for the stays, whose day applies to which, the zones and the
-- states.
--
-- binding_on is the earliest day that applies to the stay, binding_source its source; line_on,
-- terminal_on and rail_on are the days of each source, service_on is the service's own pick,
-- rule_on the day by free_time_rules where that one counts.
-- days_left counts calendar days at the place: 0 on the day itself, negative after it.
-- Containers whose departure nobody would tell are in the state unknown, and last in order.

create view {{analytics}}.last_free_days as
select
    stay.container_id,
    stay.shipment_id,
    stay.pod_terminal_id,
    stay.container_number,
    stay.bill_of_lading_number,
    stay.shipping_line_scac,
    stay.pod_terminal,
    stay.place,
    stay.place_locode,
    stay.equipment_type,
    stay.equipment_length,
    stay.current_status,
    customer.customer_name,
    customer.ref_numbers_text,
    customer.tags_text,
    customer.custom_fields,
    stay.state,
    stay.binding_source,
    stay.time_zone,
    stay.tracking_stopped_reason,
    stay.days_left,
    stay.days_over,
    stay.is_zone_known,
    stay.has_ended,
    stay.binding_on,
    stay.line_on,
    stay.terminal_on,
    stay.rail_on,
    stay.service_on,
    stay.rule_on,
    stay.today_on,
    stay.out_on,
    stay.start_at,
    stay.end_at,
    stay.pod_discharged_at
from {{analytics}}.container_stays as stay
left join {{analytics}}.container_customers as customer
    on customer.container_id = stay.container_id;

comment on view {{analytics}}.last_free_days is
    'One row per live container and stay, as known at as_of(): the last free day that binds '
    'it, the day of each source, and the state of the stay against it.';
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
comment on column {{analytics}}.last_free_days.place is
    'Which stay: port or ramp.';
comment on column {{analytics}}.last_free_days.place_locode is
    'UN/LOCODE of the port of discharge or of the destination.';
comment on column {{analytics}}.last_free_days.equipment_type is
    'dry, reefer, open top, flat rack, bulk, tank, hard top; other values are kept.';
comment on column {{analytics}}.last_free_days.equipment_length is
    'Length in feet.';
comment on column {{analytics}}.last_free_days.current_status is
    'Status of the container, in the service''s words.';
comment on column {{analytics}}.last_free_days.customer_name is
    'Customer of the shipment.';
comment on column {{analytics}}.last_free_days.ref_numbers_text is
    'Reference numbers of container and shipment, parted by ", ".';
comment on column {{analytics}}.last_free_days.tags_text is
    'Tags of the shipment, parted by ", ".';
comment on column {{analytics}}.last_free_days.custom_fields is
    'Custom fields of container and shipment: slug and value. Null: none.';
comment on column {{analytics}}.last_free_days.state is
    'not_started, none, upcoming, due_today, overdue, out_in_time, out_late or unknown.';
comment on column {{analytics}}.last_free_days.binding_source is
    'Whose day binds: terminal, line, rail, service where no source says one, or rule; null '
    'without a day.';
comment on column {{analytics}}.last_free_days.time_zone is
    'IANA zone of the place, in which days are counted; null: not known.';
comment on column {{analytics}}.last_free_days.tracking_stopped_reason is
    'Why the service stopped asking the shipping line; null while it asks.';
comment on column {{analytics}}.last_free_days.days_left is
    'Calendar days from today to the binding day: 0 on the day, negative after it; null unless '
    'it is there.';
comment on column {{analytics}}.last_free_days.days_over is
    'Calendar days past the binding day, to today or to the day it went out; null unless '
    'overdue or out_late.';
comment on column {{analytics}}.last_free_days.is_zone_known is
    'Whether the zone of the place was sent and PostgreSQL knows it; false with a time_zone: '
    'that of the port itself.';
comment on column {{analytics}}.last_free_days.has_ended is
    'Whether the stay is over, reported or not.';
comment on column {{analytics}}.last_free_days.binding_on is
    'Earliest last free day that applies to the stay. Calendar day at the place.';
comment on column {{analytics}}.last_free_days.line_on is
    'Last free day as the shipping line says. Calendar day at the port; null at the ramp.';
comment on column {{analytics}}.last_free_days.terminal_on is
    'Last free day as the terminal says. Calendar day at the port; null at the ramp.';
comment on column {{analytics}}.last_free_days.rail_on is
    'Last free day as the railway says. Calendar day at the ramp; null at the port.';
comment on column {{analytics}}.last_free_days.service_on is
    'Last free day at the port as the service picks it. Calendar day at the port; null at the '
    'ramp.';
comment on column {{analytics}}.last_free_days.rule_on is
    'Last free day by free_time_rules: the earlier of storage and demurrage, each where the day of '
    'the rule counts. Calendar day at the place; null before it is there.';
comment on column {{analytics}}.last_free_days.today_on is
    'Today, the day of as_of(), at the place; null where its zone is not known.';
comment on column {{analytics}}.last_free_days.out_on is
    'Day it went out. Calendar day at the place; null while it is in, or nobody said when.';
comment on column {{analytics}}.last_free_days.start_at is
    'When it was discharged, or reached the ramp. UTC.';
comment on column {{analytics}}.last_free_days.end_at is
    'When it went out, or left by rail. UTC.';
comment on column {{analytics}}.last_free_days.pod_discharged_at is
    'Discharge at the port of discharge, as sent; it can be an instant to come. UTC.';
