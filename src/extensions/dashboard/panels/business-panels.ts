import { HISTORY_PANELS } from './history-panels.js'
import { LIST_PANELS, OTHER_MATTERS } from './list-panels.js'
import type { Panel } from './panels.js'
import { PLACE_PANEL } from './place-panel.js'
import { ofRows } from './shared-rows.js'

/** Panels about containers. */
export const BUSINESS_PANELS: readonly Panel[] = [
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
      days: [-15, 30],
      shape: 'columns',
      at: 'day',
      every: 'day',
      value: 'stays',
      kind: 'place',
    },
    leadsTo: { path: '/due', by: { day: 'day', place: 'place' } },
    ...ofRows(
      'due',
      `select
    day,
    place,
    count(*) as stays
from (
    {{rows}}
) as stay
group by 1, 2
order by 1, 2`,
    ),
  },
  {
    id: 'arrivals',
    group: 'business',
    title: 'Arrivals of the next 30 days',
    meaning:
      'Containers by the day their ship is expected at the port of discharge. The six ports with ' +
      'most containers have their own colour and lead to their lists; the others share one, and ' +
      'are in the list of all.',
    unit: 'containers',
    empty: 'No container on its way has an ETA within the next 30 days.',
    picture: {
      days: [-1, 31],
      shape: 'columns',
      at: 'day',
      every: 'day',
      value: 'containers',
      kind: 'port',
    },
    leadsTo: { path: '/arriving', by: { day: 'day', port: 'port_locode' } },
    ...ofRows(
      'arriving',
      `with arriving as (
    select
        day,
        port_of_discharge_locode as port_locode,
        coalesce(port_of_discharge_name, port_of_discharge_locode, 'not known') as port
    from (
    {{rows}}
    ) as expected
),

ports as (
    select
        port_locode,
        row_number() over (order by count(*) desc, port_locode) as place
    from arriving
    group by 1
)

select
    arriving.day,
    case when ports.place <= 6 then arriving.port else 'others' end as port,
    count(*) as containers,
    case when ports.place <= 6 then ports.port_locode end as port_locode
from arriving
inner join ports
    on ports.port_locode is not distinct from arriving.port_locode
group by 1, 2, 4
order by 1, 2, 4`,
    ),
  },
  {
    id: 'exceptions',
    group: 'business',
    title: 'Matters by kind',
    meaning: 'Containers that need attention, by the matter. A bar leads to its containers.',
    unit: 'containers',
    empty: 'Nothing needs attention.',
    picture: { shape: 'bars', name: 'exception', value: 'containers', kind: 'severity' },
    leadsTo: { path: '/attention', by: { exception: 'code', severity: 'severity' } },
    ...ofRows(
      'attention',
      `select
    case exception
        when 'eta_passed' then 'ETA passed'
        when 'eta_slipped' then 'ETA slipped'
        when 'hold_new' then 'new hold'
        when 'long_there' then 'there for long'
        else replace(exception, '_', ' ')
    end as exception,
    severity,
    count(distinct container_id) as containers,
    exception as code
from (
    {{rows}}
) as matter
group by 1, 2, 4
order by case severity when 'high' then 1 when 'medium' then 2 else 3 end, 3 desc, 1`,
    ),
  },
  {
    id: 'carriers',
    group: 'business',
    title: 'Shipping lines in 90 days',
    meaning:
      'The twelve lines with most arrivals in the last 90 days: the share within a day of the ' +
      'first ETA, without a rollover, and of the milestones that were reported. A row narrows the ' +
      'page to its line.',
    unit: 'share',
    empty: 'No shipment has arrived in the last 90 days.',
    picture: { shape: 'cells', row: 'line', column: 'measure', share: 'share' },
    leadsTo: { path: '/', by: { line: 'shipping_line_scac' } },
    sqlText: `with lines as (
    select
        shipping_line_scac,
        min(shipping_line_name) as line_name,
        sum(containers) as arrivals,
        avg(is_on_time::int) as on_time,
        avg(is_rollover_free::int) as rollover_free,
        sum(milestones_reported) / nullif(sum(milestones_expected), 0)::numeric as reported
    from {{analytics}}.shipment_outcomes
    where period = 'last 90 days'
        and is_of_arrival
        and {{chosen_shipments}}
    group by 1
    order by arrivals desc, shipping_line_scac
    limit 12
)

select
    coalesce(line.short_name, lines.line_name, lines.shipping_line_scac, 'not known') as line,
    measured.measure,
    measured.share,
    lines.shipping_line_scac
from lines
left join {{analytics}}.shipping_lines as line
    on line.shipping_line_scac = lines.shipping_line_scac
cross join lateral (
    values
        ('on time', round(lines.on_time, 3)),
        ('not rolled', round(lines.rollover_free, 3)),
        ('reported', round(lines.reported, 3))
) as measured (measure, share)
where measured.share is not null
order by lines.arrivals desc, 1, 2`,
  },
]

/** The panels of the overview, in their order: the first rows of lists beside pictures. */
export const OVERVIEW_PANELS: readonly Panel[] = inOrder([
  'overdue',
  'due',
  'matters-now',
  'places',
  'exceptions',
  'arrivals',
  'last-free-days',
  'charges',
  'eta-changes',
  'carriers',
])

function inOrder(ids: readonly string[]): Panel[] {
  const pictures = [PLACE_PANEL, ...BUSINESS_PANELS, ...HISTORY_PANELS]
  const known = [...LIST_PANELS, OTHER_MATTERS, ...pictures]
  return ids.flatMap((id) => known.find((panel) => panel.id === id) ?? [])
}
