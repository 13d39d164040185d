-- Costs so far and of the next days
--
-- One row per container, place, charge and currency that costs something or will, as known at
-- as_of(). Amounts of one currency can be added: a day of a charge is in one row, and a box under
-- two shipments has its rows under one of them (tracked_twice).
--
-- place: port, ramp, or `out`, from the full gate-out to the return of the empty.
-- charge: that of a clock (charge_clocks): storage, demurrage, detention or any word of a rule; a
-- merged clock is the line's demurrage. `listed fees` are the fees that the terminal lists now
-- (demurrage_exposure), of any type. `not known`: a stay past its last free day without a rule
-- for storage or demurrage, without listed fees, and without a day of the terminal, the line or the
-- railway.
--
-- A clock has a row while it runs, if a rule applies or its last free day is over, and after it if
-- it ended late. A stay has listed fees once its last free day is over.
--
-- cost_amount: the cost so far. Listed fees count in place of the storage and demurrage by the
-- rules at that place, of which they are the better figure: cost_amount of these rows is null, and
-- rule_amount has the figure by the rule. A merged clock whose free days ended only after the
-- gate-out keeps its amount: none of its days is one of the listed fees. Null too without a rule,
-- without a rate, or in the state unknown: an empty cell is not zero.
-- next_day_amount, next_7_days_amount, next_14_days_amount: the cost that is added if nothing moves
-- for so long, by the rule, also beside listed fees; 0 after the end. Null where rule_amount is.
-- states: those of charge_clocks. Rules are the present ones, also in an answer as of an instant.

create view {{analytics}}.costs as
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
    case when clock.rule_name is null then null when fee.is_listed then 'listed' else 'rule' end
        as source,
    clock.currency_code,
    clock.customer_name,
    clock.ref_numbers_text,
    clock.tags_text,
    clock.custom_fields,
    clock.days_left,
    clock.days_over,
    clock.days_without_rate,
    case when not fee.is_listed then clock.amount end as cost_amount,
    clock.amount as rule_amount,
    case
        when clock.ended_on is null then clock.one_day_amount - clock.amount
        when clock.amount is not null then 0
    end as next_day_amount,
    case
        when clock.ended_on is null then clock.seven_days_amount - clock.amount
        when clock.amount is not null then 0
    end as next_7_days_amount,
    case
        when clock.ended_on is null then clock.fourteen_days_amount - clock.amount
        when clock.amount is not null then 0
    end as next_14_days_amount,
    clock.last_free_on,
    clock.ended_on
from {{analytics}}.charge_clocks as clock
cross join lateral (

    select
        clock.place <> 'out'
        and clock.charge in ('storage', 'demurrage')
        and clock.state in ('overdue', 'ended_late')
        and (clock.left_on is null or clock.left_on > clock.last_free_on)
        -- At the ramp the port's list belongs to the ramp.
        and (clock.place = 'ramp' or not clock.has_reached_ramp)
        and exists (
            select
            from {{parts}}.listed_fees as listed
            where listed.container_id = clock.container_id
                and listed.place = clock.place
                and listed.amount is not null
        ) as is_listed

) as fee
where clock.state in ('overdue', 'ended_late')
    or clock.state in ('upcoming', 'due_today')
    and clock.rule_name is not null
    or clock.state = 'unknown'
    and clock.ended_on is null
    and clock.last_free_on < clock.today_on

union all

select
    stay.container_id,
    stay.shipment_id,
    stay.pod_terminal_id,
    stay.container_number,
    stay.bill_of_lading_number,
    stay.shipping_line_scac,
    stay.pod_terminal,
    stay.place,
    case when fee.amount is null then 'not known' else 'listed fees' end as charge,
    case stay.state when 'out_late' then 'ended_late' else stay.state end as state,
    null as rule_name,
    stay.binding_source as last_free_source,
    case when fee.amount is not null then 'listed' end as source,
    fee.currency_code,
    stay.customer_name,
    stay.ref_numbers_text,
    stay.tags_text,
    stay.custom_fields,
    case when stay.state = 'overdue' then -stay.days_over end as days_left,
    stay.days_over,
    null as days_without_rate,
    case when stay.state <> 'unknown' then fee.amount end as cost_amount,
    null as rule_amount,
    null as next_day_amount,
    null as next_7_days_amount,
    null as next_14_days_amount,
    stay.binding_on as last_free_on,
    stay.out_on as ended_on
from {{analytics}}.demurrage_exposure as stay
left join lateral (

    select
        listed.key as currency_code,
        listed.value::numeric as amount
    from jsonb_each_text(stay.fees_by_currency) as listed

) as fee
    on true
where fee.amount is not null
    or stay.binding_source = 'service'
    and not stay.has_rule;
