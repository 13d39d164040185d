import type { Panel } from './panels.js'

/** Containers by a typed text. Its statement is `findContainers`, as MCP searches. */
export const SEARCH: Panel = {
  id: 'search',
  group: 'container',
  title: 'Containers',
  meaning: 'Containers that match the typed text.',
  unit: '',
  empty: '',
  picture: {
    shape: 'list',
    columns: [
      { name: 'container', title: 'Container', cell: 'container' },
      { name: 'bill_of_lading', title: 'Bill of lading', cell: 'text' },
      { name: 'journey', title: 'Journey', cell: 'text' },
      { name: 'status', title: 'Status', cell: 'state' },
      { name: 'customer', title: 'Customer', cell: 'text' },
    ],
  },
  sqlText: '',
}

/** The values that each filter offers, those of most containers first. */
export const CHOICES: Panel = {
  id: 'choices',
  group: 'business',
  title: 'Filters',
  meaning: 'The customers, lines, terminals and ports that the page can be narrowed to.',
  unit: '',
  empty: '',
  picture: { shape: 'facts' },
  sqlText: `with boxes as (
    select
        container.pod_terminal_id,
        shipment.customer_name,
        shipment.shipping_line_scac,
        shipment.port_of_discharge_locode,
        shipment.port_of_discharge_name
    from {{data}}.containers as container
    inner join {{data}}.shipments as shipment
        on shipment.shipment_id = container.shipment_id
    where container._deleted_at is null
),

counted as (
    select 'customer' as filter, customer_name as value, customer_name as name, count(*) as boxes
    from boxes
    group by 2
    union all
    select 'line', box.shipping_line_scac, min(coalesce(line.shipping_line_name, box.shipping_line_scac)), count(*)
    from boxes as box
    left join {{analytics}}.shipping_lines as line
        on line.shipping_line_scac = box.shipping_line_scac
    group by 2
    union all
    select
        'terminal',
        box.pod_terminal_id,
        min(coalesce(terminal.nickname, terminal.name, box.pod_terminal_id)),
        count(*)
    from boxes as box
    left join {{data}}.terminals as terminal
        on terminal.terminal_id = box.pod_terminal_id
    group by 2
    union all
    select
        'port',
        port_of_discharge_locode,
        min(coalesce(port_of_discharge_name, port_of_discharge_locode)),
        count(*)
    from boxes
    group by 2
)

select filter, value, name
from (
    select *, row_number() over (partition by filter order by boxes desc, value) as nth
    from counted
    where value is not null
) as ranked
where nth <= 200
order by filter, lower(name), value`,
}
