import { sql } from 'kysely'
import { vesselPositions } from '../../source/records/vessel.js'
import type { Sighting } from '../../source/records/resource.js'
import {
  anyDistinct,
  columnList,
  compareKeys,
  setToExcluded,
  tableRef,
} from '../connection/typed-database.js'
import type { WriteOptions } from './incoming-rows.js'
import type { Session } from '../connection/warehouse.js'

/** Adds the positions of vessels. A stored one changes only when the source corrects it. */
export async function upsertVesselPositions(
  session: Session,
  sightings: readonly Sighting[],
  { syncRunId }: WriteOptions,
): Promise<void> {
  const rows = sightings
    .filter(({ positions }) => positions !== undefined)
    .flatMap(({ positions = [], observedAt }) =>
      positions.map((values) => [...values, observedAt.toISOString()]),
    )
    .sort((one, two) =>
      compareKeys(`${one[0] ?? ''} ${one[1] ?? ''}`, `${two[0] ?? ''} ${two[1] ?? ''}`),
    )
  if (rows.length === 0) return
  const { columns } = vesselPositions
  const names = columns.map(({ name }) => name)
  const cast = columns.map(({ name, type }) => sql`${sql.id('raw', name)}::${sql.raw(type)}`)
  const lists = [...names, '_first_seen_at'].map((_, at) => rows.map((row) => row[at] ?? null))
  await session.query(
    'write vessel_positions',
    sql`insert into ${tableRef('data.vessel_positions')} as stored
    (${columnList(names)}, _first_seen_at, _sync_run_id)
select distinct on (raw.vessel_id, raw.position_at::timestamptz)
    ${sql.join(cast)}, raw._first_seen_at::timestamptz, ${syncRunId}::bigint
from unnest(${sql.join(lists.map((list) => sql`${list}::text[]`))})
    with ordinality as raw (${columnList(names)}, _first_seen_at, place)
order by raw.vessel_id, raw.position_at::timestamptz, raw.place desc
on conflict (vessel_id, position_at) do update
set ${setToExcluded(names.slice(2))}
where ${anyDistinct('stored', 'excluded', names.slice(2))}`,
  )
}
