import { sql } from 'kysely'
import type { Run } from '../ingest/run.js'
import { rawEvents } from '../source/records/index.js'
import type { Session } from '../warehouse/connection/warehouse.js'
import { readOwnLists, type OwnList } from './read-own-list.js'
import { tableRef } from '../warehouse/connection/typed-database.js'

/** A container with other event ids has moved, even if all else is equal. */
const EVENT_IDS_HASH = sql`md5(array_to_string(container.transport_event_ids, ' '))`

/** Less than a day: the sync of the next day may start a little sooner than that of today. */
const READ_AGAIN_AFTER = sql`interval '20 hours'`

/**
 * Containers whose raw events may have changed since they were read. A changed container shows it
 * at once. Otherwise only raw events of tracked shipments can change: each container is read once a
 * day until a day after the tracking stopped, since clocks differ.
 */
const FROM_CHANGED = sql`
from ${tableRef('data.containers')} as container
left join ${tableRef('sync.raw_event_reads')} as done
    on done.container_id = container.container_id
left join ${tableRef('data.shipments')} as shipment
    on shipment.shipment_id = container.shipment_id
where container._deleted_at is null
    and (
        done.changed_at is distinct from container._changed_at
        or done.event_ids_hash is distinct from ${EVENT_IDS_HASH}
        or done.read_at < now() - ${READ_AGAIN_AFTER}
            and (done.read_at < shipment.line_tracking_stopped_at + interval '1 day') is not false
    )`

/** Requests of the next run for raw events. */
export async function countRawEventReads(session: Session): Promise<number> {
  const [row] = await session.query(
    'count containers whose raw events are due',
    sql<{ count: number }>`select count(*)::int as count${FROM_CHANGED}`,
  )
  return row?.count ?? 0
}

/**
 * Reads the raw events of each due container: one request each. The next run continues an
 * interrupted one. The order differs from run to run, so that unreadable containers do not block
 * the others.
 */
export async function readRawEvents(run: Run): Promise<void> {
  const { service } = run.source
  const containers = await run.sink.retry((warehouse) =>
    warehouse.query(
      'list containers whose raw events are due',
      sql<{
        id: string
        changed_at: string
        hash: string | null
      }>`select container.container_id as id, container._changed_at::text as changed_at,
    ${EVENT_IDS_HASH} as hash
${FROM_CHANGED}
order by md5(container.container_id || ${String(run.sink.syncRunId)}), container.container_id`,
    ),
  )
  const states = new Map(containers.map((container) => [container.id, container]))
  const lists = containers.map(({ id }): OwnList => {
    return {
      resource: rawEvents,
      seen: { containerId: id },
      source: `/containers/${id}/raw_events`,
      list: (options) => service.listRawEvents(id, options),
    }
  })
  await readOwnLists(run, lists, async ({ seen: { containerId = '' } }) => {
    await run.sink.transact('note that raw events were read', (session) =>
      session.query(
        'note that raw events were read',
        sql`insert into ${tableRef('sync.raw_event_reads')}
    (container_id, changed_at, event_ids_hash, read_at)
values (${containerId}, ${states.get(containerId)?.changed_at}::timestamptz,
    ${states.get(containerId)?.hash}, now())
on conflict (container_id) do update
set changed_at = excluded.changed_at, event_ids_hash = excluded.event_ids_hash,
    read_at = excluded.read_at`,
      ),
    )
  })
}
