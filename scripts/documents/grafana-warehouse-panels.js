// The row of config/grafana-dashboard.json over the warehouse. `$views` is the schema of the views
// as of now, or as they were last stored. Days are texts: Grafana would take a date for midnight
// in UTC and show the day before to those who are west of it.

const SEVERITIES = { high: 'red', medium: 'orange', low: 'blue' }

export const WAREHOUSE_PANELS = [
  {
    title: 'What needs attention',
    shape: 'bars',
    size: [10, 10],
    colors: SEVERITIES,
    meaning:
      'Containers with an open exception, by kind. Red ones cost money or are about to: work on ' +
      'these first, from the list beside. The dictionary (view attention) says what each means.',
    sqlText: `select
    replace(exception, '_', ' ') as exception,
    count(distinct container_id) filter (where severity = 'high') as high,
    count(distinct container_id) filter (where severity = 'medium') as medium,
    count(distinct container_id) filter (where severity = 'low') as low
from $views.attention
group by 1
order by 2 desc, 3 desc, 4 desc, 1`,
  },
  {
    title: 'Which containers need attention',
    shape: 'table',
    size: [14, 10],
    meaning:
      'The hundred most severe exceptions, the longest open first, with the reason. Call the ' +
      'terminal or the shipping line that the sentence names.',
    sqlText: `select
    container_number as container,
    severity,
    replace(exception, '_', ' ') as exception,
    sentence as reason,
    round(hours / 24, 1) as days_open,
    shipping_line_scac as line,
    customer_name as customer
from $views.attention
order by
    case severity when 'high' then 1 when 'medium' then 2 else 3 end,
    hours desc nulls last,
    container_number
limit 100`,
  },
  {
    title: 'Last free days',
    shape: 'columns',
    size: [14, 9],
    meaning:
      'Stays at a port or ramp whose free time runs, by the day it ends. Days before today cost ' +
      'money already; those of more than two weeks ago stand on the first day. Plan trucks for ' +
      'the next high column.',
    sqlText: `select
    greatest(binding_on, current_date - 14)::text as day,
    count(*) filter (where place = 'port') as port,
    count(*) filter (where place = 'ramp') as ramp
from tracking_analytics.last_free_days
where state in ('upcoming', 'due_today', 'overdue')
    and binding_on <= current_date + 28
group by 1
order by 1`,
  },
  {
    title: 'Which last free days come next',
    shape: 'table',
    size: [10, 9],
    meaning:
      'Stays whose last free day is within a week, the first first, and who says so ' +
      '(binding_source). Fetch them in this order. `tracking-sync query pickups` adds ' +
      'what keeps each from being ready.',
    sqlText: `select
    container_number as container,
    binding_on::text as last_free_day,
    days_left,
    binding_source as said_by,
    case when place = 'port' then coalesce(pod_terminal, place_locode) else place_locode end
        as place,
    customer_name as customer
from tracking_analytics.last_free_days
where state in ('upcoming', 'due_today')
    and binding_on <= current_date + 7
order by binding_on, container_number
limit 100`,
  },
  {
    title: 'What overdue containers cost',
    shape: 'table',
    size: [12, 7],
    meaning:
      'Containers past their last free day, by currency: fees the terminals list now, and what ' +
      'your own rules estimate (`tracking-sync rules import`). The two are never added. Those ' +
      'that are out are to be compared with invoices: `tracking-sync query invoices`.',
    sqlText: `select
    case exposure.state when 'overdue' then 'still there' else 'out' end as containers_are,
    amount.currency,
    count(distinct exposure.container_id) as containers,
    sum(amount.fee) as fees,
    sum(amount.estimate) as estimate
from tracking_analytics.demurrage_exposure as exposure
cross join lateral (
    select
        fee.key as currency,
        fee.value::numeric as fee,
        null::numeric as estimate
    from jsonb_each_text(exposure.fees_by_currency) as fee
    union all
    select estimate.key, null, estimate.value::numeric
    from jsonb_each_text(exposure.estimates_by_currency) as estimate
) as amount
where exposure.state in ('overdue', 'out_late')
group by 1, 2
order by 1 desc, 2`,
  },
  {
    title: 'Where containers are overdue',
    shape: 'table',
    size: [12, 7],
    meaning:
      'Terminals where containers stand past their last free day, and for how long. Many at one ' +
      'terminal: ask for an extension or another carrier there.',
    sqlText: `select
    case when place = 'port' then coalesce(pod_terminal, 'unknown') else 'inland ramps' end
        as terminal,
    count(*) as containers,
    max(days_over) as most_days,
    sum(days_over) as days_together
from tracking_analytics.demurrage_exposure
where state = 'overdue'
group by 1
order by 4 desc, 1
limit 50`,
  },
  {
    title: 'Arrivals of the next 30 days',
    shape: 'columns',
    size: [14, 9],
    colors: { 'ETA passed': 'red' },
    meaning:
      'Containers by the day their ship is expected at the port of discharge, on the calendar of ' +
      'the port. Plan people for the high columns. ETA passed: nobody said that it arrived; ask ' +
      'the shipping line.',
    sqlText: `select
    greatest(arrival_on, current_date - 7)::text as day,
    sum(containers - eta_passed) as expected,
    sum(eta_passed) as "ETA passed"
from tracking_analytics.arrivals_calendar
where arrival_on is not null
group by 1
order by 1`,
  },
  {
    title: 'Arrivals by port',
    shape: 'table',
    size: [10, 9],
    meaning:
      'The same by port of discharge: within a week, within 30 days, and with an ETA that passed ' +
      'without an arrival. Order trucks and appointments where the week is full.',
    sqlText: `select
    coalesce(port_of_discharge_name, port_of_discharge_locode, 'unknown') as port,
    coalesce(sum(containers - eta_passed) filter (where arrival_on < current_date + 7), 0)
        as in_a_week,
    sum(containers - eta_passed) as in_30_days,
    sum(teu) as teu,
    sum(eta_passed) as eta_passed
from tracking_analytics.arrivals_calendar
group by 1
order by 3 desc, 1
limit 50`,
  },
  {
    title: 'ETA changes',
    shape: 'columns',
    size: [12, 8],
    colors: { later: 'orange', 'a day later or more': 'red', earlier: 'green' },
    meaning:
      'Changes of the ETA at the port of discharge in the time shown above, by the day we ' +
      'learned of them (UTC). A high red column: tell the customers, and move appointments; the ' +
      'list beside names the shipments.',
    sqlText: `select
    (changed_at at time zone 'UTC')::date::text as day,
    count(*) filter (where slip_hours < 0) as earlier,
    count(*) filter (where slip_hours > 0 and slip_hours < 24) as later,
    count(*) filter (where slip_hours >= 24) as "a day later or more"
from tracking_analytics.eta_changes
where $__timeFilter(changed_at)
    and slip_hours <> 0
group by 1
order by 1`,
  },
  {
    title: 'Which ETAs slipped most',
    shape: 'table',
    size: [12, 8],
    meaning:
      'Shipments whose ETA became later in the time shown above, once for each change, the ' +
      'largest slip first. Where it is a day or more, tell the customer and check the appointment.',
    sqlText: `select
    bill_of_lading_number as bill_of_lading,
    shipping_line_scac as line,
    port_of_discharge_locode as port,
    slip_hours,
    from_eta_at,
    to_eta_at,
    changed_at
from tracking_analytics.eta_changes
where $__timeFilter(changed_at)
    and slip_hours > 0
order by slip_hours desc, changed_at desc
limit 100`,
  },
  {
    title: 'Shipping lines',
    shape: 'table',
    size: [14, 8],
    units: { on_time: 'percentunit', not_rolled: 'percentunit', reported: 'percentunit' },
    meaning:
      'The last quarter with arrivals of each line: the shares on time, not rolled, and of ' +
      'milestones reported, and how far the ETA of a week before was off. Below some 30 arrivals ' +
      'a share says little. Compare lines on one lane with the view schedule_reliability.',
    sqlText: `select distinct on (shipping_line_scac)
    coalesce(shipping_line_name, shipping_line_scac, 'unknown') as line,
    arrival_quarter_on::text as quarter,
    arrivals,
    on_time_share as on_time,
    rollover_free_share as not_rolled,
    milestone_completeness as reported,
    eta_error_7_days_ahead_hours as eta_off_by_hours,
    median_transit_days
from tracking_analytics.carrier_scorecards
order by shipping_line_scac, arrival_quarter_on desc`,
  },
  {
    title: 'How fresh the tables are',
    shape: 'table',
    size: [10, 8],
    meaning:
      'Hours since the last complete read of each stream began, and how its last run ended. More ' +
      'than two slots of SYNC_CRON: run `tracking-sync status`. Ports, vessels and the like are ' +
      'read only when there is something new, and may be older.',
    sqlText: `select
    stream,
    age_hours,
    last_outcome,
    last_complete_started_at,
    last_whole_started_at
from tracking_analytics.freshness
order by age_hours desc nulls first, stream`,
  },
]
