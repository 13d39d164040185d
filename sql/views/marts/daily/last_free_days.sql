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
    stay.pod_discharged_at,
    twice.also_tracked_as
from {{analytics}}.container_stays as stay
left join {{parts}}.tracked_twice as twice
    on twice.container_id = stay.container_id
inner join {{analytics}}.container_customers as customer
    on customer.container_id = stay.container_id;
