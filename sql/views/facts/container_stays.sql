-- Stays at the port and at the ramp, and the day that binds each
--
-- One row per container and stay, as known at as_of(): every live container has its stay at the
-- port of discharge; one that goes inland by rail has a second one at the inland ramp. See
-- journey_facts for its milestones, its way by truck or rail, and the zones.
--
-- The port stay runs from discharge to the earlier of full gate-out and rail departure; the ramp
-- stay from the earlier of arrival and unloading there to the full gate-out there; the two never
-- overlap. A later milestone, or a status, can say that a stay began or ended without saying when:
-- has_begun, has_ended, with is_start_reported or is_end_reported false.
--
-- terminal_on and line_on are days at the port and bind the port stay; rail_on binds the ramp stay.
-- service_on is the service's own pick for the port: it binds where terminal, line and railway lack
-- a day.
-- rule_on is the day by the user's own free_time_rules: the earlier one of storage and demurrage,
-- each where the one who charges for it reports no day, or the rule says that another one counts
-- (reported; see charge_clocks).
-- binding_on is the earliest of the days that count. Of equal days the terminal's is named, because
-- its gate charges, and a reported one before that of a rule. reported_on is the earliest day
-- without those of rules.
-- The ramp's terminal is where the service says it is picked up, else the terminal of the
-- destination, which can be a rail terminal.
-- The day of an instant is that of wall_zone of the place, today that of time_zone (see
-- journey_facts): without a usable zone nobody knows which day it is there, and it is never counted
-- in UTC. A last free day is the day of container_import_deadlines, whose zone is that of the
-- deadline: one that was sent as a bare date, or without a zone as wall time marked as UTC, needs
-- none. A day that was withdrawn after the container had left still counts, as it was said then.
--
-- state, in this order:
--   out_in_time, out_late   it left, up to and on the binding day, or after it
--   unknown                 it left at an unknown time, a day or a zone cannot be read, or nobody
--                           would tell that it left (is_untold)
--   not_started             still on the ship, or on its way to the ramp
--   none                    no source says a last free day
--   upcoming, due_today, overdue
-- is_untold: the service no longer tracks it (tracking_stopped_reason), and at the port it has not
-- asked the terminal in the last 48 hours either.
-- days_left counts calendar days at the place to the binding day, and only while the container is
-- there; days_over counts the days past it: the day after it is day 1, the day of going out counts.
-- Both are null in an unknown state.
--
-- mode: truck or rail, as it left or is expected to leave. is_waiting_for_train: it is at the port
-- and goes on by rail.
-- is_available: at the port the word of the terminal. At the ramp a no of that word counts, because
-- the service fills it wherever the container is; else whether current_status is available. Null if
-- it is not reported, and outside of the stay. Every hold blocks except `pending`: at the port
-- those of its terminal, at the ramp those of both lists. other_holds do not block.
--
-- Cost: both stays are made from one reading of the container; holds and rules are read only when
-- asked for, container by container.
-- Narrow it by pod_terminal_id, shipping_line_scac or pod_discharged_at, which are read before the
-- stays are made; start_at and binding_on are made first.

create view {{analytics}}.container_stays as
-- Planned by itself, see known_milestones.
with apart as (select)
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
    stay.place_name,
    stay.terminal_id,
    stay.terminal_name,
    stay.terminal_city,
    stay.terminal_names,
    stay.pickup_facility_id,
    stay.equipment_type,
    stay.equipment_length,
    stay.equipment_height,
    stay.current_status,
    stay.customer_name,
    stay.container_ref_numbers,
    stay.shipment_ref_numbers,
    stay.ref_numbers,
    stay.ref_numbers_text,
    stay.tags,
    stay.tags_text,
    stay.custom_fields,
    standing.state,
    stay.mode,
    case
        when standing.binding_on = by_rule.own_on then by_rule.own_source
        when standing.binding_on is not null then 'service'
    end as binding_source,
    reported.source as reported_source,
    stay.time_zone,
    stay.wall_zone,
    stay.tracking_stopped_reason,
    case
        when standing.state in ('upcoming', 'due_today', 'overdue')
            then standing.binding_on - stay.today_on
    end as days_left,
    case
        when standing.state in ('overdue', 'out_late')
            then coalesce(stay.out_on, stay.today_on) - standing.binding_on
    end as days_over,
    case
        when not stay.has_begun or stay.has_ended then null
        when stay.place = 'port' then stay.available_for_pickup
        when not stay.available_for_pickup then false
        when stay.current_status = 'available' then true
        when stay.current_status in ('not_available', 'grounded') then false
    end as is_available,
    coalesce(hold.blocking, '{}') as blocking_holds,
    nullif(array_to_string(hold.blocking, ', '), '') as blocking_holds_text,
    coalesce(hold.others, '{}') as other_holds,
    nullif(array_to_string(hold.others, ', '), '') as other_holds_text,
    stay.is_tracking_stopped,
    stay.is_untold,
    stay.is_zone_known,
    stay.is_out,
    stay.is_last,
    stay.is_returned,
    stay.has_begun,
    stay.has_ended,
    stay.has_reached_ramp,
    stay.is_merged_from_port,
    stay.has_begun and not stay.has_ended and stay.mode = 'rail' as is_waiting_for_train,
    stay.start_at is not null as is_start_reported,
    stay.end_at is not null as is_end_reported,
    standing.binding_on,
    stay.terminal_on,
    stay.line_on,
    stay.rail_on,
    stay.service_on,
    by_rule.rule_on,
    stay.reported_on,
    stay.today_on,
    stay.started_on,
    stay.arrived_on,
    stay.out_on,
    stay.returned_on,
    stay.departed_on,
    stay.berthed_on,
    stay.available_on,
    stay.arrived_at,
    stay.start_at,
    stay.end_at,
    stay.pod_discharged_at,
    stay.pickup_appointment_at
from {{parts}}.stay_facts as stay
cross join lateral (

    select
        case
            when stay.reported_on is null then null
            when stay.reported_on = stay.terminal_on then 'terminal'
            when stay.reported_on = stay.line_on then 'line'
            when stay.reported_on = stay.rail_on then 'rail'
            else 'service'
        end as source

) as reported
left join lateral (

    select
        min(decided.last_free_on) as own_on,
        (
            array_agg(
                decided.source
                order by
                    decided.last_free_on,
                    decided.source = 'rule',
                    decided.source = 'line'
            )
        )[1] as own_source,
        min(decided.last_free_on)
            filter (where decided.last_free_on is distinct from charge.reported_on) as rule_on
    from (
        values
            ('storage', coalesce(stay.terminal_on, stay.rail_on)),
            ('demurrage', stay.line_on)
    ) as charge (charge, reported_on)
    cross join lateral (

        select
            -- A rule is looked up only where it can decide.
            case
                when stay.has_begun
                    and not (
                        charge.charge = 'demurrage'
                        and stay.place = 'ramp'
                        and stay.is_merged_from_port
                    )
                    and (
                        charge.reported_on is null
                        or exists (
                            select
                            from {{analytics}}.free_time_rules as strict
                            where strict.reported <> 'binds'
                        )
                    )
                    then charge.charge
            end as of_charge,
            stay.place,
            stay.terminal_names,
            stay.shipping_line_scac,
            stay.place_locode,
            stay.equipment_type,
            stay.equipment_length,
            stay.equipment_height,
            stay.customer_name,
            stay.ref_numbers,
            stay.tags,
            stay.departed_on,
            stay.started_on,
            stay.arrived_on,
            stay.berthed_on,
            stay.available_on,
            charge.reported_on
        offset 0

    ) as asked
    left join lateral (

        {{fragment rule_of}}

    ) as rule
        on true
    cross join lateral (

        select
            case
                when rule.rule_name is null then charge.reported_on
                else rule.last_free_on
            end as last_free_on,
            case
                when rule.reported = 'ignored' or rule.last_free_on <> charge.reported_on
                    or charge.reported_on is null
                    then 'rule'
                when charge.charge = 'demurrage' then 'line'
                when stay.place = 'ramp' then 'rail'
                else 'terminal'
            end as source

    ) as decided

) as by_rule
    on true
left join lateral (

    select
        bound.binding_on,
        case
            when stay.has_ended and not stay.has_day and bound.binding_on is null then 'none'
            when stay.is_day_unread and (stay.has_begun or stay.has_ended) then 'unknown'
            when stay.out_on > bound.binding_on then 'out_late'
            when stay.out_on <= bound.binding_on then 'out_in_time'
            when stay.has_ended or stay.is_untold then 'unknown'
            when not stay.has_begun then 'not_started'
            when not stay.has_day and bound.binding_on is null then 'none'
            when stay.today_on < bound.binding_on then 'upcoming'
            when stay.today_on = bound.binding_on then 'due_today'
            when stay.today_on > bound.binding_on then 'overdue'
            else 'unknown'
        end as state
    from (
        select
            least(
                by_rule.own_on, case when stay.is_of_service then stay.reported_on end
            ) as binding_on
    ) as bound

) as standing
    on true
-- Looked up for containers at the place only: if the planner expects few rows, it would gather the
-- holds of all containers again for each row.
left join lateral (

    select
        -- Both lists can have one hold.
        array_agg(distinct coalesce(held.name, 'unnamed'))
            filter (where held.status is distinct from 'pending') as blocking,
        array_agg(distinct coalesce(held.name, 'unnamed') || ' (' || held.status || ')')
            filter (where held.status = 'pending') as others
    from {{parts}}.known_holds as held
    where held.container_id = stay.container_id
        and held.place in ('port', stay.place)
        and stay.has_begun
        and not stay.has_ended

) as hold
    on true;
