import type { Panel } from './panels.js'

type ContainerPanel = Omit<Panel, 'group' | 'unit'>

/** About one container; `$1` is its id. */
function ofContainer(panel: ContainerPanel): Panel {
  return { ...panel, group: 'container', unit: '' }
}

/** One row: where it goes, its milestones as wall times, and the names of its places. */
export const JOURNEY = ofContainer({
  id: 'journey',
  title: 'Journey',
  meaning: 'The milestones of the container, with names of places and wall times there.',
  empty: '',
  picture: { shape: 'facts' },
  sqlText: `select
    journey.container_id,
    journey.container_number,
    journey.bill_of_lading_number,
    coalesce(shipment.shipping_line_name, journey.shipping_line_scac) as line,
    journey.customer_name,
    journey.ref_numbers_text,
    journey.equipment_type,
    journey.equipment_length,
    journey.current_status,
    journey.is_tracking_stopped,
    journey.tracking_stopped_reason,
    shipment.pod_vessel_name as vessel,
    shipment.pod_voyage_number as voyage,
    coalesce(shipment.port_of_lading_name, journey.port_of_lading_locode) as origin,
    coalesce(shipment.port_of_discharge_name, journey.port_of_discharge_locode) as port,
    coalesce(terminal.nickname, terminal.name) as terminal,
    coalesce(shipment.destination_name, journey.destination_locode) as destination,
    coalesce(ramp.nickname, ramp.name) as ramp,
    container.available_for_pickup,
    {{analytics}}.as_of() as now_at,
    journey.pod_zone,
    journey.pod_original_eta_at,
    journey.pod_original_eta_local,
    journey.pod_eta_at,
    journey.pod_eta_local,
    journey.pod_arrived_at,
    journey.empty_out_local,
    journey.full_in_local,
    journey.pol_loaded_local,
    journey.pol_etd_local,
    journey.pol_departed_local,
    journey.pod_arrived_local,
    journey.pod_berthed_local,
    journey.pod_discharged_local,
    journey.available_local,
    journey.pickup_appointment_local,
    journey.pod_full_out_local,
    journey.pod_rail_loaded_local,
    journey.pod_rail_departed_local,
    journey.ind_eta_local,
    journey.ind_arrived_local,
    journey.ind_rail_unloaded_local,
    journey.final_destination_full_out_local,
    journey.delivered_local,
    journey.empty_terminated_local
from {{analytics}}.journey as journey
left join {{data}}.containers as container
    on container.container_id = journey.container_id
left join {{data}}.shipments as shipment
    on shipment.shipment_id = journey.shipment_id
left join {{data}}.terminals as terminal
    on terminal.terminal_id = journey.pod_terminal_id
left join {{data}}.rail_terminals as ramp
    on ramp.rail_terminal_id = shipment.destination_terminal_id
where journey.container_id = $1`,
})

/** Ports where it changed ships. */
export const STOPS = ofContainer({
  id: 'transshipments',
  title: 'Transshipments',
  meaning: 'Ports where the container changed ships, with wall times there.',
  empty: '',
  picture: { shape: 'facts' },
  sqlText: `select
    coalesce(location_name, location_locode, 'Transshipment') as place,
    vessel_in_name,
    vessel_out_name,
    arrived_local,
    discharged_local,
    loaded_local,
    departed_local
from {{analytics}}.transshipments
where container_id = $1
order by coalesce(arrived_at, discharged_at, loaded_at, departed_at)
limit 20`,
})

/** Journeys of the same number, the newest first. */
export const JOURNEYS = ofContainer({
  id: 'journeys',
  title: 'Journeys of this number',
  meaning: 'Containers with the same number: a number is used again for the next journey.',
  empty: '',
  picture: { shape: 'facts' },
  sqlText: `select
    other.container_id,
    other.number,
    shipment.bill_of_lading_number,
    coalesce(shipment.port_of_lading_name, shipment.port_of_lading_locode) as origin,
    coalesce(shipment.port_of_discharge_name, shipment.port_of_discharge_locode) as port,
    coalesce(shipment.pod_ata_at, shipment.pod_eta_at)::date as arrives_on
from {{data}}.containers as container
inner join {{data}}.containers as other
    on other.number = container.number
left join {{data}}.shipments as shipment
    on shipment.shipment_id = other.shipment_id
where container.container_id = $1
    and other._deleted_at is null
order by other.created_at desc nulls last, other.container_id
limit 20`,
})

export const STAYS = ofContainer({
  id: 'last-free-day',
  title: 'Last free day',
  meaning: 'The last free day at the port and at the ramp, and who told it.',
  empty: 'Nobody has told a last free day.',
  picture: { shape: 'facts' },
  sqlText: `select place, state, days_left, days_over, binding_on, binding_source
from {{analytics}}.last_free_days
where container_id = $1
order by has_ended, place desc`,
})

export const COSTS = ofContainer({
  id: 'costs',
  title: 'Costs',
  meaning: 'The cost so far and that of one more day, by charge.',
  empty: 'Nothing is charged, as far as is known.',
  picture: { shape: 'facts' },
  sqlText: `select
    charge,
    place,
    state,
    days_left,
    days_over,
    cost_amount,
    rule_amount,
    next_day_amount,
    currency_code,
    source,
    rule_name,
    last_free_on
from {{analytics}}.costs
where container_id = $1
order by ended_on is not null, cost_amount desc nulls last, charge, place, currency_code`,
})

export const MATTERS = ofContainer({
  id: 'matters',
  title: 'Needs attention',
  meaning: 'Matters of this container that are open now.',
  empty: 'Nothing needs attention.',
  picture: { shape: 'facts' },
  sqlText: `select severity, sentence, since_at
from {{stored}}.attention
where container_id = $1
order by case severity when 'high' then 1 when 'medium' then 2 else 3 end, since_at desc`,
})

export const EVIDENCE = ofContainer({
  id: 'evidence',
  title: 'Holds, fees and last free days',
  meaning: 'Each from the day we first saw it to the day it was gone; open ones go on to today.',
  empty: 'No hold, fee, availability or last free day was ever seen.',
  picture: {
    shape: 'spans',
    from: 'seen_at',
    to: 'gone_at',
    name: 'name',
    kind: 'kind',
    label: 'value',
  },
  sqlText: `select
    seen_at,
    gone_at,
    kind,
    case kind
        when 'availability' then 'availability'
        when 'last free day' then translate(replace(subject, 'pickup_lfd_', ''), '._', '  ')
        else concat_ws(': ', kind, translate(replace(subject, 'pickup_lfd_', ''), '._', '  '))
    end as name,
    value,
    place,
    last_free_on,
    source,
    is_open,
    is_start_known,
    seen_local,
    gone_local
from {{analytics}}.evidence
where container_id = $1
order by seen_at, kind, subject
limit 500`,
})

export const MOVES = ofContainer({
  id: 'moves',
  title: 'ETA and last free day over time',
  meaning: 'Each day as it was told, by the day on which we learned of it.',
  empty: 'Neither an ETA nor a last free day was ever told.',
  picture: { shape: 'steps', at: 'learned_at', value: 'day', kind: 'kind' },
  sqlText: `with told as (
    select
        version.valid_from as learned_at,
        (version.pod_eta_at at time zone coalesce(zone.name, 'UTC'))::date as day,
        null as told_by,
        version.valid_to
    from {{data}}.containers as container
    inner join {{data}}.shipment_history as version
        on version.shipment_id = container.shipment_id
    left join {{analytics}}.time_zones as zone
        on zone.name = version.pod_timezone
    where container.container_id = $1
        and version.pod_eta_at is not null
    union all
    select
        seen_at,
        last_free_on,
        translate(replace(subject, 'pickup_lfd_', ''), '._', '  '),
        gone_at
    from {{analytics}}.evidence
    where container_id = $1
        and kind = 'last free day'
        and last_free_on is not null
),

-- Up to ten sources tell one day at the same times: they are one line.
alike as (
    select told_by, array_agg((learned_at, day, valid_to)::text order by learned_at, day) as told
    from told
    group by told_by
),

named as (
    select
        array_agg(told_by) as sources,
        case
            when min(told_by) is null then 'ETA at the port'
            else concat(
                'last free day: ',
                array_to_string((array_agg(told_by order by told_by))[:2], ', '),
                case when count(*) > 2 then concat(' and ', count(*) - 2, ' more') end
            )
        end as kind
    from alike
    group by told_by is null, told
),

lines as (
    select distinct told.learned_at, told.day, told.valid_to, named.kind
    from told
    inner join named
        on told.told_by = any (named.sources)
        or (told.told_by is null and named.kind = 'ETA at the port')
)

select learned_at, day, kind from lines
union all
-- The end of each line: until then the day held.
select coalesce(valid_to, now()), day, kind from lines
order by 3, 1, 2
limit 500`,
})

/** The events of one container. */
export const TIMELINE = ofContainer({
  id: 'timeline',
  title: 'Everything that happened',
  meaning:
    'Events, changes and announcements by the time they happened or are expected; local times are ' +
    'wall times at the place.',
  empty: 'Nothing is known of this container yet.',
  picture: { shape: 'facts' },
  sqlText: `select
    event.occurred_local,
    event.kind,
    concat_ws(
        ' ',
        replace(replace(event.subject, 'container.transport.', ''), '_', ' '),
        event.from_value,
        case when event.to_value is not null then '→ ' || event.to_value end
    ) as what,
    coalesce(port.name, event.location_locode) as place,
    replace(event.source, '_', ' ') as told_by,
    event.learned_at,
    event.occurred_at
from {{analytics}}.timeline as event
left join lateral (
    select named.name
    from {{data}}.ports as named
    where named.code = event.location_locode
    order by named.port_id
    limit 1
) as port
    on true
where event.container_id = $1
order by event.occurred_at, event.learned_at, event.kind, event.subject
limit 500`,
})

export const CONTAINER_PANELS: readonly Panel[] = [
  JOURNEY,
  STOPS,
  JOURNEYS,
  STAYS,
  COSTS,
  MATTERS,
  EVIDENCE,
  MOVES,
  TIMELINE,
]
