import type { SchemaNames } from '../connection/schema-names.js'
import type { Session } from '../connection/warehouse.js'

/** Lists whose complete passes together are a complete sync. */
const WALKED = ['shipments', 'containers', 'tracking_requests'] as const

/**
 * When the last complete pass over each stream began, on the source's clock: what it showed was
 * seen then or later, also a row that it had no reason to touch. Containers were also seen by a
 * pass over the shipments, unless that one says that they did not come included; transport events
 * by what shows their container. Streams without a complete pass are absent.
 *
 * Passes over what can still change count unless `scope` is `whole`: only after a pass over the
 * whole list was every live row seen.
 */
export async function loadConfirmedPasses(
  session: Session,
  names: SchemaNames,
  scope: 'any' | 'whole' = 'any',
): Promise<ReadonlyMap<string, Date>> {
  const rows = await session.query<{
    stream: string
    started_ms: number
    has_containers: boolean
  }>(
    'look up the complete passes',
    `select stream,
    floor(extract(epoch from completed_pass_started_at) * 1000)::bigint as started_ms,
    coalesce((position #>> '{findings,areContainersIncluded}')::boolean, true) as has_containers
from ${names.table('checkpoints')}
where completed_pass_started_at is not null and ($1 = 'any' or scope = $1)`,
    [scope],
  )
  const passes = new Map<string, Date>()
  const note = (stream: string, startedMs: number): void => {
    const known = passes.get(stream)?.getTime() ?? -Infinity
    passes.set(stream, new Date(Math.max(known, startedMs)))
  }
  for (const { stream, started_ms, has_containers } of rows) {
    note(stream, started_ms)
    if (stream === 'shipments' && has_containers) note('containers', started_ms)
  }
  const containers = passes.get('containers')
  if (containers !== undefined) note('transport_events', containers.getTime())
  return passes
}

/**
 * When the last sync began that completed every list; undefined when none has. Of whole passes:
 * what the source said before, that sync has seen.
 */
export function completeSyncBegan(passes: ReadonlyMap<string, Date>): Date | undefined {
  const starts = WALKED.map((stream) => passes.get(stream)?.getTime())
  const isComplete = starts.every((start) => start !== undefined)
  return isComplete ? new Date(Math.min(...starts)) : undefined
}
