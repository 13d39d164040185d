-- Cost of the next days if nothing moves
--
-- One row per container, place and charge whose clock runs and to which a rule of free_time_rules
-- applies, as known at as_of(). See charge_clocks. The amounts count from the first day over:
-- fourteen_days_amount minus amount is the cost of two more weeks. Charges of one container are
-- separate rows; currencies are never added together.

create view {{analytics}}.exposure_forecast as
select
    clock.container_id,
    clock.shipment_id,
    clock.pod_terminal_id,
    clock.container_number,
    clock.bill_of_lading_number,
    clock.shipping_line_scac,
    clock.pod_terminal,
    clock.place,
    clock.charge,
    clock.state,
    clock.rule_name,
    clock.last_free_source,
    clock.currency_code,
    clock.customer_name,
    clock.ref_numbers_text,
    clock.tags_text,
    clock.custom_fields,
    clock.days_left,
    clock.amount,
    clock.seven_days_amount,
    clock.fourteen_days_amount,
    clock.last_free_on
from {{analytics}}.charge_clocks as clock
where clock.rule_name is not null
    and clock.days_left is not null
    -- So that rules are not looked up for containers that left long ago.
    and clock.ended_on is null;

comment on view {{analytics}}.exposure_forecast is
    'One row per container, place and charge whose clock runs: its cost now, in seven and in '
    'fourteen days if nothing moves, by free_time_rules.';
comment on column {{analytics}}.exposure_forecast.container_id is
    'The service''s id of the container.';
comment on column {{analytics}}.exposure_forecast.shipment_id is
    'Shipment; shipments.';
comment on column {{analytics}}.exposure_forecast.pod_terminal_id is
    'Terminal at the port of discharge; terminals.';
comment on column {{analytics}}.exposure_forecast.container_number is
    'Container number; used again on later journeys.';
comment on column {{analytics}}.exposure_forecast.bill_of_lading_number is
    'Bill of lading number of the shipment.';
comment on column {{analytics}}.exposure_forecast.shipping_line_scac is
    'SCAC of the shipping line.';
comment on column {{analytics}}.exposure_forecast.pod_terminal is
    'Terminal at the port of discharge: short name, else name.';
comment on column {{analytics}}.exposure_forecast.place is
    'port or ramp for storage and demurrage, out for detention.';
comment on column {{analytics}}.exposure_forecast.charge is
    'storage, demurrage or detention.';
comment on column {{analytics}}.exposure_forecast.state is
    'upcoming, due_today or overdue.';
comment on column {{analytics}}.exposure_forecast.rule_name is
    'Rule that holds; free_time_rules.';
comment on column {{analytics}}.exposure_forecast.last_free_source is
    'Whose day last_free_on is: terminal, line, rail, service or rule.';
comment on column {{analytics}}.exposure_forecast.currency_code is
    'Currency of the amounts.';
comment on column {{analytics}}.exposure_forecast.customer_name is
    'Customer of the shipment.';
comment on column {{analytics}}.exposure_forecast.ref_numbers_text is
    'Reference numbers of container and shipment, parted by ", ".';
comment on column {{analytics}}.exposure_forecast.tags_text is
    'Tags of the shipment, parted by ", ".';
comment on column {{analytics}}.exposure_forecast.custom_fields is
    'Custom fields of container and shipment: slug and value. Null: none.';
comment on column {{analytics}}.exposure_forecast.days_left is
    'Calendar days to the last free day, negative past it.';
comment on column {{analytics}}.exposure_forecast.amount is
    'What it costs so far.';
comment on column {{analytics}}.exposure_forecast.seven_days_amount is
    'What it will have cost in seven days.';
comment on column {{analytics}}.exposure_forecast.fourteen_days_amount is
    'What it will have cost in fourteen days.';
comment on column {{analytics}}.exposure_forecast.last_free_on is
    'Last free day. Calendar day at the place.';
