import type { Panel } from './panels.js'

/** Panels about containers. */
export const BUSINESS_PANELS: readonly Panel[] = [
  {
    id: 'worklist',
    group: 'business',
    title: 'Next pickups',
    meaning:
      'The twelve containers at a terminal that are first in `tracking-sync query ' +
      'pickups`, and what still holds them there.',
    unit: '',
    empty: 'No container waits to be picked up by a truck.',
    picture: { shape: 'list' },
    sqlText: `select
    container_id,
    container_number as container,
    coalesce(terminal_name, place_name, place) as at,
    replace(state, '_', ' ') as state,
    binding_on as last_free_day,
    days_left,
    array_to_string(blockers, ', ') as blockers
from {{analytics}}.pickups
limit 12`,
  },
  {
    id: 'attention',
    group: 'business',
    title: 'Latest exceptions',
    meaning: 'The twelve latest exceptions of high or medium severity.',
    unit: '',
    empty: 'Nothing needs attention.',
    picture: { shape: 'list' },
    sqlText: `select
    container_id,
    container_number as container,
    replace(exception, '_', ' ') as exception,
    sentence
from {{stored}}.attention
where severity in ('high', 'medium')
order by since_at desc nulls last, container_id, exception
limit 12`,
  },
  {
    id: 'last-free-days',
    group: 'business',
    title: 'Last free days',
    meaning:
      'Stays whose free time runs, by the day it ends: at the port and at the ramp. Days before ' +
      'today are overdue; older ones than two weeks are on the first day.',
    unit: 'stays',
    empty: 'No container at a terminal has running free time.',
    picture: {
      days: [-14, 29],
      shape: 'columns',
      at: 'day',
      every: 'day',
      value: 'stays',
      kind: 'place',
    },
    sqlText: `select
    greatest(binding_on, current_date - 14) as day,
    place,
    count(*) as stays
from {{analytics}}.last_free_days
where state in ('upcoming', 'due_today', 'overdue')
    and binding_on <= current_date + 28
group by 1, 2
order by 1, 2`,
  },
  {
    id: 'charges',
    group: 'business',
    title: 'Storage, demurrage and detention by day',
    meaning:
      'What the rules charge for each day past the last free day, in the last 30 days, by ' +
      'currency. `tracking-sync query charged_days` lists the containers behind it.',
    unit: 'amount a day',
    empty:
      'No rule charges anything in the last 30 days. `tracking-sync rules import <file>` brings ' +
      'the rules of your contracts.',
    picture: {
      days: [-30, 1],
      shape: 'columns',
      at: 'day',
      every: 'day',
      value: 'amount',
      kind: 'charge',
      facet: 'currency',
    },
    sqlText: `select
    charged_on as day,
    currency_code as currency,
    charge,
    sum(charge_amount) as amount
from {{stored}}.charged_days
where charge_amount > 0
    and charged_on between current_date - 30 and current_date
group by 1, 2, 3
order by 1, 2, 3`,
  },
  {
    id: 'arrivals',
    group: 'business',
    title: 'Arrivals of the next 30 days',
    meaning:
      'Containers by the day their ship is expected at the port of discharge. The six ports with ' +
      'most containers have their own colour.',
    unit: 'containers',
    empty: 'No container on its way has an ETA within the next 30 days.',
    picture: {
      days: [0, 31],
      shape: 'columns',
      at: 'day',
      every: 'day',
      value: 'containers',
      kind: 'port',
    },
    sqlText: `with ports as (
    select
        port_of_discharge_locode as port,
        row_number() over (order by sum(containers) desc, port_of_discharge_locode) as place
    from {{analytics}}.arrivals_calendar
    group by 1
)

select
    arrival.arrival_on as day,
    case when ports.place <= 6 then coalesce(ports.port, 'unknown') else 'others' end as port,
    sum(arrival.containers) as containers
from {{analytics}}.arrivals_calendar as arrival
inner join ports on ports.port is not distinct from arrival.port_of_discharge_locode
group by 1, 2
order by 1, 2`,
  },
  {
    id: 'eta-changes',
    group: 'business',
    title: 'ETA slips',
    meaning:
      'Changes of the ETA at the port of discharge in the last 30 days, by the day they were ' +
      'told. `tracking-sync query timeline --kind eta` lists them.',
    unit: 'changes',
    empty: 'No ETA moved in the last 30 days. Changes are seen from the first load on.',
    picture: {
      days: [-30, 1],
      shape: 'columns',
      at: 'day',
      every: 'day',
      value: 'changes',
      kind: 'slip',
    },
    sqlText: `select
    (changed_at at time zone 'UTC')::date as day,
    case
        when slip_hours >= 24 then 'a day later or more'
        when slip_hours > 0 then 'later'
        else 'earlier'
    end as slip,
    count(*) as changes
from {{analytics}}.eta_changes
where changed_at >= now() - interval '30 days'
    and slip_hours <> 0
group by 1, 2
order by 1, 2`,
  },
  {
    id: 'exceptions',
    group: 'business',
    title: 'What needs attention',
    meaning:
      'Containers with an exception, by kind. `tracking-sync query attention` says for each ' +
      'since when, and why.',
    unit: 'containers',
    empty: 'Nothing needs attention.',
    picture: { shape: 'bars', name: 'exception', value: 'containers', kind: 'severity' },
    sqlText: `select
    replace(exception, '_', ' ') as exception,
    severity,
    count(distinct container_id) as containers
from {{stored}}.attention
group by 1, 2
order by case severity when 'high' then 1 when 'medium' then 2 else 3 end, 3 desc, 1`,
  },
  {
    id: 'carriers',
    group: 'business',
    title: 'Shipping lines',
    meaning:
      'The last quarter with arrivals of each of the twelve lines with most of them: the share ' +
      'on time, the share without a rollover, and the share of milestones that were reported.',
    unit: 'share',
    empty: 'No shipment has arrived yet.',
    picture: { shape: 'cells', row: 'line', column: 'measure', share: 'share' },
    sqlText: `with latest as (
    select distinct on (shipping_line_scac) *
    from {{analytics}}.carrier_scorecards
    order by shipping_line_scac, arrival_quarter_on desc
),

lines as (
    select *
    from latest
    order by arrivals desc, shipping_line_scac
    limit 12
)

select
    coalesce(shipping_line_scac, 'unknown') as line,
    measure,
    share
from lines
cross join lateral (
    values
        ('on time', on_time_share),
        ('not rolled', rollover_free_share),
        ('reported', milestone_completeness)
) as measured (measure, share)
where share is not null
order by arrivals desc, 1, 2`,
  },
]

/** The events of one container; `$1` is its id. */
export const TIMELINE: Panel = {
  id: 'timeline',
  group: 'business',
  title: 'Timeline',
  meaning:
    'What happened to the container, and what was changed or announced, by the time it happened ' +
    'or is expected.',
  unit: '',
  empty: 'Nothing is known of this container yet.',
  picture: { shape: 'points', at: 'occurred_at', kind: 'kind', label: 'what' },
  sqlText: `select
    occurred_at,
    occurred_local,
    kind,
    concat_ws(' ', subject, from_value, case when to_value is not null then '→ ' || to_value end)
        as what,
    location_locode,
    source,
    learned_at
from {{analytics}}.timeline
where container_id = $1
order by occurred_at, learned_at, kind, subject
limit 500`,
}

/**
 * Containers by number, id, bill of lading or reference; `$1` is the typed text, with or without
 * spaces and hyphens. Without an exact match, containers that contain it.
 */
export const SEARCH: Panel = {
  id: 'search',
  group: 'business',
  title: 'Containers',
  meaning: 'Containers that match the typed text.',
  unit: '',
  empty: '',
  picture: { shape: 'list' },
  sqlText: `with typed as (
    select
        btrim($1) as words,
        upper(regexp_replace($1, '[^[:alnum:]]', '', 'g')) as code
),

found as (
    select
        container.container_id,
        container.number,
        shipment.bill_of_lading_number,
        shipment.shipping_line_scac,
        container.current_status,
        container.created_at,
        coalesce(
            container.number = typed.code
            or container.container_id = typed.words
            or shipment.bill_of_lading_number in (typed.code, upper(typed.words))
            or typed.words = any(container.ref_numbers)
            or typed.words = any(shipment.ref_numbers),
            false
        ) as is_exact,
        length(typed.code) >= 4
        and (
            strpos(container.number, typed.code) > 0
            or strpos(shipment.bill_of_lading_number, typed.code) > 0
        ) as is_part
    from typed
    cross join {{data}}.containers as container
    left join {{data}}.shipments as shipment on shipment.shipment_id = container.shipment_id
    where container._deleted_at is null
)

select container_id, number, bill_of_lading_number, shipping_line_scac, current_status
from found
where is_exact or is_part and not exists (select from found as other where other.is_exact)
order by created_at desc nulls last, container_id
limit 50`,
}
