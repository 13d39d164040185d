-- When empty containers must be back, and what being late costs
--
-- One row per container that is or was out, from its full gate-out on, as known at as_of(): its
-- clock of detention, or the merged clock of the line, which began at the port or ramp. See
-- charge_clocks for the choice of the rule, its free days and the states: `unknown` if no rule
-- applies, the day on which the clock began is unknown, or the service no longer tracks the
-- container.
-- next_day_amount is the cost of one more day from now: 0 while a free day is left.

create view {{analytics}}.detention_clock as
select
    clock.container_id,
    clock.shipment_id,
    clock.pod_terminal_id,
    clock.container_number,
    clock.bill_of_lading_number,
    clock.shipping_line_scac,
    clock.pod_terminal,
    clock.charge,
    clock.state,
    clock.rule_name,
    clock.currency_code,
    clock.customer_name,
    clock.ref_numbers_text,
    clock.tags_text,
    clock.custom_fields,
    clock.time_zone,
    clock.free_days,
    clock.days_left,
    clock.days_over,
    clock.days_without_rate,
    clock.amount,
    clock.one_day_amount - clock.amount as next_day_amount,
    clock.rule_name is not null as has_rule,
    case clock.charge when 'detention' then clock.clock_on else clock.picked_up_on end
        as gate_out_on,
    clock.last_free_on as return_by_on,
    clock.ended_on as returned_on
from {{analytics}}.charge_clocks as clock
where clock.charge = 'detention'
    or clock.charge = 'demurrage'
    and clock.until = 'empty_return'
    and clock.is_out;
