import { CONTAINER, CUSTOMER, LINE, TERMINAL, withLine } from './list-parts.js'
import type { Panel } from './panels.js'

// The map and the list behind its marks read the same rows.

const BOXES = `boxes as (
    select
        case when has_left_port then 'inland place' else 'port' end as kind,
        case when has_left_port then destination_locode else port_of_discharge_locode end as locode,
        case when has_left_port then destination_name else port_of_discharge_name end as name,
        case when has_left_port then has_reached_ramp else has_vessel_arrived end as is_there,
        pod_vessel_imo as imo,
        pod_vessel_name as vessel,
        container_id,
        container_number,
        shipment_id,
        pod_terminal_id,
        shipping_line_scac
    from {{parts}}.journey_facts
    where not is_delivered
        and not is_left_behind
        and case
            when has_left_port then goes_by_rail
            else has_vessel_arrived or should_have_departed
        end
        and (
            not is_tracking_stopped
            or is_terminal_fresh and has_vessel_arrived and not has_left_port
        )
        and {{chosen}}
)`

function withBoxes(sqlText: string): string {
  return sqlText.replace('{{boxes}}', BOXES)
}

/** Where containers are and where they go: a row for each port, inland place and ship. */
export const PLACE_PANEL: Panel = {
  id: 'places',
  group: 'business',
  title: 'Where containers are',
  meaning:
    'Containers by the port or inland place at which they are, or which they are on the way to. ' +
    'Ships have a mark if the service told their position in the last two days. A mark leads to ' +
    'its containers. Those that are no longer tracked are left out.',
  unit: 'containers',
  empty: 'No container is on its way, at a port or at an inland place.',
  isWide: true,
  picture: {
    shape: 'map',
    name: 'place',
    kind: 'kind',
    here: 'there_now',
    coming: 'on_the_way',
    latitude: 'latitude',
    longitude: 'longitude',
  },
  leadsTo: { path: '/placed', by: { spot: 'mark', state: 'state' } },
  sqlText: withBoxes(`with {{boxes}},

counted as (
    select
        kind,
        locode,
        min(name) as name,
        count(*) filter (where is_there) as there_now,
        count(*) filter (where not is_there) as on_the_way
    from boxes
    group by 1, 2
),

spots as (
    select distinct on (code)
        code,
        name,
        latitude,
        longitude
    from (
        select code, name, latitude, longitude, 1 as place, port_id as id from {{data}}.ports
        union all
        select code, name, latitude, longitude, 2, metro_area_id from {{data}}.metro_areas
    ) as spot
    where latitude between -90 and 90
        and longitude between -180 and 180
    order by code, place, id
),

ships as (
    select distinct on (vessel.imo)
        vessel.imo,
        coalesce(vessel.name, vessel.imo) as name,
        vessel.latitude,
        vessel.longitude,
        vessel.position_timestamp as seen_at
    from {{data}}.vessels as vessel
    where vessel._deleted_at is null
        and vessel.latitude between -90 and 90
        and vessel.longitude between -180 and 180
        and vessel.position_timestamp > {{analytics}}.as_of() - interval '2 days'
    order by vessel.imo, vessel.position_timestamp desc, vessel.vessel_id
),

marks as (
    select
        coalesce(counted.name, spot.name, counted.locode, 'not known') as place,
        counted.kind,
        counted.there_now,
        counted.on_the_way,
        spot.latitude,
        spot.longitude,
        null as seen_at,
        counted.kind || ' ' || counted.locode as mark
    from counted
    left join spots as spot
        on spot.code = counted.locode
    union all
    select
        ships.name,
        'ship',
        0,
        count(*),
        ships.latitude,
        ships.longitude,
        ships.seen_at,
        'ship ' || ships.imo
    from boxes
    inner join ships
        on ships.imo = boxes.imo
    where boxes.kind = 'port'
        and not boxes.is_there
    group by ships.imo, ships.name, ships.latitude, ships.longitude, ships.seen_at
)

select *
from marks
order by kind = 'ship', there_now + on_the_way desc, place, mark
limit 200`),
}

/** The containers of the map, a row each. */
export const PLACED: Panel = {
  id: 'placed',
  group: 'list',
  title: 'Containers on the map',
  meaning: 'Where each container is, or which port or inland place it is on the way to.',
  unit: '',
  empty: PLACE_PANEL.empty,
  picture: {
    shape: 'list',
    columns: [
      CONTAINER,
      { name: 'place', title: 'Place', cell: 'text' },
      { name: 'state', title: 'State', cell: 'text' },
      { name: 'vessel', title: 'Ship', cell: 'text', isExtra: true },
      TERMINAL,
      CUSTOMER,
      LINE,
    ],
  },
  sqlText: withLine(
    'placed',
    withBoxes(`with {{boxes}}

select
    placed.container_id,
    placed.container_number as container,
    coalesce(placed.name, placed.locode, 'not known') as place,
    placed.kind,
    placed.state,
    placed.vessel,
    coalesce(terminal.nickname, terminal.name) as terminal,
    shipment.customer_name as customer,
    {{line}} as line,
    placed.pod_terminal_id,
    placed.shipping_line_scac
from (
    select
        *,
        kind || ' ' || locode as at_place,
        case when kind = 'port' and not is_there then 'ship ' || imo end as on_ship,
        case when is_there then 'there now' else 'on the way' end as state
    from boxes
) as placed
{{lines}}
left join {{data}}.shipments as shipment
    on shipment.shipment_id = placed.shipment_id
left join {{data}}.terminals as terminal
    on terminal.terminal_id = placed.pod_terminal_id
where {{chosen_spot}}
order by placed.kind desc, place, placed.is_there desc, placed.container_id
limit 2000`),
  ),
}
