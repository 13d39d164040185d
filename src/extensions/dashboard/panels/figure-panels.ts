import type { Panel } from './panels.js'
import { ofRows } from './shared-rows.js'

/** The figures at the head of the page; each leads to its list. */
export const FIGURE_PANELS = {
  /** A row for each currency, and a first one for the containers. */
  overdue: {
    id: 'overdue-figures',
    group: 'business',
    title: 'Overdue',
    meaning: 'Containers past their last free day, with the cost so far and that of one more day.',
    unit: '',
    empty: '',
    picture: { shape: 'facts' },
    ...ofRows(
      'overdue',
      `select
    currency_code as currency,
    count(distinct container_id) as containers,
    sum(cost_amount) as cost,
    sum(next_day_amount) as next_day
from (
    {{rows}}
) as late
group by grouping sets ((), (currency_code))
order by grouping(currency_code) desc, cost desc nulls last, next_day desc nulls last, currency`,
    ),
  },
  due: {
    id: 'due-figures',
    group: 'business',
    title: 'Due within two days',
    meaning: 'Containers whose last free day is today or within two days.',
    unit: '',
    empty: '',
    picture: { shape: 'facts' },
    ...ofRows(
      'due',
      `select
    count(distinct container_id) as containers,
    count(distinct container_id) filter (where days_left = 0) as today
from (
    {{rows}}
) as stay
where state <> 'overdue'
    and days_left <= 2`,
    ),
  },
  arriving: {
    id: 'arriving-figures',
    group: 'business',
    title: 'Arriving within seven days',
    meaning: 'Containers whose ship is expected within seven days, today the first of them.',
    unit: '',
    empty: '',
    picture: { shape: 'facts' },
    ...ofRows(
      'arriving',
      `select
    count(*) as containers,
    count(*) filter (where slip_hours >= 24) as late
from (
    {{rows}}
) as expected
where days_until between 0 and 6`,
    ),
  },
} as const satisfies Readonly<Record<string, Panel>>
