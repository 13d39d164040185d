-- Stays at the port and at the ramp, and the day that binds each
--
-- One row per container and stay, as known at as_of(): every live container has its stay at the
-- port of discharge; one that goes inland by rail has a second one at the inland ramp. See journeys
-- for its milestones, its way by truck or rail, and the zones.
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
-- The day of an instant is that of wall_zone of the place, today that of time_zone (see journeys):
-- without a usable zone nobody knows which day it is there, and it is never counted in UTC.
-- A last free day is the day of container_import_deadlines, whose zone is that of the deadline: one
-- that was sent as a bare date, or without a zone as wall time marked as UTC, needs none. A day
-- that was withdrawn after the container had left still counts, as it was said then.
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
from {{analytics}}.stay_facts as stay
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

        {{part rule_of}}

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
    from {{analytics}}.known_holds as held
    where held.container_id = stay.container_id
        and held.place in ('port', stay.place)
        and stay.has_begun
        and not stay.has_ended

) as hold
    on true;

comment on view {{analytics}}.container_stays is
    'One row per live container and stay, at the port and at the ramp, as known at as_of(): '
    'when it began and ended, and the last free day that binds it.';
comment on column {{analytics}}.container_stays.container_id is
    'The service''s id of the container.';
comment on column {{analytics}}.container_stays.shipment_id is
    'Shipment; shipments.';
comment on column {{analytics}}.container_stays.pod_terminal_id is
    'Terminal at the port of discharge; terminals.';
comment on column {{analytics}}.container_stays.container_number is
    'Container number; used again on later journeys.';
comment on column {{analytics}}.container_stays.bill_of_lading_number is
    'Bill of lading number of the shipment.';
comment on column {{analytics}}.container_stays.shipping_line_scac is
    'SCAC of the shipping line.';
comment on column {{analytics}}.container_stays.pod_terminal is
    'Terminal at the port of discharge: short name, else name.';
comment on column {{analytics}}.container_stays.place is
    'Which stay: port or ramp.';
comment on column {{analytics}}.container_stays.place_locode is
    'UN/LOCODE of the port of discharge or of the destination.';
comment on column {{analytics}}.container_stays.place_name is
    'Name of the port of discharge or of the destination.';
comment on column {{analytics}}.container_stays.terminal_id is
    'Terminal of the stay: at the port that of discharge, at the ramp where it is picked up, else '
    'that of the destination; terminals or rail_terminals. Null: not said.';
comment on column {{analytics}}.container_stays.terminal_name is
    'Terminal of the stay: short name, else name.';
comment on column {{analytics}}.container_stays.terminal_city is
    'City of the terminal of the stay.';
comment on column {{analytics}}.container_stays.terminal_names is
    'Names of the terminal of the stay: id, FIRMS code, short name, name.';
comment on column {{analytics}}.container_stays.pickup_facility_id is
    'Where the service says it is picked up; terminals.';
comment on column {{analytics}}.container_stays.equipment_type is
    'dry, reefer, open top, flat rack, bulk, tank, hard top; other values are kept.';
comment on column {{analytics}}.container_stays.equipment_length is
    'Length in feet.';
comment on column {{analytics}}.container_stays.equipment_height is
    'standard or high_cube.';
comment on column {{analytics}}.container_stays.current_status is
    'Status of the container, in the service''s words.';
comment on column {{analytics}}.container_stays.customer_name is
    'Customer of the shipment.';
comment on column {{analytics}}.container_stays.container_ref_numbers is
    'The customer''s reference numbers of the container.';
comment on column {{analytics}}.container_stays.shipment_ref_numbers is
    'The customer''s reference numbers of the shipment.';
comment on column {{analytics}}.container_stays.ref_numbers is
    'The customer''s reference numbers of the container and of the shipment.';
comment on column {{analytics}}.container_stays.ref_numbers_text is
    'Reference numbers of container and shipment, parted by ", ".';
comment on column {{analytics}}.container_stays.tags is
    'Tags of the shipment.';
comment on column {{analytics}}.container_stays.tags_text is
    'Tags of the shipment, parted by ", ".';
comment on column {{analytics}}.container_stays.custom_fields is
    'Custom fields of container and shipment: slug and value. Null: none.';
comment on column {{analytics}}.container_stays.state is
    'not_started, none, upcoming, due_today, overdue, out_in_time, out_late or unknown.';
comment on column {{analytics}}.container_stays.mode is
    'What took it away from the place, else what will: truck or rail.';
comment on column {{analytics}}.container_stays.binding_source is
    'Whose day binds: terminal, line, rail, service where no source says one, or rule; null '
    'without a day.';
comment on column {{analytics}}.container_stays.reported_source is
    'Who reports reported_on: terminal, line, rail, or service; null without such a day.';
comment on column {{analytics}}.container_stays.time_zone is
    'IANA zone of the place, in which days are counted; null: not known.';
comment on column {{analytics}}.container_stays.wall_zone is
    'Zone that turns instants of the place into wall time there: as sent; UTC where none was sent, '
    'because then wall time is marked as UTC; null: not known.';
comment on column {{analytics}}.container_stays.tracking_stopped_reason is
    'Why the service stopped asking the shipping line; null while it asks.';
comment on column {{analytics}}.container_stays.days_left is
    'Calendar days from today to the binding day: 0 on the day, negative after it; null unless '
    'it is there.';
comment on column {{analytics}}.container_stays.days_over is
    'Calendar days past the binding day, to today or to the day it went out; null unless '
    'overdue or out_late.';
comment on column {{analytics}}.container_stays.is_available is
    'Whether it can be picked up there, as far as the place says; null: not said, or outside '
    'of the stay.';
comment on column {{analytics}}.container_stays.blocking_holds is
    'Names of the holds that block, all but pending ones. Empty outside of the stay.';
comment on column {{analytics}}.container_stays.blocking_holds_text is
    'The same as one text.';
comment on column {{analytics}}.container_stays.other_holds is
    'Pending holds, which do not block, with their status.';
comment on column {{analytics}}.container_stays.other_holds_text is
    'The same as one text.';
comment on column {{analytics}}.container_stays.is_tracking_stopped is
    'Whether the service stopped asking the shipping line.';
comment on column {{analytics}}.container_stays.is_untold is
    'Whether nobody would tell that it left: the service stopped asking the line, and at the port '
    'it has not asked the terminal in the last 48 hours either.';
comment on column {{analytics}}.container_stays.is_zone_known is
    'Whether the zone of the place was sent and PostgreSQL knows it; false with a time_zone: '
    'that of the port itself.';
comment on column {{analytics}}.container_stays.is_out is
    'Whether its last pickup or its return empty is reported: nothing of it is left to fetch.';
comment on column {{analytics}}.container_stays.is_last is
    'Whether the last pickup of the full container is here, and not at the ramp after it.';
comment on column {{analytics}}.container_stays.is_returned is
    'Whether the empty container is back, reported or not.';
comment on column {{analytics}}.container_stays.has_begun is
    'Whether the stay has begun, reported or not.';
comment on column {{analytics}}.container_stays.has_ended is
    'Whether the stay is over, reported or not.';
comment on column {{analytics}}.container_stays.has_reached_ramp is
    'Whether it has reached the ramp, reported or not.';
comment on column {{analytics}}.container_stays.is_merged_from_port is
    'Whether the rule of the line at the port is one clock until the empty is back.';
comment on column {{analytics}}.container_stays.is_waiting_for_train is
    'Whether it is at the port and goes on by rail.';
comment on column {{analytics}}.container_stays.is_start_reported is
    'Whether anybody said when it began.';
comment on column {{analytics}}.container_stays.is_end_reported is
    'Whether anybody said when it ended.';
comment on column {{analytics}}.container_stays.binding_on is
    'Earliest last free day that applies to the stay. Calendar day at the place.';
comment on column {{analytics}}.container_stays.terminal_on is
    'Last free day as the terminal says. Calendar day at the port; null at the ramp.';
comment on column {{analytics}}.container_stays.line_on is
    'Last free day as the shipping line says. Calendar day at the port; null at the ramp.';
comment on column {{analytics}}.container_stays.rail_on is
    'Last free day as the railway says. Calendar day at the ramp; null at the port.';
comment on column {{analytics}}.container_stays.service_on is
    'Last free day at the port as the service picks it. Calendar day at the port; null at the '
    'ramp.';
comment on column {{analytics}}.container_stays.rule_on is
    'Last free day by free_time_rules: the earlier of storage and demurrage, each where the day of '
    'the rule counts. Calendar day at the place; null before it is there.';
comment on column {{analytics}}.container_stays.reported_on is
    'Earliest last free day that a source reports for the stay. Calendar day at the place.';
comment on column {{analytics}}.container_stays.today_on is
    'Today, the day of as_of(), at the place; null where its zone is not known.';
comment on column {{analytics}}.container_stays.started_on is
    'Day of start_at. Calendar day at the place.';
comment on column {{analytics}}.container_stays.arrived_on is
    'Day of arrived_at. Calendar day at the place.';
comment on column {{analytics}}.container_stays.out_on is
    'Day it went out. Calendar day at the place; null while it is in, or nobody said when.';
comment on column {{analytics}}.container_stays.returned_on is
    'Day on which the empty container came back. Calendar day at the depot.';
comment on column {{analytics}}.container_stays.departed_on is
    'Day on which the vessel left the port of lading. Calendar day there.';
comment on column {{analytics}}.container_stays.berthed_on is
    'Day on which the vessel berthed, at the ramp that of start_at; at the port null unless a rule '
    'starts with it. Calendar day at the place.';
comment on column {{analytics}}.container_stays.available_on is
    'Day on which it was first said to be available during the stay; null unless a rule starts '
    'with it. Calendar day at the place.';
comment on column {{analytics}}.container_stays.arrived_at is
    'When the vessel arrived at the port, or the container at the ramp; null: not reported, or an '
    'instant to come. UTC.';
comment on column {{analytics}}.container_stays.start_at is
    'When it was discharged, or reached the ramp. UTC.';
comment on column {{analytics}}.container_stays.end_at is
    'When it went out, or left by rail. UTC.';
comment on column {{analytics}}.container_stays.pod_discharged_at is
    'Discharge at the port of discharge, as sent; it can be an instant to come. UTC.';
comment on column {{analytics}}.container_stays.pickup_appointment_at is
    'Appointment for the pickup at the terminal. UTC.';
