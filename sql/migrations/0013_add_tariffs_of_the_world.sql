-- Tariffs differ by country: whether the day of the start counts, what a tier counts, which days are
-- charged, merged clocks, weekends, periods, and whose contract it is (docs/decisions/0060).
alter table {{analytics}}.free_time_rules
    add column equipment_height text,
    add column customer text,
    add column tag text,
    add column ref text,
    add column first_day integer not null default 0,
    add column tier_counts text not null default 'over',
    add column charged text not null default 'calendar',
    add column until text not null default 'out',
    add column valid_by text not null default 'start',
    add column minimum numeric,
    add column cap numeric,
    drop constraint free_time_rules_charge_is_known,
    drop constraint free_time_rules_starts_with_its_charge,
    add constraint free_time_rules_charge_is_a_word check (charge ~ '^[a-z][a-z_]*$'),
    add constraint free_time_rules_starts_with_its_charge check (
        case
            when charge = 'detention' then starts_with = 'gate_out'
            when charge in ('demurrage', 'storage') then starts_with <> 'gate_out'
            else true
        end
    ),
    add constraint free_time_rules_starts_with_is_known check (
        starts_with in ('arrival', 'berth', 'discharge', 'available', 'gate_out')
    ),
    add constraint free_time_rules_first_day_counts_or_not check (first_day in (0, 1)),
    add constraint free_time_rules_tier_counts_is_known check (tier_counts in ('over', 'start')),
    add constraint free_time_rules_charged_is_known check (charged in ('calendar', 'working')),
    add constraint free_time_rules_until_is_known check (until in ('out', 'empty_return')),
    add constraint free_time_rules_valid_by_is_known check (valid_by in ('start', 'departure')),
    add constraint free_time_rules_minimum_is_not_negative check (minimum >= 0),
    add constraint free_time_rules_cap_is_not_negative check (cap >= 0);

comment on column {{analytics}}.free_time_rules.charge is
    'demurrage (the line''s), storage (the terminal''s), detention (the line''s, outside) or another '
    'word, as plug_in or chassis: charges run in parallel, each with a rule of its own.';
comment on column {{analytics}}.free_time_rules.free_days is
    'Free days, of which the day after the start is the first, or the day of the start (first_day). '
    'Null: the last free day that the service reports.';
comment on column {{analytics}}.free_time_rules.starts_with is
    'Start of the clock. discharge: the start of the stay. arrival, berth: of the vessel at the '
    'port, or the start of the stay at the ramp. available: the container is first reported as '
    'available there. gate_out: the full container leaves.';
comment on column {{analytics}}.free_time_rules.valid_from is
    'First day (see valid_by) that it holds for. Null: no beginning.';
comment on column {{analytics}}.free_time_rules.valid_to is
    'Last day (see valid_by) that it holds for. Null: no end.';
comment on column {{analytics}}.free_time_rules.holiday_calendar is
    'Calendar of holidays and weekends; holidays, working_calendars. Null: that of the place, if any.';
comment on column {{analytics}}.free_time_rules.equipment_height is
    'Height it holds for: standard or high_cube. Null: any.';
comment on column {{analytics}}.free_time_rules.customer is
    'Customer of the shipment it holds for. Null: any.';
comment on column {{analytics}}.free_time_rules.tag is
    'Tag of the shipment it holds for. Null: any.';
comment on column {{analytics}}.free_time_rules.ref is
    'Reference number of the container or shipment it holds for, as the number of a contract. Null: '
    'any.';
comment on column {{analytics}}.free_time_rules.first_day is
    '0: the day after the start is day 1. 1: the day of the start is day 1.';
comment on column {{analytics}}.free_time_rules.tier_counts is
    'Days that the tiers count. over: those charged. start: those since the start, free ones too.';
comment on column {{analytics}}.free_time_rules.charged is
    'Days over that are charged: calendar, each; working, neither weekends nor holidays.';
comment on column {{analytics}}.free_time_rules.until is
    'End of the clock. out: the full container leaves the place. empty_return: the empty is back; '
    'one merged clock. Clocks that start with gate_out always end so.';
comment on column {{analytics}}.free_time_rules.valid_by is
    'Day that valid_from and valid_to are compared with: start, of the clock; departure, of the '
    'vessel from the port of lading.';
comment on column {{analytics}}.free_time_rules.minimum is
    'Least total as soon as a day is charged, in the currency of the rule. Null: none.';
comment on column {{analytics}}.free_time_rules.cap is
    'Most that the total can be, in the currency of the rule. Null: none.';

alter table {{analytics}}.free_time_tiers
    add column per text not null default 'day',
    add constraint free_time_tiers_per_is_known check (per in ('day', 'period'));

comment on column {{analytics}}.free_time_tiers.from_day is
    'First day that is charged at this rate, up to the next tier of the rule: a day over or a day '
    'since the start (tier_counts).';
comment on column {{analytics}}.free_time_tiers.daily_rate is
    'Amount for each day, or once for the whole tier (per), in the currency of the rule.';
comment on column {{analytics}}.free_time_tiers.per is
    'day: the rate is charged for each day. period: once, when the tier is reached.';

create table {{analytics}}.working_calendars (
    calendar text collate "C" not null,
    place text not null,
    weekend integer[],
    constraint working_calendars_pkey primary key (calendar, place),
    constraint working_calendars_leave_days_to_work check (
        weekend <@ array[1, 2, 3, 4, 5, 6, 7] and cardinality(weekend) <= 3
    )
);

comment on table {{analytics}}.working_calendars is
    'Filled by the user, by `tracking-sync rules import` or SQL: weekends, and the places whose '
    'holidays and closures a calendar has. Empty: Saturday and Sunday everywhere.';
comment on column {{analytics}}.working_calendars.calendar is
    'Name of the calendar, which rules and holidays name.';
comment on column {{analytics}}.working_calendars.place is
    'Where it applies, also to rules that do not name it: a UN/LOCODE, or a terminal by id, FIRMS '
    'code, nickname or name. Empty text: to rules that name it.';
comment on column {{analytics}}.working_calendars.weekend is
    'Days of the week on which nobody works, 1 (Monday) to 7 (Sunday). Null: not said, as in a '
    'calendar of closures.';

comment on table {{analytics}}.holidays is
    'Filled by the user, by `tracking-sync rules import` or SQL: days that are not working days, '
    'holidays of a calendar and closures of a terminal.';

-- The order in which views look for the rule that holds (sql/views/parts/rule_of.sql).
drop index {{analytics}}.free_time_rules_rank_idx;

create index free_time_rules_rank_idx
    on {{analytics}}.free_time_rules (
        charge collate "C",
        num_nonnulls(
            terminal,
            shipping_line_scac,
            place,
            locode,
            equipment_type,
            equipment_length,
            equipment_height,
            customer,
            tag,
            ref
        ) desc,
        (ref is null),
        (customer is null),
        (terminal is null),
        (shipping_line_scac is null),
        (locode is null),
        valid_from desc nulls last,
        rule_name
    );

-- Expressions over given lists, so that the planner puts them in place (free_time_costs). A period
-- that began in free time is charged with the first of its days that is over.
create function {{analytics}}.cost_up_to(
    day_number integer,
    from_days integer[],
    daily_rates numeric[],
    once_rates numeric[],
    costs_before numeric[]
) returns numeric
language sql immutable parallel safe
return case
    when day_number >= from_days[1]
        then costs_before[width_bucket(day_number, from_days)]
            + once_rates[width_bucket(day_number, from_days)]
            + daily_rates[width_bucket(day_number, from_days)]
            * (day_number - from_days[width_bucket(day_number, from_days)] + 1)
    else 0
end;

comment on function {{analytics}}.cost_up_to is
    'Cost of the days up to this one, by the lists of free_time_costs; 0 before the first tier.';

create function {{analytics}}.charge_for(
    charged_days integer,
    days_before integer,
    from_days integer[],
    daily_rates numeric[],
    once_rates numeric[],
    costs_before numeric[],
    minimum numeric,
    cap numeric
) returns numeric
language sql immutable parallel safe
return case
    when charged_days > 0 and days_before + charged_days >= from_days[1]
        then least(
            greatest(
                {{analytics}}.cost_up_to(
                    days_before + charged_days, from_days, daily_rates, once_rates, costs_before
                )
                - {{analytics}}.cost_up_to(
                    days_before, from_days, daily_rates, once_rates, costs_before
                )
                + case
                    when days_before >= from_days[1]
                        and width_bucket(days_before + 1, from_days)
                            = width_bucket(days_before, from_days)
                        then once_rates[width_bucket(days_before, from_days)]
                    else 0
                end,
                minimum
            ),
            cap
        )
    when charged_days = 0 and days_before is not null then 0
end;

comment on function {{analytics}}.charge_for is
    'Cost of so many charged days after those before them, by the lists of free_time_costs, between '
    'minimum and cap; 0 without a day, null where none of them has a rate.';
