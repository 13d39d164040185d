import { CONTAINER, CUSTOMER, LINE, TERMINAL, withLine } from './list-parts.js'
import type { Panel } from './panels.js'

// A picture and the list behind it read the same rows.

/** Days that a rule charges, of the last 30; a place ahead of UTC may be in tomorrow. */
const CHARGED = `select
        *,
        charged_on as day,
        currency_code as currency
    from {{stored}}.charged_days
    where charge_amount > 0
        and charged_on between current_date - 30 and current_date + 1`

/** Changes of an ETA in the last 30 days, from one instant to another. */
const SLIPS = `select
        *,
        (changed_at at time zone 'UTC')::date as day,
        case
            when slip_hours >= 24 then 'a day later or more'
            when slip_hours > 0 then 'later'
            else 'earlier'
        end as slip
    from {{analytics}}.eta_changes
    where changed_at >= now() - interval '30 days'
        and slip_hours <> 0`

function withRows(sqlText: string): string {
  return sqlText.replace('{{charged}}', CHARGED).replace('{{slips}}', SLIPS)
}

/** Pictures of what happened in the last 30 days. */
export const HISTORY_PANELS: readonly Panel[] = [
  {
    id: 'charges',
    group: 'business',
    title: 'Storage, demurrage and detention by day',
    meaning:
      'What the rules charge for each day past the last free day, in the last 30 days, by ' +
      'currency. A column leads to its containers.',
    unit: 'amount a day',
    empty:
      'No rule charges anything in the last 30 days. `tracking-sync rules import <file>` brings ' +
      'the rules of your contracts.',
    picture: {
      days: [-30, 2],
      shape: 'columns',
      at: 'day',
      every: 'day',
      value: 'amount',
      kind: 'charge',
      facet: 'currency',
    },
    leadsTo: { path: '/charged', by: { day: 'day', charge: 'charge', currency: 'currency' } },
    sqlText: withRows(`select
    day,
    currency,
    charge,
    sum(charge_amount) as amount
from (
    {{charged}}
) as charged
where {{chosen}}
group by 1, 2, 3
order by 1, 2, 3`),
  },
  {
    id: 'eta-changes',
    group: 'business',
    title: 'ETA slips',
    meaning:
      'Changes of the ETA at the port of discharge in the last 30 days, by the day they were ' +
      'told. A column leads to the containers of its shipments.',
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
    leadsTo: { path: '/slips', by: { day: 'day', slip: 'slip' } },
    sqlText: withRows(`select
    day,
    slip,
    count(*) as changes
from (
    {{slips}}
) as change
where {{chosen_shipments}}
group by 1, 2
order by 1, 2`),
  },
]

/** The lists behind them. */
export const HISTORY_LISTS: readonly Panel[] = [
  {
    id: 'charged',
    group: 'list',
    title: 'Charged days',
    meaning:
      'Each day past the last free day that the rules charge, in the last 30 days, the latest ' +
      'first: a row for each container, charge and day.',
    unit: '',
    empty: 'No rule charges anything in the last 30 days.',
    picture: {
      shape: 'list',
      columns: [
        CONTAINER,
        { name: 'day', title: 'Day', cell: 'day' },
        { name: 'amount', title: 'Amount', cell: 'money', also: 'currency' },
        { name: 'charge', title: 'Charge', cell: 'text' },
        { name: 'day_over', title: 'Day over', cell: 'text' },
        { name: 'rule', title: 'Rule', cell: 'text', isExtra: true },
        TERMINAL,
        CUSTOMER,
        LINE,
      ],
    },
    sqlText: withLine(
      'charged',
      withRows(`select
    charged.container_id,
    charged.container_number as container,
    charged.day,
    charged.charge_amount as amount,
    charged.currency,
    charged.charge,
    charged.day_over,
    charged.rule_name as rule,
    charged.pod_terminal as terminal,
    charged.customer_name as customer,
    {{line}} as line,
    charged.place,
    charged.pod_terminal_id,
    charged.shipping_line_scac
from (
    {{charged}}
        and {{chosen}}
) as charged
{{lines}}
where {{chosen_day}}
    and {{chosen_charge}}
order by
    charged.day desc,
    charged.charge_amount desc,
    charged.container_id,
    charged.place,
    charged.charge
limit 2000`),
    ),
  },
  {
    id: 'slips',
    group: 'list',
    title: 'ETA changes',
    meaning:
      'Changes of the ETA at the port of discharge in the last 30 days, the latest first: a row ' +
      'for each container of the shipment.',
    unit: '',
    empty: 'No ETA moved in the last 30 days.',
    picture: {
      shape: 'list',
      columns: [
        CONTAINER,
        { name: 'day', title: 'Told on', cell: 'day' },
        { name: 'moved', title: 'Moved', cell: 'text' },
        { name: 'from_day', title: 'From', cell: 'day' },
        { name: 'to_day', title: 'To', cell: 'day' },
        { name: 'port', title: 'Port', cell: 'port', also: 'port_locode' },
        CUSTOMER,
        LINE,
      ],
    },
    sqlText: withLine(
      'change',
      withRows(`with slips as (
    {{slips}}
),

moved as (
    select
        slips.*,
        container.container_id,
        container.number as container_number,
        container.pod_terminal_id,
        shipment.customer_name,
        coalesce(shipment.port_of_discharge_name, shipment.port_of_discharge_locode) as port
    from slips
    inner join {{data}}.containers as container
        on container.shipment_id = slips.shipment_id
    inner join {{data}}.shipments as shipment
        on shipment.shipment_id = slips.shipment_id
    where container._deleted_at is null
)

select
    change.container_id,
    change.container_number as container,
    change.day,
    case
        when abs(change.slip_hours) < 1.5 then '1 hour'
        when abs(change.slip_hours) < 48 then round(abs(change.slip_hours)) || ' hours'
        else round(abs(change.slip_hours) / 24, 1) || ' days'
    end || case when change.slip_hours > 0 then ' later' else ' earlier' end as moved,
    change.from_eta_local::date as from_day,
    change.to_eta_local::date as to_day,
    change.port,
    change.customer_name as customer,
    {{line}} as line,
    change.bill_of_lading_number as bill_of_lading,
    change.changed_at,
    change.port_of_discharge_locode as port_locode,
    change.pod_terminal_id,
    change.shipping_line_scac
from (
    select *
    from moved
    where {{chosen}}
        and {{chosen_day}}
        and {{chosen_slip}}
) as change
{{lines}}
order by change.changed_at desc, change.container_id
limit 2000`),
    ),
  },
]
