import { retryWarehouse, transact } from '../ingest/retry-warehouse.js'
import type { Run } from '../ingest/run.js'
import { rawEvents } from '../resources/index.js'
import type { Session } from '../warehouse/connection/warehouse.js'
import { isNotOurs } from './custom-fields/custom-field-lists.js'
import { readOwnList } from './read-own-list.js'

/** The account may not read any: the rest is left to a run that may. */
const MOST_REFUSALS_IN_A_ROW = 3

/** Containers that changed since their raw events were read, the latest first. */
const CHANGED_SQL = (session: Session): string => `
from ${session.names.table('containers')} as container
left join ${session.names.table('raw_event_reads')} as done
    on done.container_id = container.container_id
where container._deleted_at is null
    and done.changed_at is distinct from container._changed_at`

/** How many requests the next run makes for raw events. */
export async function countRawEventReads(session: Session): Promise<number> {
  const [row] = await session.query<{ count: number }>(
    'count containers that changed since their raw events were read',
    `select count(*)::int as count${CHANGED_SQL(session)}`,
  )
  return row?.count ?? 0
}

/**
 * Reads the raw events of each container that changed since they were last read: one request each.
 * A container whose raw events are refused, or that has none (403, 404, 410), costs itself. Throws
 * the refusal when several in a row are refused. A run that is cut off leaves the rest to the next.
 */
export async function readRawEvents(run: Run): Promise<void> {
  const { warehouse } = run
  const containers = await retryWarehouse(run, () =>
    warehouse.query<{ id: string; changed_at: string }>(
      'list containers that changed since their raw events were read',
      `select container.container_id as id, container._changed_at::text as changed_at
${CHANGED_SQL(warehouse)}
order by container._changed_at desc, container.container_id`,
    ),
  )
  let refusals = 0
  for (const { id, changed_at } of containers) {
    run.signal.throwIfAborted()
    try {
      await readOwnList(run, {
        resource: rawEvents,
        owner: { column: 'container_id', id },
        source: `/containers/${id}/raw_events`,
        list: (options) => run.service.listRawEvents(id, options),
      })
      refusals = 0
    } catch (thrown) {
      if (!isNotOurs(thrown)) throw thrown
      run.logger.info('raw events were refused', { container: id, error: thrown })
      refusals += 1
      if (refusals >= MOST_REFUSALS_IN_A_ROW) throw thrown
      // Asked for again by the next run.
      continue
    }
    await transact(run, 'note that raw events were read', (session) =>
      session.query(
        'note that raw events were read',
        `insert into ${session.names.table('raw_event_reads')} (container_id, changed_at)
values ($1, $2::timestamptz)
on conflict (container_id) do update set changed_at = excluded.changed_at`,
        [id, changed_at],
      ),
    )
  }
}
