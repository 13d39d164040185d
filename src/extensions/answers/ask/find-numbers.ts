import { sql, type RawBuilder } from 'kysely'
import { tableRef } from '../../../warehouse/connection/typed-database.js'

/** Letters and digits that a part of a number needs on a page, which opens a single match. */
const SHORTEST_OF_CONTAINERS = 4
const MOST_CONTAINERS = 50
/** The signs between parts of a number, as texts of the service have them. */
const SEPARATORS = ' \t\n\r./_-'

const containers = tableRef('data.containers')
const shipments = tableRef('data.shipments')

/** A number as all spellings of it are compared: without spaces and hyphens, in capitals. */
export function compactNumber(typed: string): string {
  return typed.replaceAll(/[\s./_-]/g, '').toUpperCase()
}

/**
 * Everything with this text in a number, a reference or a custom field, with its container and
 * shipment, whole matches first.
 */
export function findNumbers(typed: string): RawBuilder<unknown> {
  return sql`select
    found.matched,
    found.value,
    found.container_id,
    container.number as container_number,
    found.shipment_id,
    shipment.bill_of_lading_number,
    shipment.shipping_line_name,
    shipment.customer_name,
    container.current_status,
    found.is_whole
from (${matches(typed)}) as found
left join ${containers} as container
    on container.container_id = found.container_id
left join ${shipments} as shipment
    on shipment.shipment_id = found.shipment_id
order by found.is_whole desc, found.matched, found.value, found.container_id, found.shipment_id`
}

/**
 * The live containers behind those matches, each once, the newest first. Parts of a number count
 * only where nothing matches as a whole.
 */
export function findContainers(typed: string): RawBuilder<unknown> {
  const isPart = sql`${compactNumber(typed).length >= SHORTEST_OF_CONTAINERS}::boolean`
  return sql`with matched as materialized (
    select container_id, shipment_id, is_whole
    from (${matches(typed)}) as found
    where is_whole or ${isPart}
)

select
    container.container_id,
    container.number as container,
    shipment.bill_of_lading_number as bill_of_lading,
    concat_ws(' → ', shipment.port_of_lading_name, shipment.port_of_discharge_name) as journey,
    container.current_status as status,
    shipment.customer_name as customer
from ${containers} as container
left join ${shipments} as shipment
    on shipment.shipment_id = container.shipment_id
where container._deleted_at is null
    and container.container_id in (
        select coalesce(matched.container_id, member.container_id)
        from matched
        left join ${containers} as member
            on member.shipment_id = matched.shipment_id
            and matched.container_id is null
        where matched.is_whole = (select bool_or(is_whole) from matched)
    )
order by container.created_at desc nulls last, container.container_id
limit ${sql.lit(MOST_CONTAINERS)}`
}

function matches(typed: string): RawBuilder<unknown> {
  const compact = compactNumber(typed)
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

select matched, value, container_id, shipment_id, plain_value = ${compact} as is_whole
from (
    select
        *,
        upper(translate(value, ${SEPARATORS}, '')) as plain_value
    from candidates
    where value is not null
) as spelled
where ${compact} <> ''
    and (strpos(plain_value, ${compact}) > 0 or strpos(lower(value), lower(${typed.trim()})) > 0)`
}
