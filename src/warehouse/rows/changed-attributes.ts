import { sql } from 'kysely'
import type { EncodedValue } from '../../source/records/column.js'
import { compareKeys, tableRef } from '../connection/typed-database.js'
import type { Session } from '../connection/warehouse.js'

/** One changed attribute of a container, from a notification. */
export interface ContainerChange {
  readonly containerId: string
  readonly changeId: string
  readonly attribute: string
  /** An instant as a text that PostgreSQL reads. */
  readonly changedAt: string
  /** JSON texts; null if the notification has none. */
  readonly oldValue: EncodedValue
  readonly newValue: EncodedValue
  readonly dataSource: EncodedValue
  readonly timezone: EncodedValue
  readonly observedAt: Date
  readonly notificationId: string
}

/** Adds changes, in key order. A known one stays as it is. The container may lack a row. */
export async function addContainerChanges(
  session: Session,
  changes: readonly ContainerChange[],
): Promise<void> {
  if (changes.length === 0) return
  const keyOf = ({ containerId, changeId, attribute }: ContainerChange): string =>
    [containerId, changeId, attribute].join('\n')
  const unique = new Map<string, ContainerChange>()
  for (const change of changes) if (!unique.has(keyOf(change))) unique.set(keyOf(change), change)
  const rows = [...unique].sort(([one], [two]) => compareKeys(one, two)).map(([, row]) => row)
  await session.query(
    'write container_changes',
    sql`insert into ${tableRef('data.container_changes')} (
    container_id, change_id, attribute, changed_at, old_value, new_value, data_source, timezone,
    _observed_at, _notification_id
)
select raw.container_id, raw.change_id, raw.attribute, raw.changed_at::timestamptz, raw.old_value::jsonb,
    raw.new_value::jsonb, raw.data_source, raw.timezone, raw.observed_at::timestamptz, raw.notification_id
from unnest(
    ${rows.map(({ containerId }) => containerId)}::text[],
        ${rows.map(({ changeId }) => changeId)}::text[],
        ${rows.map(({ attribute }) => attribute)}::text[],
        ${rows.map(({ changedAt }) => changedAt)}::text[],
        ${rows.map(({ oldValue }) => oldValue)}::text[],
        ${rows.map(({ newValue }) => newValue)}::text[],
        ${rows.map(({ dataSource }) => dataSource)}::text[],
        ${rows.map(({ timezone }) => timezone)}::text[],
        ${rows.map(({ observedAt }) => observedAt.toISOString())}::text[],
        ${rows.map(({ notificationId }) => notificationId)}::text[]
) as raw (
    container_id, change_id, attribute, changed_at, old_value, new_value, data_source, timezone, observed_at,
    notification_id
)
order by raw.container_id, raw.change_id, raw.attribute
on conflict (container_id, change_id, attribute) do nothing`,
  )
}
