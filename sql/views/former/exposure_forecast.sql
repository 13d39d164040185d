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
