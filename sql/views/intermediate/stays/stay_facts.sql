-- Stays of each container, and all that is known of them before a last free day binds
--
-- One row per container and stay, as known at as_of(): every live container has its stay at the
-- port of discharge; one that goes inland by rail has a second one at the inland ramp. See
-- journey_facts for its milestones, its way by truck or rail, and the zones. The base of
-- container_stays and charge_clocks, with every fact by which a rule of free time is chosen.
--
-- The port stay runs from discharge to the earlier of full gate-out and rail departure; the ramp
-- stay from the earlier of arrival and unloading there to the full gate-out there; the two never
-- overlap. A later milestone, or a status, can say that a stay began or ended without saying when.
-- The ramp's terminal is where the service says it is picked up, else the terminal of the
-- destination, which can be a rail terminal. terminal_names: every name of the stay's terminal.
-- A last free day is the day of container_import_deadlines, whose zone is that of the deadline: one
-- that was sent as a bare date, or without a zone as wall time marked as UTC, needs none. A day
-- that was withdrawn after the container had left still counts, as it was said then.
-- The day of an instant is that of wall_zone of the place, today that of time_zone (see
-- journey_facts). departed_on: the vessel left the port of lading. berthed_on and available_on are
-- read from transport events: the last berthing at the port of discharge, and the first time during
-- the stay that it was said to be available. They are looked up only where a rule starts with them.
-- is_merged: the demurrage rule of the line, at the port or at the ramp, is one clock until the
-- empty is back (until of charge_clocks).

create view {{parts}}.stay_facts as
-- Planned by itself, see known_milestones.
with apart as (select)
select
    journey.container_id,
    journey.shipment_id,
    journey.pod_terminal_id,
    journey.pickup_facility_id,
    journey.container_number,
    journey.equipment_type,
    journey.equipment_length,
    journey.equipment_height,
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
    journey.has_reached_ramp,
    stay.place,
    stay.place_locode,
    stay.place_name,
    stay.terminal_id,
    coalesce(pod_terminal.nickname, pod_terminal.name) as pod_terminal,
    coalesce(facility.nickname, facility.name, ramp.nickname, ramp.name) as terminal_name,
    facility.city as terminal_city,
    array_remove(
        array[
            stay.terminal_id,
            facility.firms_code,
            facility.nickname,
            facility.name,
            ramp.firms_code,
            ramp.nickname,
            ramp.name
        ],
        null
    ) as terminal_names,
    customer.customer_name,
    customer.container_ref_numbers,
    customer.shipment_ref_numbers,
    customer.container_ref_numbers || customer.shipment_ref_numbers as ref_numbers,
    customer.ref_numbers_text,
    customer.tags,
    customer.tags_text,
    customer.custom_fields,
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
    calendar.picked_up_on,
    calendar.returned_on,
    calendar.departed_on,
    case stay.place when 'port' then port.berthed_on else calendar.started_on end as berthed_on,
    case stay.place
        when 'port' then port.available_on
        else (told.ramp_available_at at time zone stay.wall_zone)::date
    end as available_on,
    coalesce(merged.is_from_port, false) as is_merged_from_port,
    coalesce(merged.is_merged, false) as is_merged
from {{parts}}.journey_facts as journey
left join {{parts}}.known_import_deadlines as by_terminal
    on by_terminal.container_id = journey.container_id
    and by_terminal.kind = 'pickup_lfd_terminal'
left join {{parts}}.known_import_deadlines as by_line
    on by_line.container_id = journey.container_id
    and by_line.kind = 'pickup_lfd_line'
left join {{parts}}.known_import_deadlines as by_service
    on by_service.container_id = journey.container_id
    and by_service.kind = 'pickup_lfd'
-- The days that were said when it left, and withdrawn since; at most one of each kind.
left join lateral (

    select
        min(gone.local_date) filter (where gone.kind = 'pickup_lfd_terminal') as terminal_on,
        min(gone.local_date) filter (where gone.kind = 'pickup_lfd_line') as line_on,
        min(gone.local_date) filter (where gone.kind = 'pickup_lfd_rail') as rail_on
    from {{data}}.container_import_deadline_history as gone
    where gone.container_id = journey.container_id
        and case gone.kind
            when 'pickup_lfd_terminal'
                then by_terminal.container_id is null
                    and gone.valid_from <= journey.left_port_at
                    and gone.valid_to > journey.left_port_at
            when 'pickup_lfd_line'
                then by_line.container_id is null
                    and gone.valid_from <= journey.left_port_at
                    and gone.valid_to > journey.left_port_at
            when 'pickup_lfd_rail'
                then not journey.has_rail_day
                    and gone.valid_from <= journey.ramp_out_at
                    and gone.valid_to > journey.ramp_out_at
        end
        and gone.valid_to <= {{analytics}}.as_of()
        and coalesce(journey.left_port_at, journey.ramp_out_at) is not null

) as withdrawn
    on true
cross join lateral (

    select
        coalesce(by_terminal.local_date, withdrawn.terminal_on) as terminal_on,
        coalesce(by_line.local_date, withdrawn.line_on) as line_on,
        coalesce(journey.rail_on, withdrawn.rail_on) as rail_on,
        by_terminal.container_id is not null or withdrawn.terminal_on is not null as has_terminal,
        by_line.container_id is not null or withdrawn.line_on is not null as has_line,
        journey.has_rail_day or withdrawn.rail_on is not null as has_rail

) as said
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
        said.terminal_on,
        said.line_on,
        null::date as rail_on,
        by_service.local_date as service_on,
        case
            when said.has_terminal or said.has_line then least(said.terminal_on, said.line_on)
            when not said.has_rail then by_service.local_date
        end as reported_on,
        not said.has_terminal and not said.has_line and not said.has_rail as is_of_service,
        said.has_terminal
        or said.has_line
        or by_service.container_id is not null and not said.has_rail as has_day,
        said.has_terminal and said.terminal_on is null
        or said.has_line and said.line_on is null as is_day_unread

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
        said.rail_on,
        null::date as service_on,
        said.rail_on as reported_on,
        false as is_of_service,
        said.has_rail as has_day,
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
        (journey.picked_up_at at time zone journey.pickup_wall_zone)::date as picked_up_on,
        (journey.returned_at at time zone journey.return_wall_zone)::date as returned_on,
        (journey.departed_at at time zone journey.lading_wall_zone)::date as departed_on

) as calendar
    on true
left join lateral (

    select
        max(event.timestamp) filter (
            where event.event = 'container.transport.vessel_berthed'
                and coalesce(event.location_locode = journey.port_of_discharge_locode, true)
        ) as berthed_at,
        min(event.timestamp) filter (
            where event.event = 'container.transport.available'
                and event.timestamp >= journey.discharged_at
                and event.timestamp <= coalesce(journey.left_port_at, 'infinity')
        ) as port_available_at,
        min(event.timestamp) filter (
            where event.event = 'container.transport.available'
                and event.timestamp >= journey.ramp_arrived_at
        ) as ramp_available_at
    from {{parts}}.known_transport_events as event
    where event.container_id = journey.container_id
        and event.event
            in ('container.transport.vessel_berthed', 'container.transport.available')
        and event.timestamp <= {{analytics}}.as_of()
        and event.is_estimated is not true
        and exists (
            select
            from {{analytics}}.free_time_rules as rule
            where rule.starts_with in ('berth', 'available')
        )

) as told
    on true
left join lateral (

    select
        (journey.discharged_at at time zone journey.port_wall_zone)::date as started_on,
        (journey.vessel_arrived_at at time zone journey.port_wall_zone)::date as arrived_on,
        (told.berthed_at at time zone journey.port_wall_zone)::date as berthed_on,
        (told.port_available_at at time zone journey.port_wall_zone)::date as available_on

) as port
    on true
left join {{data}}.terminals as pod_terminal
    on pod_terminal.terminal_id = journey.pod_terminal_id
left join {{data}}.terminals as facility
    on facility.terminal_id = stay.terminal_id
left join {{data}}.rail_terminals as ramp
    on ramp.rail_terminal_id = stay.terminal_id
left join {{analytics}}.container_customers as customer
    on customer.container_id = journey.container_id
-- Whether the one clock of the line runs until the empty is back, by the demurrage rule of the port
-- or of the ramp. Looked up only where there is such a rule.
left join lateral (

    select
        true as is_merged,
        bool_or(asked.place = 'port') as is_from_port
    from (
        select
            'demurrage' as of_charge,
            null::date as reported_on,
            one.place,
            one.terminal_names,
            journey.shipping_line_scac,
            one.place_locode,
            journey.equipment_type,
            journey.equipment_length,
            journey.equipment_height,
            customer.customer_name,
            customer.container_ref_numbers || customer.shipment_ref_numbers as ref_numbers,
            customer.tags,
            calendar.departed_on,
            one.started_on,
            one.arrived_on,
            one.berthed_on,
            one.available_on
        from (
            values
                (
                    'port',
                    array[
                        journey.pod_terminal_id,
                        pod_terminal.firms_code,
                        pod_terminal.nickname,
                        pod_terminal.name
                    ],
                    journey.port_of_discharge_locode,
                    port.started_on,
                    port.arrived_on,
                    port.berthed_on,
                    port.available_on
                ),
                (
                    nullif(stay.place, 'port'),
                    array[
                        stay.terminal_id,
                        facility.firms_code,
                        facility.nickname,
                        facility.name,
                        ramp.firms_code,
                        ramp.nickname,
                        ramp.name
                    ],
                    stay.place_locode,
                    calendar.started_on,
                    calendar.started_on,
                    calendar.started_on,
                    (told.ramp_available_at at time zone stay.wall_zone)::date
                )
        ) as one (
            place, terminal_names, place_locode, started_on, arrived_on, berthed_on, available_on
        )
        where one.place is not null
            and exists (
                select
                from {{analytics}}.free_time_rules as merged
                where merged.until = 'empty_return'
                    and merged.charge = 'demurrage'
            )
        offset 0
    ) as asked
    cross join lateral (

        {{fragment rule_of}}

    ) as line_rule
    where line_rule.until = 'empty_return'
    having count(*) > 0

) as merged
    on true;
