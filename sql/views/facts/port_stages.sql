-- Stages of each container at the port
--
-- One row per container and stage that has begun, as known at as_of(). The base of waits,
-- port_waits and terminal_dwell, and where to look for the containers behind a figure.
--   1 arrival to berth         the vessel waits for its berth
--   2 berth to discharge
--   3 discharge to available   until the terminal first said that it can be picked up
--   4 available to out         until it left the port
--   5 arrival to out           all of it
--   6 discharge to out         the dwell at the terminal
--
-- Arrival, discharge and out (the earlier of full gate-out and departure of the train) are those of
-- journeys: what has not happened by as_of() neither begins nor ends a stage. Berth and available
-- are those of journey. A stage whose begin was not reported is left out. If berths
-- are not reported, containers seem to wait for one until their discharge.
-- mode: how it left, else how it is expected to leave, as in container_stays.
--
-- state:
--   over           both ends are reported
--   waiting        it began, and neither its end nor anything later is known
--   unwatched      the same, and the service no longer tracks the shipment: it may have ended
--   not_measured   it ended at a time not said, because something later is known (it has landed, or
--                  left the port, also by a status), it ended before it began, or the terminal does
--                  not say whether it is available (availability_known)
-- waited_hours: from begin to end; of a container that waits, to as_of(); of an unwatched one, for
-- as long as it was seen to wait, until tracking stopped. Null: not measured, or nobody said when
-- tracking stopped. Without a zone the source's times are wall time, and the hours of a container
-- that still waits are off by the offset of the place.
-- week_on: of the begin, by the zone as sent; UTC where none was sent, because that is wall time.
-- vessel_call: vessel and voyage of the shipment, one text for all containers that came with them.
-- The vessel is its IMO number, or its name where it has none.
create view {{analytics}}.port_stages as
select
    journey.container_id,
    journey.shipment_id,
    journey.pod_terminal_id,
    journey.container_number,
    journey.bill_of_lading_number,
    journey.shipping_line_scac,
    coalesce(terminal.nickname, terminal.name) as pod_terminal,
    case
        when journey.pod_terminal_id is null then journey.port_of_discharge_locode
        else port.code
    end as port_locode,
    customer.customer_name,
    customer.ref_numbers_text,
    customer.tags_text,
    customer.custom_fields,
    found.mode,
    stage.stage,
    found.state,
    (
        coalesce(journey.pod_vessel_imo, upper(btrim(journey.pod_vessel_name)))
        || coalesce(' ' || journey.pod_voyage_number, '')
    ) collate "C" as vessel_call,
    found.waited_hours,
    journey.is_port_zone_known as is_zone_known,
    found.week_on,
    stage.start_at,
    stage.end_at
from {{parts}}.journey_facts as journey
left join {{analytics}}.journey as milestone
    on milestone.container_id = journey.container_id
left join {{data}}.terminals as terminal
    on terminal.terminal_id = journey.pod_terminal_id
left join {{data}}.ports as port
    on port.port_id = terminal.port_id
left join {{analytics}}.container_customers as customer
    on customer.container_id = journey.container_id
-- Events of a time to come.
cross join lateral (

    select
        case
            when milestone.pod_berthed_at <= {{analytics}}.as_of() then milestone.pod_berthed_at
        end as berthed_at,
        case when milestone.available_at <= {{analytics}}.as_of() then milestone.available_at end
            as available_at

) as told
cross join lateral (

    -- Not a list of values: PostgreSQL would prepare its expressions again for each container.
    select
        '1 arrival to berth' as stage,
        journey.vessel_arrived_at as start_at,
        told.berthed_at as end_at,
        journey.has_landed as is_passed
    where journey.vessel_arrived_at is not null

    union all

    select
        '2 berth to discharge',
        told.berthed_at,
        journey.discharged_at,
        journey.has_landed
    where told.berthed_at is not null

    union all

    select
        '3 discharge to available',
        journey.discharged_at,
        told.available_at,
        journey.has_left_port or milestone.is_availability_known is false
    where journey.discharged_at is not null

    union all

    select '4 available to out', told.available_at, journey.left_port_at, journey.has_left_port
    where told.available_at is not null

    union all

    select
        '5 arrival to out',
        journey.vessel_arrived_at,
        journey.left_port_at,
        journey.has_left_port
    where journey.vessel_arrived_at is not null

    union all

    select '6 discharge to out', journey.discharged_at, journey.left_port_at, journey.has_left_port
    where journey.discharged_at is not null

) as stage
-- Computed once for a stage, and not for each figure that it counts in.
left join lateral (

    {{fragment stage_length}}

) as found
    on true;
