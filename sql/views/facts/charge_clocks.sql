-- Clocks of free time, and what each charge costs
--
-- One row per container, place and charge that runs or ran, as known at as_of(). A box under two
-- shipments has its clocks under one of them (tracked_twice). The base of
-- charged_days, detention_clock, exposure_forecast and of the estimate in demurrage_exposure.
--
-- place: the stay (port, ramp) for charges there; `out`, from the full gate-out to the return of
-- the empty container, for charges that start with the gate-out. Charges run in parallel: a
-- terminal's storage and a line's demurrage on one day are two rows. A charge of a stay has a row
-- if a rule of free_time_rules applies to it, or if the charging party reports a day: the terminal
-- for storage and the line for demurrage at the port, the railway for storage at the ramp.
-- Detention has a row for every container that is or was out; where a truck took it to the train,
-- from the ramp on. Where a demurrage rule runs until the empty is back (until), its clock is the
-- only one of the line: the gate-out neither stops nor resets it, and neither detention nor, if it
-- began at the port, demurrage at the ramp has a row.
--
-- Of the rules that apply, the view takes the one that names most of terminal, shipping line,
-- place, UN/LOCODE, equipment type, length and height, customer, tag and reference number; of
-- equally many the one with the reference number, then the customer, the terminal, the line, the
-- place code, then the newest valid_from, then the first name. valid_from..valid_to must contain
-- the day on which the clock starts, or the vessel departed (valid_by); a rule with either does not
-- apply if that day is unknown.
-- by_rule_on, the day of the rule: the last of its free_days, of which the day after the start is
-- the first, or the day of the start itself (first_day); by working days, days off do not count.
-- Days off: the weekend, and the holidays of the calendars that the rule names, or that apply to
-- the terminal or the UN/LOCODE (working_calendars). The weekend is that of the rule's calendar,
-- else of the terminal's, else of the place's, else Saturday and Sunday.
-- An instant after as_of() has not happened, see journey_facts. Days are those of the place; an
-- empty is back on the day of the depot.
-- last_free_on: the day that the charging party reports, because it includes extensions; else the
-- day of the rule; else, for storage and demurrage, the earliest day that anybody else reports. A
-- rule can say otherwise (reported): ignored takes the day of the rule alone, earlier and later
-- take that one of both. last_free_source says which.
--
-- state: upcoming, due_today, overdue while the clock runs; ended_in_time, ended_late;
-- unknown if a day or a zone is unknown, nobody would tell its end (is_untold of container_stays),
-- or both the rule and the day are missing. Days over and amounts of an unknown charge are null.
-- Rules and calendars are the present ones, also in an answer as of an instant.
-- days_over counts calendar days past last_free_on, to today or to the day it ended, that day
-- included; weekends too. charged_days are those of them that the rule charges (charged): each, or
-- working days only. A tier counts charged days, or days since the start of the clock, free ones
-- included (tier_counts). amount adds the rates of the charged days, for each day or once for a
-- tier (per), and lies between minimum and cap of the rule; days_without_rate counts the charged
-- days without a tier. one_day_amount, seven_days_amount and fourteen_days_amount are the amounts
-- after so many more days if nothing moves. All are null without a rule, and an amount where none
-- of its days has a rate.
-- days_before, weekend and off_days, for the views that count days: the days since the start that
-- the tiers count before the first day over, and the days on which nobody works.
--
-- Cost: the view looks through the rules for each clock; some hundred rules cost little.

create view {{analytics}}.charge_clocks as
-- Planned by itself, see known_milestones.
with apart as (select)
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
    clock.until,
    standing.state,
    clock.rule_name,
    clock.last_free_source,
    clock.counts,
    clock.holiday_calendar,
    clock.off_days,
    clock.weekend,
    clock.currency_code,
    clock.customer_name,
    clock.ref_numbers_text,
    clock.tags_text,
    clock.custom_fields,
    clock.time_zone,
    clock.free_days,
    clock.first_day,
    case
        when standing.state in ('upcoming', 'due_today', 'overdue')
            then clock.last_free_on - clock.today_on
    end as days_left,
    past.days_over,
    cost.charged_days,
    cost.days_before,
    cost.charged_days - cost.rated_days as days_without_rate,
    cost.amount,
    cost.one_day_amount,
    cost.seven_days_amount,
    cost.fourteen_days_amount,
    clock.clock_on,
    clock.by_rule_on,
    clock.compared_on,
    clock.last_free_on,
    clock.picked_up_on,
    clock.left_on,
    clock.ended_on,
    clock.today_on,
    clock.has_reached_ramp,
    clock.is_out
from {{parts}}.ruled_clocks as clock
cross join lateral (

    select
        case
            when clock.last_free_on is null then 'unknown'
            when clock.ended_on > clock.last_free_on then 'ended_late'
            when clock.ended_on <= clock.last_free_on then 'ended_in_time'
            when clock.has_ended or clock.is_untold then 'unknown'
            when clock.today_on < clock.last_free_on then 'upcoming'
            when clock.today_on = clock.last_free_on then 'due_today'
            when clock.today_on > clock.last_free_on then 'overdue'
            else 'unknown'
        end as state

) as standing
left join {{parts}}.free_time_costs as tariff
    on tariff.rule_name = clock.rule_name
cross join lateral (

    select
        standing.state in ('upcoming', 'due_today', 'overdue') as is_running,
        case
            when standing.state in ('overdue', 'ended_late')
                then coalesce(clock.ended_on, clock.today_on) - clock.last_free_on
            when standing.state <> 'unknown' then 0
        end as days_over

) as past
-- Computed once for a clock, and not for each of the amounts.
cross join lateral (

    select
        clock.off_days,
        clock.weekend,
        clock.clock_on,
        clock.last_free_on,
        past.days_over,
        case when past.is_running then clock.today_on - clock.last_free_on end as days_now
    offset 0

) as owed
left join lateral (

    {{fragment cost_of}}

) as cost
    on true;
