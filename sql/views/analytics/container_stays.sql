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
-- that was sent as a bare date, or without a zone as wall time marked as UTC, needs none.
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
with

stays as (

    select
        journey.container_id,
        journey.shipment_id,
        journey.pod_terminal_id,
        journey.pickup_facility_id,
        journey.container_number,
        journey.equipment_type,
        journey.equipment_length,
        journey.current_status,
        journey.available_for_pickup,
        journey.pickup_appointment_at,
        journey.bill_of_lading_number,
        journey.shipping_line_scac,
        journey.tracking_stopped_reason,
        journey.pod_discharged_at,
        journey.is_tracking_stopped,
        journey.is_out,
        journey.is_returned,
        stay.place,
        stay.place_locode,
        stay.place_name,
        stay.terminal_id,
        stay.mode,
        stay.time_zone,
        stay.wall_zone,
        stay.is_zone_known,
        stay.is_untold,
        stay.is_last,
        stay.has_begun,
        stay.has_ended,
        stay.arrived_at,
        stay.start_at,
        stay.end_at,
        stay.terminal_on,
        stay.line_on,
        stay.rail_on,
        stay.service_on,
        stay.reported_on,
        stay.is_of_service,
        stay.has_day,
        stay.is_day_unread,
        calendar.today_on,
        calendar.started_on,
        calendar.arrived_on,
        calendar.out_on,
        calendar.returned_on
    from {{analytics}}.journeys as journey
    left join {{analytics}}.known_import_deadlines as by_terminal
        on by_terminal.container_id = journey.container_id
        and by_terminal.kind = 'pickup_lfd_terminal'
    left join {{analytics}}.known_import_deadlines as by_line
        on by_line.container_id = journey.container_id
        and by_line.kind = 'pickup_lfd_line'
    left join {{analytics}}.known_import_deadlines as by_service
        on by_service.container_id = journey.container_id
        and by_service.kind = 'pickup_lfd'
    cross join lateral (

        select
            'port' as place,
            journey.port_of_discharge_locode as place_locode,
            journey.port_of_discharge_name as place_name,
            journey.pod_terminal_id as terminal_id,
            case
                when journey.left_port_at is not null
                    then
                        case
                            when journey.left_port_at = journey.full_out_at then 'truck'
                            else 'rail'
                        end
                when journey.goes_by_rail then 'rail'
                else 'truck'
            end as mode,
            journey.port_zone as time_zone,
            journey.port_wall_zone as wall_zone,
            journey.is_port_zone_known as is_zone_known,
            journey.is_tracking_stopped and not journey.is_terminal_fresh as is_untold,
            not journey.goes_by_rail as is_last,
            journey.has_landed as has_begun,
            journey.has_left_port as has_ended,
            journey.vessel_arrived_at as arrived_at,
            journey.discharged_at as start_at,
            journey.left_port_at as end_at,
            by_terminal.local_date as terminal_on,
            by_line.local_date as line_on,
            null::date as rail_on,
            by_service.local_date as service_on,
            case
                when by_terminal.container_id is not null or by_line.container_id is not null
                    then least(by_terminal.local_date, by_line.local_date)
                when not journey.has_rail_day then by_service.local_date
            end as reported_on,
            by_terminal.container_id is null
            and by_line.container_id is null
            and not journey.has_rail_day as is_of_service,
            by_terminal.container_id is not null
            or by_line.container_id is not null
            or by_service.container_id is not null and not journey.has_rail_day as has_day,
            by_terminal.container_id is not null and by_terminal.local_date is null
            or by_line.container_id is not null and by_line.local_date is null as is_day_unread

        union all

        select
            'ramp' as place,
            journey.destination_locode as place_locode,
            journey.destination_name as place_name,
            coalesce(
                nullif(journey.pickup_facility_id, journey.pod_terminal_id),
                journey.destination_terminal_id
            ) as terminal_id,
            'truck' as mode,
            journey.ramp_zone as time_zone,
            journey.ramp_wall_zone as wall_zone,
            journey.is_ramp_zone_known as is_zone_known,
            journey.is_tracking_stopped as is_untold,
            true as is_last,
            journey.has_reached_ramp as has_begun,
            journey.is_delivered as has_ended,
            journey.ramp_arrived_at as arrived_at,
            journey.ramp_arrived_at as start_at,
            journey.ramp_out_at as end_at,
            null::date as terminal_on,
            null::date as line_on,
            journey.rail_on,
            null::date as service_on,
            journey.rail_on as reported_on,
            false as is_of_service,
            journey.has_rail_day as has_day,
            false as is_day_unread
        where journey.goes_by_rail

    ) as stay
    -- Converted in one place and not where they are compared, because converting an instant is
    -- expensive.
    left join lateral (

        select
            ({{analytics}}.as_of() at time zone stay.time_zone)::date as today_on,
            (stay.start_at at time zone stay.wall_zone)::date as started_on,
            (stay.arrived_at at time zone stay.wall_zone)::date as arrived_on,
            (stay.end_at at time zone stay.wall_zone)::date as out_on,
            (journey.returned_at at time zone journey.return_wall_zone)::date as returned_on

    ) as calendar
        on true

)

select
    stay.container_id,
    stay.shipment_id,
    stay.pod_terminal_id,
    stay.container_number,
    stay.bill_of_lading_number,
    stay.shipping_line_scac,
    coalesce(pod_terminal.nickname, pod_terminal.name) as pod_terminal,
    stay.place,
    stay.place_locode,
    stay.place_name,
    stay.terminal_id,
    coalesce(facility.nickname, facility.name, ramp.nickname, ramp.name) as terminal_name,
    facility.city as terminal_city,
    stay.pickup_facility_id,
    stay.equipment_type,
    stay.equipment_length,
    stay.current_status,
    customer.customer_name,
    customer.container_ref_numbers,
    customer.shipment_ref_numbers,
    customer.ref_numbers_text,
    customer.tags,
    customer.tags_text,
    customer.custom_fields,
    standing.state,
    stay.mode,
    case
        when standing.binding_on = stay.terminal_on then 'terminal'
        when standing.binding_on = stay.line_on then 'line'
        when standing.binding_on = stay.rail_on then 'rail'
        when standing.binding_on = stay.reported_on then 'service'
        when standing.binding_on is not null then 'rule'
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
    stay.arrived_at,
    stay.start_at,
    stay.end_at,
    stay.pod_discharged_at,
    stay.pickup_appointment_at
from stays as stay
left join {{data}}.terminals as pod_terminal
    on pod_terminal.terminal_id = stay.pod_terminal_id
left join {{data}}.terminals as facility
    on facility.terminal_id = stay.terminal_id
left join {{data}}.rail_terminals as ramp
    on ramp.rail_terminal_id = stay.terminal_id
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
            stay.place as of_place,
            array[
                stay.terminal_id,
                facility.firms_code,
                facility.nickname,
                facility.name,
                ramp.firms_code,
                ramp.nickname,
                ramp.name
            ] as of_terminal,
            stay.shipping_line_scac as of_line,
            stay.place_locode as of_locode,
            stay.equipment_type as of_equipment_type,
            stay.equipment_length as of_equipment_length,
            stay.started_on,
            stay.arrived_on,
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
            end as last_free_on

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
    on true
left join {{analytics}}.container_customers as customer
    on customer.container_id = stay.container_id;

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
comment on column {{analytics}}.container_stays.pickup_facility_id is
    'Where the service says it is picked up; terminals.';
comment on column {{analytics}}.container_stays.equipment_type is
    'dry, reefer, open top, flat rack, bulk, tank, hard top; other values are kept.';
comment on column {{analytics}}.container_stays.equipment_length is
    'Length in feet.';
comment on column {{analytics}}.container_stays.current_status is
    'Status of the container, in the service''s words.';
comment on column {{analytics}}.container_stays.customer_name is
    'Customer of the shipment.';
comment on column {{analytics}}.container_stays.container_ref_numbers is
    'The customer''s reference numbers of the container.';
comment on column {{analytics}}.container_stays.shipment_ref_numbers is
    'The customer''s reference numbers of the shipment.';
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
