-- Clocks of free time, and what each charge costs
--
-- One row per container, place and charge that runs or ran, as known at as_of(). The base of
-- charge_days, detention_clock, exposure_forecast and of the estimate in demurrage_exposure.
--
-- place: the stay (port, ramp) for storage and demurrage; `out`, from the full gate-out to the
-- return of the empty container, for detention. Charges run in parallel: a terminal's storage and a
-- line's demurrage on one day are two rows. A charge of a stay has a row if a rule of
-- free_time_rules applies to it, or if the charging party reports a day: the terminal for storage
-- and the line for demurrage at the port, the railway for storage at the ramp. Detention has a row
-- for every container that is or was out; where a truck took it to the train, from the ramp on.
--
-- Of the rules that apply, the view takes the one that names most of terminal, shipping line,
-- place, UN/LOCODE, equipment type and equipment length; of equally many the one with the terminal,
-- then the line, then the place code, then the newest valid_from, then the first name.
-- valid_from..valid_to must contain the day on which the clock starts; a rule with either does not
-- apply if that day is unknown.
-- by_rule_on: free_days days after the day the clock starts; by working days Saturdays, Sundays and
-- the holidays of the rule's calendar do not count. The day of the start is never a free day of its
-- own: a line that counts it gives one day less.
-- An instant after as_of() has not happened, see journeys. Days are those of the place; an empty
-- is back on the day of the depot.
-- last_free_on: the day that the charging party reports, because it includes extensions; else the
-- day of the rule; else the earliest day that anybody else reports. A rule can say otherwise
-- (reported): ignored takes the day of the rule alone, earlier and later take that one of both.
-- last_free_source says which.
--
-- state: upcoming, due_today, overdue while the clock runs; ended_in_time, ended_late;
-- unknown if a day or a zone is unknown, nobody would tell its end (is_untold of container_stays),
-- or both the rule and the day are missing. Days over and amounts of an unknown charge are null.
-- Rules and holidays are the present ones, also in an answer as of an instant.
-- days_over counts calendar days past last_free_on, to today or to the day it ended, that day
-- included; weekends too. amount adds the daily rates of those days; days_without_rate counts the
-- days without a tier. one_day_amount, seven_days_amount and fourteen_days_amount are the amounts
-- after so many more days if nothing moves. All are null without a rule.
--
-- Cost: the view looks through the rules for each clock; some hundred rules cost little.

create view {{analytics}}.charge_clocks as
with

places as (

    select
        stay.container_id,
        stay.shipment_id,
        stay.pod_terminal_id,
        stay.container_number,
        stay.bill_of_lading_number,
        stay.shipping_line_scac,
        stay.pod_terminal,
        stay.terminal_id,
        stay.place_locode,
        stay.equipment_type,
        stay.equipment_length,
        stay.time_zone,
        stay.today_on,
        clock.is_untold,
        clock.charge,
        clock.place,
        clock.reporter,
        clock.has_ended,
        clock.out_on,
        clock.reported_on,
        clock.other_on,
        clock.other_source,
        clock.started_on,
        clock.arrived_on
    from {{analytics}}.container_stays as stay
    cross join lateral (

        select
            charge.charge,
            stay.place,
            case
                when stay.place = 'ramp' then 'rail'
                when charge.charge = 'storage' then 'terminal'
                else 'line'
            end as reporter,
            stay.has_ended,
            stay.is_untold,
            stay.out_on,
            case
                when stay.place = 'ramp' and charge.charge = 'storage' then stay.rail_on
                when charge.charge = 'storage' then stay.terminal_on
                else stay.line_on
            end as reported_on,
            stay.reported_on as other_on,
            stay.reported_source as other_source,
            stay.started_on,
            stay.arrived_on
        from (values ('demurrage'), ('storage')) as charge (charge)
        where stay.has_begun

        union all

        select
            'detention' as charge,
            'out' as place,
            'line' as reporter,
            stay.is_returned as has_ended,
            stay.is_tracking_stopped as is_untold,
            stay.returned_on as out_on,
            null::date as reported_on,
            null::date as other_on,
            null as other_source,
            stay.out_on as started_on,
            stay.out_on as arrived_on
        where stay.has_ended
            and stay.is_last

    ) as clock

),

ruled as (

    select
        clock.container_id,
        clock.shipment_id,
        clock.pod_terminal_id,
        clock.container_number,
        clock.bill_of_lading_number,
        clock.shipping_line_scac,
        clock.pod_terminal,
        clock.time_zone,
        clock.is_untold,
        clock.has_ended,
        clock.today_on,
        clock.out_on,
        clock.place,
        clock.charge,
        rule.rule_name,
        rule.currency_code,
        rule.free_days,
        rule.counts,
        rule.holiday_calendar,
        rule.clock_on,
        rule.by_rule_on,
        coalesce(decided.last_free_on, decided.other_on) as last_free_on,
        case
            when decided.last_free_on is null and decided.other_on is null then null
            when decided.last_free_on is null then clock.other_source
            when rule.reported = 'ignored' then 'rule'
            when decided.last_free_on = clock.reported_on then clock.reporter
            else 'rule'
        end as last_free_source
    from places as clock
    left join {{data}}.terminals as terminal
        on terminal.terminal_id = clock.terminal_id
    left join {{data}}.rail_terminals as ramp
        on ramp.rail_terminal_id = clock.terminal_id
    -- Computed once for a clock, and not for each rule that is looked at.
    cross join lateral (

        select
            clock.charge as of_charge,
            clock.place as of_place,
            array[
                clock.terminal_id,
                terminal.firms_code,
                terminal.nickname,
                terminal.name,
                ramp.firms_code,
                ramp.nickname,
                ramp.name
            ] as of_terminal,
            clock.shipping_line_scac as of_line,
            clock.place_locode as of_locode,
            clock.equipment_type as of_equipment_type,
            clock.equipment_length as of_equipment_length,
            clock.started_on,
            clock.arrived_on,
            clock.reported_on
        offset 0

    ) as asked
    left join lateral (

        {{part rule_of}}

    ) as rule
        on true
    cross join lateral (

        select
            case
                when rule.rule_name is null then clock.reported_on
                else rule.last_free_on
            end as last_free_on,
            case when rule.reported is distinct from 'ignored' then clock.other_on end as other_on

    ) as decided
    where rule.rule_name is not null
        or clock.reported_on is not null
        or clock.charge = 'detention'

),

dated as (

    select
        clock.container_id,
        clock.shipment_id,
        clock.pod_terminal_id,
        clock.container_number,
        clock.bill_of_lading_number,
        clock.shipping_line_scac,
        clock.pod_terminal,
        clock.time_zone,
        clock.today_on,
        clock.out_on,
        clock.place,
        clock.charge,
        clock.rule_name,
        clock.currency_code,
        clock.free_days,
        clock.counts,
        clock.holiday_calendar,
        clock.clock_on,
        clock.by_rule_on,
        clock.last_free_on,
        clock.last_free_source,
        case
            when clock.last_free_on is null then 'unknown'
            when clock.out_on > clock.last_free_on then 'ended_late'
            when clock.out_on <= clock.last_free_on then 'ended_in_time'
            when clock.has_ended or clock.is_untold then 'unknown'
            when clock.today_on < clock.last_free_on then 'upcoming'
            when clock.today_on = clock.last_free_on then 'due_today'
            when clock.today_on > clock.last_free_on then 'overdue'
            else 'unknown'
        end as state
    from ruled as clock

)

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
    clock.counts,
    clock.holiday_calendar,
    clock.currency_code,
    customer.customer_name,
    customer.ref_numbers_text,
    customer.tags_text,
    customer.custom_fields,
    clock.time_zone,
    clock.free_days,
    case
        when clock.state in ('upcoming', 'due_today', 'overdue')
            then clock.last_free_on - clock.today_on
    end as days_left,
    past.days_over,
    case when clock.rule_name is not null then past.days_over - cost.rated_days end
        as days_without_rate,
    cost.amount,
    cost.one_day_amount,
    cost.seven_days_amount,
    cost.fourteen_days_amount,
    clock.clock_on,
    clock.by_rule_on,
    clock.last_free_on,
    clock.out_on as ended_on,
    clock.today_on
from dated as clock
cross join lateral (

    select
        clock.state in ('upcoming', 'due_today', 'overdue') as is_running,
        case
            when clock.state in ('overdue', 'ended_late')
                then coalesce(clock.out_on, clock.today_on) - clock.last_free_on
            when clock.state <> 'unknown' then 0
        end as days_over

) as past
-- Computed once for a clock, and not for each of the amounts.
cross join lateral (

    select
        clock.rule_name as of_rule,
        past.days_over,
        case when past.is_running then clock.today_on - clock.last_free_on end as days_now
    offset 0

) as owed
cross join lateral (

    {{part cost_of}}

) as cost
left join {{analytics}}.container_customers as customer
    on customer.container_id = clock.container_id;

comment on view {{analytics}}.charge_clocks is
    'One row per container, place and charge whose clock of free time runs or ran, as known '
    'at as_of(): rule, last free day, days over and cost.';
comment on column {{analytics}}.charge_clocks.container_id is
    'The service''s id of the container.';
comment on column {{analytics}}.charge_clocks.shipment_id is
    'Shipment; shipments.';
comment on column {{analytics}}.charge_clocks.pod_terminal_id is
    'Terminal at the port of discharge; terminals.';
comment on column {{analytics}}.charge_clocks.container_number is
    'Container number; used again on later journeys.';
comment on column {{analytics}}.charge_clocks.bill_of_lading_number is
    'Bill of lading number of the shipment.';
comment on column {{analytics}}.charge_clocks.shipping_line_scac is
    'SCAC of the shipping line.';
comment on column {{analytics}}.charge_clocks.pod_terminal is
    'Terminal at the port of discharge: short name, else name.';
comment on column {{analytics}}.charge_clocks.place is
    'port or ramp for storage and demurrage, out for detention.';
comment on column {{analytics}}.charge_clocks.charge is
    'storage, demurrage or detention.';
comment on column {{analytics}}.charge_clocks.state is
    'upcoming, due_today, overdue, ended_in_time, ended_late or unknown.';
comment on column {{analytics}}.charge_clocks.rule_name is
    'Rule that holds; free_time_rules. Null: none.';
comment on column {{analytics}}.charge_clocks.last_free_source is
    'Whose day last_free_on is: terminal, line, rail, service or rule.';
comment on column {{analytics}}.charge_clocks.counts is
    'calendar or working: what the rule counts as free days.';
comment on column {{analytics}}.charge_clocks.holiday_calendar is
    'Calendar of holidays of the rule.';
comment on column {{analytics}}.charge_clocks.currency_code is
    'Currency of the amounts.';
comment on column {{analytics}}.charge_clocks.customer_name is
    'Customer of the shipment.';
comment on column {{analytics}}.charge_clocks.ref_numbers_text is
    'Reference numbers of container and shipment, parted by ", ".';
comment on column {{analytics}}.charge_clocks.tags_text is
    'Tags of the shipment, parted by ", ".';
comment on column {{analytics}}.charge_clocks.custom_fields is
    'Custom fields of container and shipment: slug and value. Null: none.';
comment on column {{analytics}}.charge_clocks.time_zone is
    'Zone of the place, in which days are counted.';
comment on column {{analytics}}.charge_clocks.free_days is
    'Free days that the rule gives; null where it takes the reported day.';
comment on column {{analytics}}.charge_clocks.days_left is
    'Calendar days to the last free day, negative past it; null once it has ended.';
comment on column {{analytics}}.charge_clocks.days_over is
    'Calendar days past the last free day, to today or to the day it ended; null where '
    'unknown.';
comment on column {{analytics}}.charge_clocks.days_without_rate is
    'Days over that no tier of the rule holds for.';
comment on column {{analytics}}.charge_clocks.amount is
    'Daily rates of the days over, added up. Null without a rule.';
comment on column {{analytics}}.charge_clocks.one_day_amount is
    'What it comes to by tomorrow if nothing moves.';
comment on column {{analytics}}.charge_clocks.seven_days_amount is
    'What it comes to in seven days if nothing moves.';
comment on column {{analytics}}.charge_clocks.fourteen_days_amount is
    'What it comes to in fourteen days if nothing moves.';
comment on column {{analytics}}.charge_clocks.clock_on is
    'Day on which the clock started, as the rule says. Calendar day at the place.';
comment on column {{analytics}}.charge_clocks.by_rule_on is
    'Last free day by the rule. Calendar day at the place.';
comment on column {{analytics}}.charge_clocks.last_free_on is
    'Last free day: as reported, else by the rule, else the binding day of the stay. Calendar '
    'day at the place.';
comment on column {{analytics}}.charge_clocks.ended_on is
    'Day it went out, or the empty container came back. Calendar day at the place.';
comment on column {{analytics}}.charge_clocks.today_on is
    'The day at as_of() at the place.';
