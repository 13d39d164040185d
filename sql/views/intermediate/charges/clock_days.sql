-- Charged days of clocks, and what each costs
--
-- One row per container, place, charge and calendar day past its last free day, as known at
-- as_of(): the rows and amounts of charged_days, without what was known about each day. The base of
-- accrual.

create view {{parts}}.clock_days as
select
    clock.container_id,
    clock.shipment_id,
    clock.pod_terminal_id,
    clock.container_number,
    clock.shipping_line_scac,
    clock.pod_terminal,
    clock.place,
    clock.charge,
    clock.customer_name,
    clock.currency_code,
    past.charge_amount,
    past.charged_on
from {{analytics}}.charge_clocks as clock
-- Computed once for a clock, and not for each of its days.
cross join lateral (

    select
        clock.days_over,
        clock.last_free_on
    where clock.days_over > 0
    offset 0

) as span
left join {{parts}}.free_time_costs as tariff
    on tariff.rule_name = clock.rule_name
cross join lateral (

    {{fragment days_of}}

) as past;
