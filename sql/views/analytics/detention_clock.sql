-- When empty containers must be back, and what being late costs
--
-- One row per container that is or was out, from its full gate-out on, as known at as_of(): its
-- clock of detention, or the merged clock of the line, which began at the port or ramp. See
-- charge_clocks for the choice of the rule, its free days and the states: `unknown` if no rule
-- applies, the day of the gate-out is unknown, or the service no longer tracks the container.
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
    and clock.picked_up_on is not null;

comment on view {{analytics}}.detention_clock is
    'One row per container that is or was out: the last day to bring the empty container '
    'back, days over and their cost by free_time_rules.';
comment on column {{analytics}}.detention_clock.container_id is
    'The service''s id of the container.';
comment on column {{analytics}}.detention_clock.shipment_id is
    'Shipment; shipments.';
comment on column {{analytics}}.detention_clock.pod_terminal_id is
    'Terminal at the port of discharge; terminals.';
comment on column {{analytics}}.detention_clock.container_number is
    'Container number; used again on later journeys.';
comment on column {{analytics}}.detention_clock.bill_of_lading_number is
    'Bill of lading number of the shipment.';
comment on column {{analytics}}.detention_clock.shipping_line_scac is
    'SCAC of the shipping line.';
comment on column {{analytics}}.detention_clock.pod_terminal is
    'Terminal at the port of discharge: short name, else name.';
comment on column {{analytics}}.detention_clock.charge is
    'detention; demurrage for a merged clock.';
comment on column {{analytics}}.detention_clock.state is
    'upcoming, due_today, overdue, ended_in_time, ended_late or unknown.';
comment on column {{analytics}}.detention_clock.rule_name is
    'Rule that holds; free_time_rules. Null: none.';
comment on column {{analytics}}.detention_clock.currency_code is
    'Currency of the amounts.';
comment on column {{analytics}}.detention_clock.customer_name is
    'Customer of the shipment.';
comment on column {{analytics}}.detention_clock.ref_numbers_text is
    'Reference numbers of container and shipment, parted by ", ".';
comment on column {{analytics}}.detention_clock.tags_text is
    'Tags of the shipment, parted by ", ".';
comment on column {{analytics}}.detention_clock.custom_fields is
    'Custom fields of container and shipment: slug and value. Null: none.';
comment on column {{analytics}}.detention_clock.time_zone is
    'Zone of the place it left, in which days are counted.';
comment on column {{analytics}}.detention_clock.free_days is
    'Free days after the day of the gate-out.';
comment on column {{analytics}}.detention_clock.days_left is
    'Calendar days to the last day of return, negative past it; null once it is back.';
comment on column {{analytics}}.detention_clock.days_over is
    'Calendar days past the last day of return, to today or to the day it came back.';
comment on column {{analytics}}.detention_clock.days_without_rate is
    'Days over that no tier of the rule holds for.';
comment on column {{analytics}}.detention_clock.amount is
    'What the days over cost so far. Null without a rule.';
comment on column {{analytics}}.detention_clock.next_day_amount is
    'What one more day costs; null once it is back.';
comment on column {{analytics}}.detention_clock.has_rule is
    'Whether a rule for detention holds.';
comment on column {{analytics}}.detention_clock.gate_out_on is
    'Day of the full gate-out. Calendar day at the place it left.';
comment on column {{analytics}}.detention_clock.return_by_on is
    'Last free day to bring it back. Calendar day at the place it left.';
comment on column {{analytics}}.detention_clock.returned_on is
    'Day the empty container came back. Calendar day at the place it left.';
