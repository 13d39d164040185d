import type { Panel } from './panels.js'

/** Where containers are and where they go: a row for each port, inland place and ship. */
export const PLACE_PANEL: Panel = {
  id: 'places',
  group: 'business',
  title: 'Where containers are',
  meaning:
    'Containers by the port or inland place at which they are, or which they are on the way to; a ' +
    'port narrows the page to it. Ships have a mark if the service told their position in the last ' +
    'two days. Containers that are no longer tracked are left out.',
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
  leadsTo: { path: '/', by: { port: 'port_locode' } },
  sqlText: `with boxes as (
    select
        case when has_left_port then 'inland place' else 'port' end as kind,
        case when has_left_port then destination_locode else port_of_discharge_locode end as locode,
        case when has_left_port then destination_name else port_of_discharge_name end as name,
        case when has_left_port then has_reached_ramp else has_vessel_arrived end as is_there,
        pod_vessel_imo as imo
    from {{analytics}}.journey_facts
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
),

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
        case counted.kind when 'port' then counted.locode end as port_locode
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
        null
    from boxes
    inner join ships
        on ships.imo = boxes.imo
    where boxes.kind = 'port'
        and not boxes.is_there
    group by ships.imo, ships.name, ships.latitude, ships.longitude, ships.seen_at
)

select *
from marks
order by kind = 'ship', there_now + on_the_way desc, place, port_locode
limit 200`,
}
