-- Containers, as in the service's own export
--
-- One row per container that is not tombstoned, as it is now: names, order and types of the columns
-- are those of the table `containers` of the service's own commercial export to warehouses, so that
-- reports made on it work after a change of the schema's name.
--
-- timestamp columns are UTC. Their `_local` twins are texts, wall time at the place; if the source
-- did not send a zone, its time is wall time marked as UTC, and the twin shows it unconverted; if
-- PostgreSQL does not know the zone, the twin is null. empty_out, full_in and pol_loaded are the
-- container's own milestones where the service sends them; else they, and always pod_berthed, come
-- from transport events that hold (invalidated_at is null): of several of a kind the last with its
-- zone, those with a zone before those without. pol_loaded counts at the port of lading and
-- pod_berthed at the port of discharge: one reported from another port does not, one without a
-- place does. Holds and fees are those at the terminal of the port of discharge.
-- Values of the shipment are null if it is tombstoned or was never seen.
-- Null replaces blank: the export leaves cells empty. customer_id is that of the latest tracking
-- request for the shipment that names a customer.
--
-- Transport events are looked up container by container, so filters on any column are applied
-- before they are read.

create view {{datasync}}.containers as
with

holds as (

    select
        container_id,
        case
            when bool_or(status = 'hold') filter (where lower(name) = 'freight') then 'Hold'
            when bool_or(status = 'pending') filter (where lower(name) = 'freight') then 'Pending'
        end as freight_hold,
        case
            when bool_or(status = 'hold') filter (where lower(name) = 'customs') then 'Hold'
            when bool_or(status = 'pending') filter (where lower(name) = 'customs') then 'Pending'
        end as customs_hold,
        case
            when bool_or(status = 'hold') filter (where lower(name) = 'usda') then 'Hold'
            when bool_or(status = 'pending') filter (where lower(name) = 'usda') then 'Pending'
        end as usda_hold,
        case
            when bool_or(status = 'hold') filter (where lower(name) = 'tmf') then 'Hold'
            when bool_or(status = 'pending') filter (where lower(name) = 'tmf') then 'Pending'
        end as tmf_hold,
        case
            when bool_or(status = 'hold') filter (
                where lower(name) in ('freight', 'customs', 'usda', 'tmf') is not true
            )
                then 'Hold'
            when bool_or(status = 'pending') filter (
                where lower(name) in ('freight', 'customs', 'usda', 'tmf') is not true
            )
                then 'Pending'
        end as other_hold
    from {{data}}.container_holds
    where place = 'port'
    group by container_id

),

demurrage_by_currency as (

    select container_id, currency_code, sum(amount) as amount
    from {{data}}.container_fees
    where type = 'demurrage'
        and place = 'port'
    group by container_id, currency_code

),

demurrage as (

    select
        container_id,
        case
            when count(*) = 1 then min(amount)::text
            else string_agg(concat_ws(' ', amount, currency_code), ', ' order by currency_code)
        end as amounts
    from demurrage_by_currency
    group by container_id

)

select
    containers.container_id,
    containers.number as container_number,
    containers.shipment_id,
    shipments.bill_of_lading_number as shipment_bill_of_lading_number,
    shipments.normalized_number as shipment_normalized_number,
    nullif(array_to_string(shipments.ref_numbers, ', '), '') as shipment_reference_numbers,
    nullif(array_to_string(containers.ref_numbers, ', '), '') as container_reference_numbers,
    -- Looked up only if there are any, because a look-up is expensive.
    case
        when cardinality(shipments.tags) > 0 then (
            select nullif(string_agg(tag, ', ' order by tag collate "C"), '')
            from unnest(shipments.tags) as tag
        )
    end as shipment_tags,
    request.customer_id,
    shipments.customer_name,
    shipments.shipping_line_scac,
    shipments.shipping_line_name,
    coalesce(pol_port.country_code, left(shipments.port_of_lading_locode, 2)) as pol_country_code,
    shipments.port_of_lading_locode as pol_locode,
    coalesce(pol_port.city, shipments.port_of_lading_name) as pol_city,
    shipments.pol_timezone,
    coalesce(
        pod_port.country_code,
        left(shipments.port_of_discharge_locode, 2)
    ) as pod_country_code,
    shipments.port_of_discharge_locode as pod_locode,
    coalesce(pod_port.city, shipments.port_of_discharge_name) as pod_city,
    containers.pod_timezone,
    pod_terminal.firms_code as pod_terminal_firms_code,
    pod_terminal.nickname as pod_terminal_nickname,
    pod_terminal.name as pod_terminal_name,
    coalesce(
        ind_port.country_code,
        ind_metro_area.country_code,
        left(shipments.destination_locode, 2)
    ) as ind_country_code,
    shipments.destination_locode as ind_locode,
    coalesce(ind_port.city, ind_metro_area.name, shipments.destination_name) as ind_city,
    coalesce(containers.final_destination_timezone, shipments.destination_timezone) as ind_timezone,
    coalesce(ind_terminal.firms_code, ind_rail_terminal.firms_code) as ind_terminal_firms_code,
    coalesce(ind_terminal.nickname, ind_rail_terminal.nickname) as ind_terminal_nickname,
    coalesce(ind_terminal.name, ind_rail_terminal.name) as ind_terminal_name,
    departure.empty_out_at at time zone 'UTC' as empty_out_at,
    to_char(
        departure.empty_out_at at time zone coalesce(
            empty_out.name,
            case when departure.empty_out_zone is null then 'UTC' end
        ),
        'YYYY-MM-DD HH24:MI:SS'
    ) as empty_out_at_local,
    departure.full_in_at at time zone 'UTC' as full_in_at,
    to_char(
        departure.full_in_at at time zone coalesce(
            full_in.name,
            case when departure.full_in_zone is null then 'UTC' end
        ),
        'YYYY-MM-DD HH24:MI:SS'
    ) as full_in_at_local,
    departure.pol_loaded_at at time zone 'UTC' as pol_loaded_at,
    to_char(
        departure.pol_loaded_at at time zone coalesce(
            pol_loaded.name,
            case when departure.pol_loaded_zone is null then 'UTC' end
        ),
        'YYYY-MM-DD HH24:MI:SS'
    ) as pol_loaded_at_local,
    shipments.pol_etd_at at time zone 'UTC' as pol_etd_at,
    to_char(
        shipments.pol_etd_at at time zone coalesce(
            pol.name,
            case when shipments.pol_timezone is null then 'UTC' end
        ),
        'YYYY-MM-DD HH24:MI:SS'
    ) as pol_etd_at_local,
    departure.pol_atd_at at time zone 'UTC' as pol_atd_at,
    to_char(
        departure.pol_atd_at at time zone coalesce(
            pol.name,
            case when shipments.pol_timezone is null then 'UTC' end
        ),
        'YYYY-MM-DD HH24:MI:SS'
    ) as pol_atd_at_local,
    shipments.pod_eta_at at time zone 'UTC' as pod_eta_at,
    to_char(
        shipments.pod_eta_at at time zone coalesce(
            pod_eta.name,
            case when shipments.pod_timezone is null then 'UTC' end
        ),
        'YYYY-MM-DD HH24:MI:SS'
    ) as pod_eta_at_local,
    containers.pod_arrived_at at time zone 'UTC' as pod_arrived_at,
    to_char(
        containers.pod_arrived_at at time zone coalesce(
            pod.name,
            case when containers.pod_timezone is null then 'UTC' end
        ),
        'YYYY-MM-DD HH24:MI:SS'
    ) as pod_arrived_at_local,
    milestones.pod_berthed_at at time zone 'UTC' as pod_berthed_at,
    to_char(
        milestones.pod_berthed_at at time zone coalesce(
            pod_berthed.name,
            case when milestones.pod_berthed_zone is null then 'UTC' end
        ),
        'YYYY-MM-DD HH24:MI:SS'
    ) as pod_berthed_at_local,
    containers.pod_discharged_at at time zone 'UTC' as pod_discharged_at,
    to_char(
        containers.pod_discharged_at at time zone coalesce(
            pod.name,
            case when containers.pod_timezone is null then 'UTC' end
        ),
        'YYYY-MM-DD HH24:MI:SS'
    ) as pod_discharged_at_local,
    containers.pickup_lfd at time zone 'UTC' as pod_last_free_day_on,
    coalesce(
        to_char(
            containers.pickup_lfd at time zone coalesce(
                lfd.name,
                case when last_free_day.time_zone is null then 'UTC' end
            ),
            'YYYY-MM-DD HH24:MI:SS'
        ),
        to_char(last_free_day.local_date, 'YYYY-MM-DD HH24:MI:SS')
    ) as pod_last_free_day_on_local,
    coalesce(
        containers.pickup_lfd_line,
        containers.ssl_lfd
    ) at time zone 'UTC' as ssl_last_free_day_on,
    coalesce(
        to_char(
            coalesce(containers.pickup_lfd_line, containers.ssl_lfd) at time zone coalesce(
                pod.name,
                case when containers.pod_timezone is null then 'UTC' end
            ),
            'YYYY-MM-DD HH24:MI:SS'
        ),
        to_char(line_last_free_day.local_date, 'YYYY-MM-DD HH24:MI:SS')
    ) as ssl_last_free_day_on_local,
    containers.pickup_appointment_at at time zone 'UTC' as pod_pickup_appointment_at,
    to_char(
        containers.pickup_appointment_at at time zone coalesce(
            pod.name,
            case when containers.pod_timezone is null then 'UTC' end
        ),
        'YYYY-MM-DD HH24:MI:SS'
    ) as pod_pickup_appointment_at_local,
    containers.pod_full_out_at at time zone 'UTC' as pod_full_out_at,
    to_char(
        containers.pod_full_out_at at time zone coalesce(
            pod.name,
            case when containers.pod_timezone is null then 'UTC' end
        ),
        'YYYY-MM-DD HH24:MI:SS'
    ) as pod_full_out_at_local,
    containers.pod_rail_carrier_scac,
    containers.pod_rail_loaded_at at time zone 'UTC' as pod_rail_loaded_at,
    to_char(
        containers.pod_rail_loaded_at at time zone coalesce(
            pod.name,
            case when containers.pod_timezone is null then 'UTC' end
        ),
        'YYYY-MM-DD HH24:MI:SS'
    ) as pod_rail_loaded_at_local,
    containers.pod_rail_departed_at at time zone 'UTC' as pod_rail_departed_at,
    to_char(
        containers.pod_rail_departed_at at time zone coalesce(
            pod.name,
            case when containers.pod_timezone is null then 'UTC' end
        ),
        'YYYY-MM-DD HH24:MI:SS'
    ) as pod_rail_departed_at_local,
    containers.ind_rail_carrier_scac,
    containers.ind_eta_at at time zone 'UTC' as ind_eta_at,
    to_char(
        containers.ind_eta_at at time zone coalesce(
            ind.name,
            case when containers.final_destination_timezone is null then 'UTC' end
        ),
        'YYYY-MM-DD HH24:MI:SS'
    ) as ind_eta_at_local,
    containers.ind_ata_at at time zone 'UTC' as ind_arrived_at,
    to_char(
        containers.ind_ata_at at time zone coalesce(
            ind.name,
            case when containers.final_destination_timezone is null then 'UTC' end
        ),
        'YYYY-MM-DD HH24:MI:SS'
    ) as ind_arrived_at_local,
    containers.ind_rail_unloaded_at at time zone 'UTC' as ind_rail_unloaded_at,
    to_char(
        containers.ind_rail_unloaded_at at time zone coalesce(
            ind.name,
            case when containers.final_destination_timezone is null then 'UTC' end
        ),
        'YYYY-MM-DD HH24:MI:SS'
    ) as ind_rail_unloaded_at_local,
    coalesce(
        containers.pickup_lfd_rail,
        containers.ind_facility_lfd_on
    ) at time zone 'UTC' as ind_last_free_day_on,
    coalesce(
        to_char(
            coalesce(
                containers.pickup_lfd_rail,
                containers.ind_facility_lfd_on
            ) at time zone coalesce(
                ind.name,
                case when containers.final_destination_timezone is null then 'UTC' end
            ),
            'YYYY-MM-DD HH24:MI:SS'
        ),
        to_char(rail_last_free_day.local_date, 'YYYY-MM-DD HH24:MI:SS')
    ) as ind_last_free_day_on_local,
    containers.final_destination_full_out_at at time zone 'UTC' as ind_full_out_at,
    to_char(
        containers.final_destination_full_out_at at time zone coalesce(
            ind.name,
            case when containers.final_destination_timezone is null then 'UTC' end
        ),
        'YYYY-MM-DD HH24:MI:SS'
    ) as ind_full_out_at_local,
    containers.empty_terminated_at at time zone 'UTC' as empty_terminated_at,
    to_char(
        containers.empty_terminated_at at time zone coalesce(
            empty_return.name,
            case
                when coalesce(containers.empty_terminated_timezone, containers.pod_timezone) is null
                    then 'UTC'
            end
        ),
        'YYYY-MM-DD HH24:MI:SS'
    ) as empty_terminated_at_local,
    containers.fees_at_pod_terminal::text as fees_at_pod_terminal,
    demurrage.amounts as demurrage_at_pod_terminal,
    containers.holds_at_pod_terminal::text as holds_at_pod_terminal,
    holds.freight_hold as freight_hold_at_pod_terminal,
    holds.customs_hold as customs_hold_at_pod_terminal,
    holds.usda_hold as usda_hold_at_pod_terminal,
    holds.tmf_hold as tmf_hold_at_pod_terminal,
    holds.other_hold as other_hold_at_pod_terminal,
    containers.location_at_pod_terminal,
    case
        when containers.availability_known then 'Yes'
        when not containers.availability_known then 'No'
    end as availability_known,
    case
        when not containers.availability_known then null
        when containers.available_for_pickup then 'Yes'
        when not containers.available_for_pickup then 'No'
    end as available_for_pickup,
    containers.equipment_length,
    coalesce(initcap(containers.equipment_type), 'unknown') as equipment_type,
    coalesce(
        initcap(replace(containers.equipment_height, '_', ' ')),
        'unknown'
    ) as equipment_height,
    nullif(concat_ws(
        ' ',
        containers.equipment_length,
        initcap(containers.equipment_type),
        initcap(replace(containers.equipment_height, '_', ' '))
    ), '') as equipment,
    case
        when abs(containers.weight_in_lbs) < 2147483647
            then round(containers.weight_in_lbs)::integer
    end as weight_in_lbs,
    containers.seal_number,
    containers.pod_full_out_chassis_number,
    shipments.pod_voyage_number,
    shipments.pod_vessel_name,
    shipments.pod_vessel_imo,
    containers.terminal_checked_at at time zone 'UTC' as terminal_checked_at,
    shipments.line_tracking_last_succeeded_at at time zone 'UTC' as line_tracking_last_succeeded_at,
    shipments.line_tracking_stopped_at at time zone 'UTC' as line_tracking_stopped_at,
    shipments.line_tracking_stopped_reason,
    containers.created_at at time zone 'UTC' as created_at,
    containers._changed_at at time zone 'UTC' as updated_at
from {{data}}.containers
left join {{data}}.shipments
    on shipments.shipment_id = containers.shipment_id
    and shipments._deleted_at is null
left join lateral (

    select
        coalesce(
            max(events.timestamp) filter (
                where events.event = 'container.transport.empty_out' and events.timezone is not null
            ),
            max(events.timestamp) filter (where events.event = 'container.transport.empty_out')
        ) as empty_out_at,
        (
            array_agg(events.timezone order by events.timestamp desc, events.timezone)
                filter (
                    where events.event = 'container.transport.empty_out'
                        and events.timezone is not null
                        and events.timestamp = coalesce(containers.empty_out_at, events.timestamp)
                )
        )[1] as empty_out_zone,
        coalesce(
            max(events.timestamp) filter (
                where events.event = 'container.transport.full_in' and events.timezone is not null
            ),
            max(events.timestamp) filter (where events.event = 'container.transport.full_in')
        ) as full_in_at,
        (
            array_agg(events.timezone order by events.timestamp desc, events.timezone)
                filter (
                    where events.event = 'container.transport.full_in'
                        and events.timezone is not null
                        and events.timestamp = coalesce(containers.pol_full_in_at, events.timestamp)
                )
        )[1] as full_in_zone,
        coalesce(
            max(events.timestamp) filter (
                where events.event = 'container.transport.vessel_loaded'
                    and events.timezone is not null
            ),
            max(events.timestamp) filter (where events.event = 'container.transport.vessel_loaded')
        ) as pol_loaded_at,
        (
            array_agg(events.timezone order by events.timestamp desc, events.timezone)
                filter (
                    where events.event = 'container.transport.vessel_loaded'
                        and events.timezone is not null
                        and events.timestamp
                        = coalesce(containers.pol_vessel_loaded_at, events.timestamp)
                )
        )[1] as pol_loaded_zone,
        coalesce(
            max(events.timestamp) filter (
                where events.event = 'container.transport.vessel_berthed'
                    and events.timezone is not null
            ),
            max(events.timestamp) filter (where events.event = 'container.transport.vessel_berthed')
        ) as pod_berthed_at,
        (
            array_agg(events.timezone order by events.timestamp desc, events.timezone)
                filter (
                    where events.event = 'container.transport.vessel_berthed'
                        and events.timezone is not null
                )
        )[1] as pod_berthed_zone
    from {{data}}.transport_events as events
    where events.container_id = containers.container_id
        and events.event in (
            'container.transport.empty_out',
            'container.transport.full_in',
            'container.transport.vessel_loaded',
            'container.transport.vessel_berthed'
        )
        and events.timestamp is not null
        and events._deleted_at is null
        and events.invalidated_at is null
        and not coalesce(
            events.event = 'container.transport.vessel_loaded'
            and events.location_locode <> shipments.port_of_lading_locode,
            false
        )
        and not coalesce(
            events.event = 'container.transport.vessel_berthed'
            and events.location_locode <> shipments.port_of_discharge_locode,
            false
        )

) as milestones
    on true
-- The container's own come before those of transport events, with the zone of the port of lading
-- where no transport event of the same instant says another.
cross join lateral (

    select
        coalesce(containers.empty_out_at, milestones.empty_out_at) as empty_out_at,
        coalesce(
            milestones.empty_out_zone,
            case when containers.empty_out_at is not null then shipments.pol_timezone end
        ) as empty_out_zone,
        coalesce(containers.pol_full_in_at, milestones.full_in_at) as full_in_at,
        coalesce(
            milestones.full_in_zone,
            case when containers.pol_full_in_at is not null then shipments.pol_timezone end
        ) as full_in_zone,
        coalesce(containers.pol_vessel_loaded_at, milestones.pol_loaded_at) as pol_loaded_at,
        coalesce(
            milestones.pol_loaded_zone,
            case when containers.pol_vessel_loaded_at is not null then shipments.pol_timezone end
        ) as pol_loaded_zone,
        coalesce(shipments.pol_atd_at, containers.pol_vessel_departed_at) as pol_atd_at

) as departure
left join lateral (

    select asking.customer_id
    from {{data}}.tracking_requests as asking
    where asking.tracked_object_id = shipments.shipment_id
        and asking.customer_id is not null
        and asking._deleted_at is null
    order by asking.created_at desc nulls last, asking.tracking_request_id
    limit 1

) as request
    on true
left join {{data}}.ports as pol_port
    on pol_port.port_id = shipments.port_of_lading_id
left join {{data}}.ports as pod_port
    on pod_port.port_id = shipments.port_of_discharge_id
left join {{data}}.ports as ind_port
    on ind_port.port_id = shipments.destination_id
    and shipments.destination_type = 'port'
left join {{data}}.metro_areas as ind_metro_area
    on ind_metro_area.metro_area_id = shipments.destination_id
    and shipments.destination_type = 'metro_area'
left join {{data}}.terminals as pod_terminal
    on pod_terminal.terminal_id = containers.pod_terminal_id
left join {{data}}.terminals as ind_terminal
    on ind_terminal.terminal_id = shipments.destination_terminal_id
    and shipments.destination_terminal_type = 'terminal'
left join {{data}}.rail_terminals as ind_rail_terminal
    on ind_rail_terminal.rail_terminal_id = shipments.destination_terminal_id
    and shipments.destination_terminal_type = 'rail_terminal'
left join {{data}}.container_import_deadlines as last_free_day
    on last_free_day.container_id = containers.container_id
    and last_free_day.kind = 'pickup_lfd'
left join {{data}}.container_import_deadlines as line_last_free_day
    on line_last_free_day.container_id = containers.container_id
    and line_last_free_day.kind = 'pickup_lfd_line'
left join {{data}}.container_import_deadlines as rail_last_free_day
    on rail_last_free_day.container_id = containers.container_id
    and rail_last_free_day.kind = 'pickup_lfd_rail'
left join holds
    on holds.container_id = containers.container_id
left join demurrage
    on demurrage.container_id = containers.container_id
left join {{analytics}}.time_zones as empty_out
    on empty_out.name = departure.empty_out_zone
left join {{analytics}}.time_zones as full_in
    on full_in.name = departure.full_in_zone
left join {{analytics}}.time_zones as pol_loaded
    on pol_loaded.name = departure.pol_loaded_zone
left join {{analytics}}.time_zones as pol
    on pol.name = shipments.pol_timezone
left join {{analytics}}.time_zones as pod_eta
    on pod_eta.name = shipments.pod_timezone
left join {{analytics}}.time_zones as pod
    on pod.name = containers.pod_timezone
left join {{analytics}}.time_zones as pod_berthed
    on pod_berthed.name = milestones.pod_berthed_zone
left join {{analytics}}.time_zones as ind
    on ind.name = containers.final_destination_timezone
left join {{analytics}}.time_zones as empty_return
    on empty_return.name = coalesce(containers.empty_terminated_timezone, containers.pod_timezone)
left join {{analytics}}.time_zones as lfd
    on lfd.name = last_free_day.time_zone
where containers._deleted_at is null;
