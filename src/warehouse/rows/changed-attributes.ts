import type { EncodedValue } from '../../source/records/column.js'
import type { SchemaNames } from '../connection/schema-names.js'
import { compareKeys } from '../connection/compare-keys.js'
import type { Session } from '../connection/warehouse.js'

/** One attribute of a container that changed, as a notification says. */
export interface ContainerChange {
  readonly containerId: string
  readonly changeId: string
  readonly attribute: string
  /** A text that PostgreSQL takes as an instant. */
  readonly changedAt: string
  /** JSON texts; null where none was sent. */
  readonly oldValue: EncodedValue
  readonly newValue: EncodedValue
  readonly dataSource: EncodedValue
  readonly timezone: EncodedValue
  readonly observedAt: Date
  readonly notificationId: string
}

/** Adds changes, in key order; one that is known stays as it is. The container needs no row. */
export async function addContainerChanges(
  session: Session,
  names: SchemaNames,
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
    `insert into ${names.table('container_changes')} (
    container_id, change_id, attribute, changed_at, old_value, new_value, data_source, timezone,
    _observed_at, _notification_id
)
select raw.container_id, raw.change_id, raw.attribute, raw.changed_at::timestamptz, raw.old_value::jsonb,
    raw.new_value::jsonb, raw.data_source, raw.timezone, raw.observed_at::timestamptz, raw.notification_id
from unnest(
    $1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[]
) as raw (
    container_id, change_id, attribute, changed_at, old_value, new_value, data_source, timezone, observed_at,
    notification_id
)
order by raw.container_id, raw.change_id, raw.attribute
on conflict (container_id, change_id, attribute) do nothing`,
    [
      rows.map(({ containerId }) => containerId),
      rows.map(({ changeId }) => changeId),
      rows.map(({ attribute }) => attribute),
      rows.map(({ changedAt }) => changedAt),
      rows.map(({ oldValue }) => oldValue),
      rows.map(({ newValue }) => newValue),
      rows.map(({ dataSource }) => dataSource),
      rows.map(({ timezone }) => timezone),
      rows.map(({ observedAt }) => observedAt.toISOString()),
      rows.map(({ notificationId }) => notificationId),
    ],
  )
}
