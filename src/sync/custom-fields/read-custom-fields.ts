import { sql } from 'kysely'
import type { Run } from '../../ingest/run.js'
import type { TrackingService } from '../../source/client/endpoints.js'
import { customFieldOptions } from '../../source/records/index.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { readOwnLists, type OwnList } from '../read-own-list.js'
import { tableRef } from '../../warehouse/connection/typed-database.js'

/** A definition whose options are read. */
interface OptionOwner {
  readonly id: string
  /** False when it is gone, or its type takes any value: it has only rows left from before. */
  readonly hasOptions: boolean
}

/**
 * Reads the options of every definition that has some, or had some: one request each, more where
 * they come in pages. Those that are not shown are gone.
 */
export async function readOptions(run: Run): Promise<void> {
  const owners = await run.sink.retry(() => loadOptionOwners(run.sink.warehouse))
  await readOwnLists(
    run,
    owners.map((owner) => optionsOf(run.source.service, owner)),
  )
}

/** Definitions that have options, and those of which the warehouse has live ones. */
export function loadOptionOwners(warehouse: Warehouse): Promise<OptionOwner[]> {
  return warehouse.query(
    'list custom fields with options',
    sql<OptionOwner>`select id, bool_or(has_options) as "hasOptions"
from (
    select custom_field_definition_id as id, true as has_options
    from ${tableRef('data.custom_field_definitions')}
    where data_type in ('enum', 'enum_multi') and _deleted_at is null
    union all
    select definition_id, false
    from ${tableRef('data.custom_field_options')}
    where definition_id is not null and _deleted_at is null
) as owner
group by id
order by id`,
  )
}

/** The options of one definition. */
export function optionsOf(service: TrackingService, { id, hasOptions }: OptionOwner): OwnList {
  return {
    resource: customFieldOptions,
    seen: { definitionId: id },
    mayBeGone: !hasOptions,
    source: `/custom_field_definitions/${id}/options`,
    list: (options) => service.listCustomFieldOptions(id, options),
  }
}
