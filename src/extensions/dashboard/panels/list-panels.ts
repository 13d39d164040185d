import { HISTORY_LISTS } from './history-panels.js'
import { PLACED } from './place-panel.js'
import { CONTAINER, CUSTOMER, LINE, TERMINAL, withLine } from './list-parts.js'
import type { Panel } from './panels.js'
import { ofRows } from './shared-rows.js'

/** Lists with a page of their own: one row a container, or a container and its exception. */
export const LIST_PANELS: readonly Panel[] = [
  {
    id: 'overdue',
    group: 'list',
    title: 'Overdue',
    meaning:
      'Containers past their last free day, or out with the empty not yet back; the most expensive ' +
      'first. An empty amount is not known: that does not mean zero.',
    unit: '',
    empty: 'No container is past its last free day.',
    isWide: true,
    picture: {
      shape: 'list',
      columns: [
        CONTAINER,
        { name: 'cost', title: 'So far', cell: 'money', also: 'currency' },
        { name: 'days_left', title: 'State', cell: 'days-left' },
        { name: 'next_day', title: 'A day more', cell: 'money', also: 'currency' },
        { name: 'charges', title: 'Charge', cell: 'text', isExtra: true },
        TERMINAL,
        CUSTOMER,
        LINE,
        { name: 'last_free_day', title: 'Last free day', cell: 'day', isExtra: true },
      ],
    },
    ...ofRows(
      'overdue',
      withLine(
        'ranked',
        `with by_currency as (
    select
        container_id,
        currency_code,
        min(container_number) as container_number,
        min(shipping_line_scac) as shipping_line_scac,
        min(pod_terminal_id) as pod_terminal_id,
        min(pod_terminal) as pod_terminal,
        min(customer_name) as customer_name,
        max(days_over) as days_over,
        min(last_free_on) as last_free_on,
        array_agg(distinct charge) as charges,
        sum(cost_amount) as cost_amount,
        sum(next_day_amount) as next_day_amount
    from (
    {{rows}}
    ) as late
    group by 1, 2
),

-- A container has one row: with amounts in two currencies, that of the larger amount.
ranked as (
    select
        *,
        max(days_over) over (partition by container_id) as most_days_over,
        row_number() over (
            partition by container_id
            order by cost_amount desc nulls last, next_day_amount desc nulls last, currency_code
        ) as place
    from by_currency
)

select
    ranked.container_id,
    ranked.container_number as container,
    -ranked.most_days_over as days_left,
    ranked.cost_amount as cost,
    ranked.next_day_amount as next_day,
    ranked.currency_code as currency,
    array_to_string(ranked.charges, ', ') as charges,
    ranked.last_free_on as last_free_day,
    ranked.pod_terminal as terminal,
    ranked.customer_name as customer,
    {{line}} as line,
    ranked.pod_terminal_id,
    ranked.shipping_line_scac
from ranked
{{lines}}
where ranked.place = 1
order by ranked.cost_amount desc nulls last, ranked.most_days_over desc, ranked.container_id
limit 2000`,
      ),
    ),
  },
  {
    id: 'due',
    group: 'list',
    title: 'Last free day within four weeks',
    meaning:
      'The nearest last free day first, at the port and at the ramp; then those past it. Holds are ' +
      'those that the terminal lists now.',
    unit: '',
    empty: 'No container at a terminal has running free time.',
    picture: {
      shape: 'list',
      columns: [
        CONTAINER,
        { name: 'days_left', title: 'State', cell: 'days-left' },
        { name: 'day', title: 'Last free day', cell: 'day' },
        { name: 'says', title: 'Told by', cell: 'text', isExtra: true },
        { name: 'holds', title: 'Holds', cell: 'text' },
        TERMINAL,
        CUSTOMER,
        LINE,
      ],
    },
    ...ofRows(
      'due',
      withLine(
        'running',
        `with stays as (
    {{rows}}
),

running as (
    select
        *,
        row_number() over (partition by container_id order by binding_on, place) as nth
    from stays
    where {{chosen_day}}
        and {{chosen_place}}
)

select
    running.container_id,
    running.container_number as container,
    running.days_left,
    running.binding_on as day,
    running.binding_source as says,
    held.holds,
    running.place,
    running.pod_terminal as terminal,
    running.customer_name as customer,
    {{line}} as line,
    running.pod_terminal_id,
    running.shipping_line_scac
from running
{{lines}}
left join lateral (
    select string_agg(distinct hold.name, ', ') as holds
    from {{data}}.container_holds as hold
    where hold.container_id = running.container_id
        and hold.place = running.place
        and hold.status = 'hold'
) as held
    on true
where running.nth = 1
order by running.state = 'overdue', running.days_left, running.container_id
limit 2000`,
      ),
    ),
  },
  {
    id: 'arriving',
    group: 'list',
    title: 'Arriving within 30 days',
    meaning:
      'Containers on their way, by the day their ship is expected at the port of discharge. The ' +
      'cost expected is that of days for which free time will probably not do, by your rules.',
    unit: '',
    empty: 'No container on its way has an ETA within the next 30 days.',
    picture: {
      shape: 'list',
      columns: [
        CONTAINER,
        { name: 'day', title: 'Arrives', cell: 'day' },
        { name: 'moved', title: 'Against the first ETA', cell: 'text' },
        { name: 'expected_cost', title: 'Cost expected', cell: 'money', also: 'currency' },
        { name: 'port', title: 'Port', cell: 'port', also: 'port_locode' },
        { name: 'vessel', title: 'Ship', cell: 'text', isExtra: true },
        TERMINAL,
        CUSTOMER,
        LINE,
      ],
    },
    ...ofRows(
      'arriving',
      withLine(
        'arriving',
        `select
    arriving.container_id,
    arriving.container_number as container,
    arriving.day,
    case
        when abs(arriving.slip_hours) < 12 then 'on time'
        when arriving.slip_hours > 0 then round(arriving.slip_hours / 24, 1) || ' days later'
        else round(-arriving.slip_hours / 24, 1) || ' days earlier'
    end as moved,
    arriving.expected_amount as expected_cost,
    arriving.currency_code as currency,
    coalesce(arriving.port_of_discharge_name, arriving.port_of_discharge_locode) as port,
    concat_ws(' ', arriving.pod_vessel_name, arriving.pod_voyage_number) as vessel,
    arriving.pod_terminal as terminal,
    arriving.customer_name as customer,
    {{line}} as line,
    arriving.port_of_discharge_locode as port_locode,
    arriving.pod_terminal_id,
    arriving.shipping_line_scac
from (
    {{rows}}
) as arriving
{{lines}}
where {{chosen_day}}
order by arriving.day, port, arriving.container_id
limit 2000`,
      ),
    ),
  },
  {
    id: 'pickups',
    group: 'list',
    title: 'Next pickups',
    meaning:
      'Containers that a truck can fetch, the most urgent first, and what still holds them there.',
    unit: '',
    empty: 'No container waits to be picked up by a truck.',
    picture: {
      shape: 'list',
      columns: [
        CONTAINER,
        { name: 'days_left', title: 'State', cell: 'days-left' },
        { name: 'blockers', title: 'Held by', cell: 'text' },
        { name: 'last_free_day', title: 'Last free day', cell: 'day', isExtra: true },
        TERMINAL,
        CUSTOMER,
        LINE,
      ],
    },
    sqlText: withLine(
      'pickup',
      `select
    pickup.container_id,
    pickup.container_number as container,
    pickup.days_left,
    pickup.blockers_text as blockers,
    pickup.binding_on as last_free_day,
    coalesce(pickup.terminal_name, pickup.place_name, pickup.pod_terminal) as terminal,
    pickup.customer_name as customer,
    {{line}} as line,
    case when pickup.place = 'port' then pickup.pod_terminal_id end as pod_terminal_id,
    pickup.shipping_line_scac
from (
    select *
    from {{analytics}}.pickups
    where {{chosen}}
) as pickup
{{lines}}
order by
    pickup.state = 'unknown',
    case when pickup.is_long_there then 0 else pickup.days_left end nulls last,
    pickup.start_at,
    pickup.container_id
limit 2000`,
    ),
  },
  {
    id: 'attention',
    group: 'list',
    title: 'Needs attention',
    meaning:
      'Everything open now, the serious and the expensive first. A container can have several rows, ' +
      'one for each matter.',
    unit: '',
    empty: 'Nothing needs attention.',
    picture: {
      shape: 'list',
      columns: [
        CONTAINER,
        { name: 'severity', title: 'Severity', cell: 'severity' },
        { name: 'matter', title: 'Matter', cell: 'sentence' },
        { name: 'cost', title: 'Cost so far', cell: 'money', also: 'currency' },
        CUSTOMER,
        LINE,
      ],
    },
    ...ofRows(
      'attention',
      withLine(
        'attention',
        `select
    attention.container_id,
    attention.container_number as container,
    attention.severity,
    attention.sentence as matter,
    attention.cost_amount as cost,
    attention.cost_currency_code as currency,
    attention.customer_name as customer,
    {{line}} as line,
    attention.since_at,
    attention.exception,
    attention.pod_terminal_id,
    attention.shipping_line_scac
from (
    {{rows}}
) as attention
{{lines}}
order by
    case attention.severity when 'high' then 1 when 'medium' then 2 else 3 end,
    attention.cost_amount desc nulls last,
    attention.since_at desc nulls last,
    attention.container_id,
    attention.exception
limit 2000`,
      ),
    ),
  },
  ...HISTORY_LISTS,
  PLACED,
]

/** The matters of the overview, which lists the overdue and those due soon beside it. */
export const OTHER_MATTERS: Panel = {
  id: 'matters-now',
  group: 'business',
  title: 'Other matters',
  meaning: 'Everything else that needs attention: the serious first, then the latest.',
  unit: '',
  empty: 'Nothing else needs attention.',
  picture: {
    shape: 'list',
    columns: [
      CONTAINER,
      { name: 'severity', title: 'Severity', cell: 'severity' },
      { name: 'matter', title: 'Matter', cell: 'sentence' },
    ],
  },
  leadsTo: { path: '/attention' },
  ...ofRows(
    'attention',
    `select
    container_id,
    min(container_number) as container,
    (array_agg(severity order by severity = 'low', severity))[1] as severity,
    string_agg(sentence, '; ' order by severity = 'low', severity, since_at desc, sentence)
        as matter,
    min(customer_name) as customer,
    max(since_at) as since_at
from (
    {{rows}}
) as matter
where exception not in ('overdue', 'empty_not_returned', 'last_free_day_near')
group by container_id
order by
    bool_or(severity = 'high') desc,
    bool_or(severity = 'medium') desc,
    max(since_at) desc nulls last,
    container_id
limit 2000`,
  ),
}
