-- Stays at the port and at the ramp, and the day that binds each
--
-- One row per container and stay, as known at as_of(): every live container has its stay at the
-- port of discharge; one that goes inland by rail has a second one at the inland ramp.
--
-- The port stay runs from discharge to the earlier of full gate-out and rail departure; the ramp
-- stay from the earlier of arrival and unloading there to the full gate-out there. An instant after
-- as_of() has not happened. A ramp start before the departure from the port contradicts it and is
-- left out, so the two stays never overlap. A later milestone, or a status, can say that a stay
-- began or ended without saying when: has_begun, has_ended, with is_start_reported or
-- is_end_reported false. A status counts only where the milestone itself is absent.
-- By rail goes a container that left by train or was reported at the ramp; and, unless it was
-- picked up at the port, one that was loaded on a train or has a rail carrier, an ETA or a last
-- free day at the ramp, or the status on_rail or awaiting_inland_transfer.
--
-- terminal_on and line_on are days at the port and bind the port stay; rail_on binds the ramp stay.
-- service_on is the service's own pick for the port: it binds only if all other sources lack a day.
-- binding_on is the earliest of the days of the stay. Of equal days the terminal's is named,
-- because its gate charges.
-- The ramp's terminal is where the service says it is picked up, else the terminal of the
-- destination, which can be a rail terminal.
-- time_zone is that of the place: as sent, else that of the port or ramp itself (its port or metro
-- area), and then is_zone_known is false. A name that PostgreSQL does not know is not replaced.
-- Without a usable zone nobody knows which day it is there: days are never counted in UTC.
-- A last free day is the day of container_import_deadlines, whose zone is that of the deadline: one
-- that was sent as a bare date, or without a zone as wall time marked as UTC, needs none.
--
-- state, in this order:
--   out_in_time, out_late   it left, up to and on the binding day, or after it
--   unknown                 it left at an unknown time, the service no longer tracks it
--                           (tracking_stopped_reason), or a day or a zone cannot be read
--   not_started             still on the ship, or on its way to the ramp
--   none                    no source says a last free day
--   upcoming, due_today, overdue
-- days_left counts calendar days at the place to the binding day, and only while the container is
-- there; days_over counts the days past it: the day after it is day 1, the day of going out counts.
-- Both are null in an unknown state.
--
-- mode: truck or rail, as it left or is expected to leave.
-- is_available: at the port the word of the terminal, at the ramp whether current_status is
-- available; null if it is not reported, and outside of the stay. Every hold of the place blocks
-- except `pending`. Holds that the port's terminal still lists when the container is at the ramp do
-- not block there: they are in other_holds.
--
-- Cost: both stays are made from one reading of the container; holds are read only when asked for,
-- container by container.
-- Narrow it by pod_terminal_id, shipping_line_scac or pod_discharged_at, which are read before the
-- stays are made; start_at and binding_on are made first.

create view {{analytics}}.container_stays as
with

facts as (

    select
        container.container_id,
        container.shipment_id,
        container.pod_terminal_id,
        container.pickup_facility_id,
        container.number as container_number,
        container.equipment_type,
        container.equipment_length,
        container.current_status,
        case when container.availability_known is not false then container.available_for_pickup end
            as available_for_pickup,
        container.pickup_appointment_at,
        container.pod_discharged_at,
        shipment.bill_of_lading_number,
        shipment.shipping_line_scac,
        shipment.port_of_discharge_locode,
        shipment.port_of_discharge_name,
        shipment.destination_locode,
        shipment.destination_name,
        shipment.destination_terminal_id,
        shipment.line_tracking_stopped_reason as tracking_stopped_reason,
        coalesce(shipment.is_tracking_stopped, false) as is_tracking_stopped,
        container.pod_timezone is not null as is_port_zone_sent,
        container.final_destination_timezone is not null as is_ramp_zone_sent,
        port_zone.name as port_clock,
        ramp_zone.name as ramp_clock,
        milestone.vessel_arrived_at,
        milestone.discharged_at,
        milestone.left_port_at,
        milestone.full_out_at,
        milestone.rail_departed_at,
        case
            when milestone.arrived_at >= coalesce(milestone.left_port_at, '-infinity')
                then milestone.arrived_at
        end as arrived_at,
        milestone.ramp_out_at,
        milestone.rail_loaded_at is not null as is_rail_loaded,
        milestone.arrived_at is not null as is_at_ramp,
        -- Never null. The planner expects half of the rows where it meets coalesce, and next to
        -- none of a list of tests for null: it would loop over tables that it should hash.
        coalesce(
            milestone.ramp_out_at is not null
            or milestone.empty_at is not null
            or container.final_destination_full_out_at is null
            and container.pod_full_out_at is null
            and coalesce(
                container.current_status in ('picked_up', 'delivered', 'dropped', 'empty_returned'),
                false
            ),
            false
        ) as is_delivered,
        coalesce(
            milestone.ramp_out_at is not null
            or milestone.empty_at is not null
            or milestone.full_out_at is not null
            and container.pod_rail_departed_at is null
            and container.ind_ata_at is null
            and container.ind_rail_unloaded_at is null
            and container.final_destination_full_out_at is null,
            false
        ) as is_out,
        by_terminal.container_id is not null as has_terminal_day,
        by_line.container_id is not null as has_line_day,
        by_rail.container_id is not null as has_rail_day,
        by_service.container_id is not null as has_service_day,
        by_terminal.local_date as terminal_on,
        by_line.local_date as line_on,
        by_service.local_date as service_on,
        by_rail.local_date as rail_on,
        container.pod_rail_departed_at is not null
            or container.ind_ata_at is not null
            or container.ind_rail_unloaded_at is not null
            or container.final_destination_full_out_at is not null
            or milestone.full_out_at is null
            and (
                container.pod_rail_loaded_at is not null
                or container.pod_rail_carrier_scac is not null
                or container.ind_rail_carrier_scac is not null
                or container.ind_eta_at is not null
                or by_rail.container_id is not null
                or coalesce(
                    container.current_status in ('on_rail', 'awaiting_inland_transfer'), false
                )
            ) as is_rail
    from {{analytics}}.known_containers as container
    left join {{analytics}}.known_shipments as shipment
        on shipment.shipment_id = container.shipment_id
    left join {{analytics}}.known_import_deadlines as by_terminal
        on by_terminal.container_id = container.container_id
        and by_terminal.kind = 'pickup_lfd_terminal'
    left join {{analytics}}.known_import_deadlines as by_line
        on by_line.container_id = container.container_id
        and by_line.kind = 'pickup_lfd_line'
    left join {{analytics}}.known_import_deadlines as by_rail
        on by_rail.container_id = container.container_id
        and by_rail.kind = 'pickup_lfd_rail'
    left join {{analytics}}.known_import_deadlines as by_service
        on by_service.container_id = container.container_id
        and by_service.kind = 'pickup_lfd'
    -- The zones in which days at the port and at the ramp are counted.
    left join {{data}}.terminals as pod_terminal
        on pod_terminal.terminal_id = container.pod_terminal_id
    left join {{data}}.ports as terminal_port
        on terminal_port.port_id = pod_terminal.port_id
    left join {{data}}.ports as port
        on port.port_id = shipment.port_of_discharge_id
    left join {{data}}.ports as inland_port
        on inland_port.port_id = shipment.destination_id
    left join {{data}}.metro_areas as inland_city
        on inland_city.metro_area_id = shipment.destination_id
    left join {{data}}.rail_terminals as rail_terminal
        on rail_terminal.rail_terminal_id = shipment.destination_terminal_id
    left join {{data}}.ports as rail_port
        on rail_port.port_id = rail_terminal.port_id
    left join {{data}}.metro_areas as rail_city
        on rail_city.metro_area_id = rail_terminal.metro_area_id
    left join {{analytics}}.time_zones as port_zone
        on port_zone.name
            = coalesce(container.pod_timezone, terminal_port.time_zone, port.time_zone)
    left join {{analytics}}.time_zones as ramp_zone
        on ramp_zone.name = coalesce(
            container.final_destination_timezone,
            rail_port.time_zone,
            rail_city.time_zone,
            inland_port.time_zone,
            inland_city.time_zone
        )
    -- Milestones that have happened by now.
    cross join lateral (

        select
            case
                when container.pod_arrived_at <= {{analytics}}.as_of() then container.pod_arrived_at
            end as vessel_arrived_at,
            case
                when container.pod_discharged_at <= {{analytics}}.as_of()
                    then container.pod_discharged_at
            end as discharged_at,
            case
                when least(container.pod_full_out_at, container.pod_rail_departed_at)
                    <= {{analytics}}.as_of()
                    then least(container.pod_full_out_at, container.pod_rail_departed_at)
            end as left_port_at,
            case
                when container.pod_full_out_at <= {{analytics}}.as_of()
                    then container.pod_full_out_at
            end as full_out_at,
            case
                when container.pod_rail_loaded_at <= {{analytics}}.as_of()
                    then container.pod_rail_loaded_at
            end as rail_loaded_at,
            case
                when container.pod_rail_departed_at <= {{analytics}}.as_of()
                    then container.pod_rail_departed_at
            end as rail_departed_at,
            case
                when least(container.ind_ata_at, container.ind_rail_unloaded_at)
                    <= {{analytics}}.as_of()
                    then least(container.ind_ata_at, container.ind_rail_unloaded_at)
            end as arrived_at,
            case
                when container.final_destination_full_out_at <= {{analytics}}.as_of()
                    then container.final_destination_full_out_at
            end as ramp_out_at,
            case
                when container.empty_terminated_at <= {{analytics}}.as_of()
                    then container.empty_terminated_at
            end as empty_at

    ) as milestone

),

stays as (

    select
        fact.container_id,
        fact.shipment_id,
        fact.pod_terminal_id,
        fact.pickup_facility_id,
        fact.container_number,
        fact.equipment_type,
        fact.equipment_length,
        fact.current_status,
        fact.available_for_pickup,
        fact.pickup_appointment_at,
        fact.bill_of_lading_number,
        fact.shipping_line_scac,
        fact.tracking_stopped_reason,
        fact.pod_discharged_at,
        fact.is_tracking_stopped,
        fact.is_out,
        fact.service_on,
        stay.place,
        stay.place_locode,
        stay.place_name,
        stay.terminal_id,
        stay.mode,
        stay.clock,
        stay.is_zone_sent,
        stay.has_begun,
        stay.has_ended,
        stay.arrived_at,
        stay.start_at,
        stay.end_at,
        stay.terminal_on,
        stay.line_on,
        stay.rail_on,
        stay.has_day,
        stay.is_day_unread,
        stay.binding_on,
        calendar.today_on,
        calendar.out_on
    from facts as fact
    cross join lateral (

        select
            'port' as place,
            fact.port_of_discharge_locode as place_locode,
            fact.port_of_discharge_name as place_name,
            fact.pod_terminal_id as terminal_id,
            case
                when fact.left_port_at is not null
                    then case when fact.left_port_at = fact.full_out_at then 'truck' else 'rail' end
                when fact.is_rail then 'rail'
                else 'truck'
            end as mode,
            fact.port_clock as clock,
            fact.is_port_zone_sent as is_zone_sent,
            coalesce(
                fact.discharged_at is not null
                or fact.left_port_at is not null
                or fact.is_rail_loaded
                or fact.is_at_ramp
                or fact.is_delivered
                or fact.current_status in (
                    'available',
                    'not_available',
                    'grounded',
                    'off_dock',
                    'awaiting_inland_transfer',
                    'on_rail'
                ),
                false
            ) as has_begun,
            coalesce(
                fact.left_port_at is not null
                or fact.is_at_ramp
                or fact.is_delivered
                or fact.is_rail and fact.current_status = 'on_rail',
                false
            ) as has_ended,
            fact.vessel_arrived_at as arrived_at,
            fact.discharged_at as start_at,
            fact.left_port_at as end_at,
            fact.terminal_on,
            fact.line_on,
            null::date as rail_on,
            fact.has_terminal_day
            or fact.has_line_day
            or fact.has_service_day and not fact.has_rail_day as has_day,
            fact.has_terminal_day and fact.terminal_on is null
            or fact.has_line_day and fact.line_on is null as is_day_unread,
            case
                when fact.has_terminal_day or fact.has_line_day
                    then least(fact.terminal_on, fact.line_on)
                when not fact.has_rail_day then fact.service_on
            end as binding_on

        union all

        select
            'ramp' as place,
            fact.destination_locode as place_locode,
            fact.destination_name as place_name,
            coalesce(
                nullif(fact.pickup_facility_id, fact.pod_terminal_id), fact.destination_terminal_id
            ) as terminal_id,
            'truck' as mode,
            fact.ramp_clock as clock,
            fact.is_ramp_zone_sent as is_zone_sent,
            fact.is_at_ramp or fact.is_delivered as has_begun,
            fact.is_delivered as has_ended,
            fact.arrived_at,
            fact.arrived_at as start_at,
            fact.ramp_out_at as end_at,
            null::date as terminal_on,
            null::date as line_on,
            fact.rail_on,
            fact.has_rail_day as has_day,
            false as is_day_unread,
            fact.rail_on as binding_on
        where fact.is_rail

    ) as stay
    -- Converted in one place and not where they are compared, because converting an instant is
    -- expensive.
    left join lateral (

        select
            ({{analytics}}.as_of() at time zone stay.clock)::date as today_on,
            (stay.end_at at time zone stay.clock)::date as out_on

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
        when stay.binding_on is null then null
        when stay.binding_on = stay.terminal_on then 'terminal'
        when stay.binding_on = stay.line_on then 'line'
        when stay.binding_on = stay.rail_on then 'rail'
        else 'service'
    end as binding_source,
    stay.clock as time_zone,
    stay.tracking_stopped_reason,
    case
        when standing.state in ('upcoming', 'due_today', 'overdue')
            then stay.binding_on - stay.today_on
    end as days_left,
    case
        when standing.state in ('overdue', 'out_late')
            then coalesce(stay.out_on, stay.today_on) - stay.binding_on
    end as days_over,
    case
        when not stay.has_begun or stay.has_ended then null
        when stay.place = 'port' then stay.available_for_pickup
        when stay.current_status = 'available' then true
        when stay.current_status in ('not_available', 'grounded') then false
    end as is_available,
    coalesce(hold.blocking, '{}') as blocking_holds,
    nullif(array_to_string(hold.blocking, ', '), '') as blocking_holds_text,
    coalesce(hold.others, '{}') as other_holds,
    nullif(array_to_string(hold.others, ', '), '') as other_holds_text,
    stay.is_tracking_stopped,
    stay.is_zone_sent and stay.clock is not null as is_zone_known,
    stay.is_out,
    stay.has_begun,
    stay.has_ended,
    stay.start_at is not null as is_start_reported,
    stay.end_at is not null as is_end_reported,
    stay.binding_on,
    stay.terminal_on,
    stay.line_on,
    stay.rail_on,
    case when stay.place = 'port' then stay.service_on end as service_on,
    stay.today_on,
    stay.out_on,
    stay.arrived_at,
    stay.start_at,
    stay.end_at,
    stay.pod_discharged_at,
    stay.pickup_appointment_at
from stays as stay
left join lateral (

    select
        case
            when stay.has_ended and not stay.has_day then 'none'
            when stay.is_day_unread and (stay.has_begun or stay.has_ended) then 'unknown'
            when stay.out_on > stay.binding_on then 'out_late'
            when stay.out_on <= stay.binding_on then 'out_in_time'
            when stay.has_ended or stay.is_tracking_stopped then 'unknown'
            when not stay.has_begun then 'not_started'
            when not stay.has_day then 'none'
            when stay.today_on < stay.binding_on then 'upcoming'
            when stay.today_on = stay.binding_on then 'due_today'
            when stay.today_on > stay.binding_on then 'overdue'
            else 'unknown'
        end as state

) as standing
    on true
-- Looked up for containers at the place only: if the planner expects few rows, it would gather the
-- holds of all containers again for each row.
left join lateral (

    select
        array_agg(coalesce(held.name, 'unnamed') order by held.name, held.hold_key)
            filter (where held.place = stay.place and held.status is distinct from 'pending')
            as blocking,
        array_agg(
            coalesce(held.name, 'unnamed') || coalesce(' (' || held.status || ')', '')
            order by held.name, held.hold_key
        ) filter (
            where stay.place = 'ramp' and held.place = 'port'
                or held.place = stay.place and held.status = 'pending'
        ) as others
    from {{analytics}}.known_holds as held
    where held.container_id = stay.container_id
        and stay.has_begun
        and not stay.has_ended

) as hold
    on true
left join {{data}}.terminals as pod_terminal
    on pod_terminal.terminal_id = stay.pod_terminal_id
left join {{data}}.terminals as facility
    on facility.terminal_id = stay.terminal_id
left join {{data}}.rail_terminals as ramp
    on ramp.rail_terminal_id = stay.terminal_id
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
    'Whose day binds: terminal, line, rail, or service where no source says one; null without '
    'a day.';
comment on column {{analytics}}.container_stays.time_zone is
    'IANA zone of the place, in which days are counted; null: not known.';
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
    'Names of the holds of the place that block, all but pending ones. Empty outside of the stay.';
comment on column {{analytics}}.container_stays.blocking_holds_text is
    'The same as one text.';
comment on column {{analytics}}.container_stays.other_holds is
    'Holds that do not block here, with their status.';
comment on column {{analytics}}.container_stays.other_holds_text is
    'The same as one text.';
comment on column {{analytics}}.container_stays.is_tracking_stopped is
    'Whether the service stopped asking the shipping line.';
comment on column {{analytics}}.container_stays.is_zone_known is
    'Whether the zone of the place was sent and PostgreSQL knows it; false with a time_zone: '
    'that of the port itself.';
comment on column {{analytics}}.container_stays.is_out is
    'Whether its last pickup or its return empty is reported: nothing of it is left to fetch.';
comment on column {{analytics}}.container_stays.has_begun is
    'Whether the stay has begun, reported or not.';
comment on column {{analytics}}.container_stays.has_ended is
    'Whether the stay is over, reported or not.';
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
comment on column {{analytics}}.container_stays.today_on is
    'Today, the day of as_of(), at the place; null where its zone is not known.';
comment on column {{analytics}}.container_stays.out_on is
    'Day it went out. Calendar day at the place; null while it is in, or nobody said when.';
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
