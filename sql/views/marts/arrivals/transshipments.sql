-- Where containers changed ships
--
-- One row per container and place at which it changed ships on the way to its port of discharge.
--
-- A place counts when the container has a transshipment event there, or when a feeder and another
-- ship met there: it came in by feeder (feeder_arrived or feeder_discharged) and went out by ship,
-- or came in by ship and went out by feeder (feeder_loaded or feeder_departed). The port a feeder
-- starts from, or ends at, is not a change of ships. Events of the main ship (vessel_*) at the
-- place fill the side of the change that the feeder did not.
-- Places are distinguished by UN/LOCODE; events that do not say where they were share one row
-- without a place, and only transshipment events make such a row. Estimated events are left out,
-- and those of an instant after as_of(), which have not happened. Of
-- several reports of one thing the earliest arrival and discharge and the latest loading and
-- departure count; a place called at twice is one row.
-- dwell_hours: from arrival, else discharge, to departure, else loading. Null while one side is
-- missing.
-- is_waiting: neither loaded nor departed, not yet arrived at the port of discharge, and not
-- reported at another place by a later event of a ship: then it left unreported. hours_so_far runs
-- to as_of().

create view {{analytics}}.transshipments as
with

-- …_clock: the zone in which a clock is read: that of the event itself, UTC where it has none, null
-- where PostgreSQL does not know it.
stops as (

    select
        change.container_id,
        change.shipment_id,
        change.container_number,
        change.shipping_line_scac,
        change.is_tracking_stopped,
        change.location_locode,
        change.location_id,
        change.vessel_in_id,
        change.vessel_out_id,
        change.arrived_at,
        change.discharged_at,
        change.loaded_at,
        change.departed_at,
        change.loaded_at is null
            and change.departed_at is null
            and not change.is_landed
        and not exists (
            select
            from {{parts}}.known_transport_events as later
            where later.container_id = change.container_id
                and later.timestamp > coalesce(change.arrived_at, change.discharged_at)
                and later.location_locode <> change.location_locode
                and later.event in (select deed.event from {{parts}}.ship_deeds as deed)
        ) as is_waiting,
        (change.arrived_at is null or arrived.name is not null)
        and (change.discharged_at is null or discharged.name is not null)
        and (change.loaded_at is null or loaded.name is not null)
        and (change.departed_at is null or departed.name is not null) as is_zone_known,
        coalesce(
            arrived.name,
            case when change.arrived_zone is null then 'UTC' end
        ) as arrived_clock,
        coalesce(
            discharged.name,
            case when change.discharged_zone is null then 'UTC' end
        ) as discharged_clock,
        coalesce(loaded.name, case when change.loaded_zone is null then 'UTC' end) as loaded_clock,
        coalesce(
            departed.name,
            case when change.departed_zone is null then 'UTC' end
        ) as departed_clock
    from {{parts}}.ship_changes as change
    left join {{analytics}}.time_zones as arrived
        on arrived.name = change.arrived_zone
    left join {{analytics}}.time_zones as discharged
        on discharged.name = change.discharged_zone
    left join {{analytics}}.time_zones as loaded
        on loaded.name = change.loaded_zone
    left join {{analytics}}.time_zones as departed
        on departed.name = change.departed_zone

)

select
    stop.container_id,
    stop.shipment_id,
    stop.location_id,
    stop.container_number,
    stop.shipping_line_scac,
    customer.customer_name,
    customer.ref_numbers_text,
    customer.tags_text,
    customer.custom_fields,
    stop.location_locode,
    port.name as location_name,
    vessel_in.name as vessel_in_name,
    vessel_out.name as vessel_out_name,
    round(extract(epoch from
        coalesce(stop.departed_at, stop.loaded_at) - coalesce(stop.arrived_at, stop.discharged_at)
    ) / 3600, 2) as dwell_hours,
    case
        when stop.is_waiting
            then round(extract(epoch from
                {{analytics}}.as_of() - coalesce(stop.arrived_at, stop.discharged_at)
            ) / 3600, 2)
    end as hours_so_far,
    stop.is_waiting,
    stop.is_tracking_stopped,
    stop.is_zone_known,
    stop.arrived_at,
    stop.discharged_at,
    stop.loaded_at,
    stop.departed_at,
    stop.arrived_at at time zone stop.arrived_clock as arrived_local,
    stop.discharged_at at time zone stop.discharged_clock as discharged_local,
    stop.loaded_at at time zone stop.loaded_clock as loaded_local,
    stop.departed_at at time zone stop.departed_clock as departed_local
from stops as stop
left join {{data}}.ports as port
    on port.port_id = stop.location_id
left join {{data}}.vessels as vessel_in
    on vessel_in.vessel_id = stop.vessel_in_id
left join {{data}}.vessels as vessel_out
    on vessel_out.vessel_id = stop.vessel_out_id
left join {{analytics}}.container_customers as customer
    on customer.container_id = stop.container_id;
