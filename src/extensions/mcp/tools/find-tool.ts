import { sql } from 'kysely'
import { ConfigError } from '../../../base/errors.js'
import { countOf } from '../../../base/phrases.js'
import { tableRef } from '../../../warehouse/connection/typed-database.js'
import { readTable } from '../../answers/read-answer.js'
import { toObjects } from '../../answers/output/print-answer.js'
import { ABOUT_TEXTS, asText, describeCut, JsonLines, takeFitting } from './result-text.js'
import { MOST_ROWS, type Tool } from './tool.js'

const SHORTEST_PART = 3

export const findTool: Tool = {
  name: 'find',
  title: 'Find a container or shipment',
  description:
    'Finds containers and shipments by a container number in any spelling, a bill of lading, a ' +
    'reference number, the value of a custom field, an id, or a part of one of them.',
  arguments: {
    number: {
      type: 'string',
      minLength: SHORTEST_PART,
      description: `At least ${SHORTEST_PART} letters or digits of a number, as somebody wrote it.`,
    },
  },
  required: ['number'],
  run: async ({ number }, { open }) => {
    const wanted = String(number).trim()
    const compact = wanted.replaceAll(/[\s./_-]/g, '').toUpperCase()
    if (compact.length < SHORTEST_PART) {
      const problem = `is too short to be looked for; give at least ${SHORTEST_PART} letters or digits`
      throw new ConfigError([{ setting: 'number', problem }])
    }
    const found = await readTable(await open(), 'find a number', findSql(wanted, compact), {
      mostRows: MOST_ROWS,
    })
    const total = found.rows.length + (found.unread ?? 0)
    const shown = takeFitting(toObjects(found))
    const none = `nothing has ${JSON.stringify(wanted)} in a number, reference or custom field`
    return asText({
      number: wanted,
      about: ABOUT_TEXTS,
      found: total === 0 ? none : countOf(total, 'match'),
      rows: new JsonLines(shown),
      truncated: describeCut(shown.length, total, 'give more of the number'),
    })
  },
}

const containers = tableRef('data.containers')
const shipments = tableRef('data.shipments')

/**
 * Matches with their container and shipment, whole ones first. Numbers are compared without spaces
 * and hyphens, in any case.
 */
function findSql(wanted: string, compact: string) {
  const plain = (column: string) =>
    sql`upper(regexp_replace(${sql.ref(column)}, '[[:space:]./_-]', '', 'g'))`
  return sql`with candidates as (
    select 'container number' as matched, number as value, container_id, shipment_id
    from ${containers}
    union all
    select 'container id', container_id, container_id, shipment_id from ${containers}
    union all
    select 'reference of the container', ref, container_id, shipment_id
    from ${containers} cross join unnest(ref_numbers) as ref
    union all
    select 'bill of lading', bill_of_lading_number, null, shipment_id from ${shipments}
    union all
    select 'shipment id', shipment_id, null, shipment_id from ${shipments}
    union all
    select 'reference of the shipment', ref, null, shipment_id
    from ${shipments} cross join unnest(ref_numbers) as ref
    union all
    select 'custom field ' || field.api_slug, coalesce(field.display_value, field.value #>> '{}'),
        container.container_id, coalesce(container.shipment_id, shipment.shipment_id)
    from ${tableRef('data.custom_fields')} as field
    left join ${tableRef('data.tracking_requests')} as request
        on request.tracking_request_id = field.entity_id
    left join ${containers} as container
        on container.container_id = field.entity_id
    left join ${shipments} as shipment
        on shipment.shipment_id = coalesce(request.tracked_object_id, field.entity_id)
    where field._deleted_at is null
)

select
    found.matched,
    found.value,
    found.container_id,
    container.number as container_number,
    found.shipment_id,
    shipment.bill_of_lading_number,
    shipment.shipping_line_name,
    shipment.customer_name,
    container.current_status,
    plain_value = ${compact} as is_whole
from (
    select candidates.*, ${plain('candidates.value')} as plain_value
    from candidates
    where value is not null
) as found
left join ${containers} as container
    on container.container_id = found.container_id
left join ${shipments} as shipment
    on shipment.shipment_id = found.shipment_id
where strpos(plain_value, ${compact}) > 0 or strpos(lower(value), lower(${wanted})) > 0
order by is_whole desc, found.matched, found.value, found.container_id, found.shipment_id`
}
