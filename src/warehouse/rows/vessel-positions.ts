import { vesselPositions } from '../../source/records/vessel.js'
import { quoteIdentifier } from '../connection/schema-names.js'
import type { Sighting } from '../../source/records/resource.js'
import { compareKeys } from '../connection/compare-keys.js'
import type { WriteOptions } from './incoming-rows.js'
import type { Session } from '../connection/warehouse.js'

/**
 * Adds the positions that came with vessels. A stored one changes only when the source corrects it.
 */
export async function upsertVesselPositions(
  session: Session,
  sightings: readonly Sighting[],
  { names, syncRunId }: WriteOptions,
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
  const columns = vesselPositions.columns.map(({ name }) => quoteIdentifier(name))
  const arrays = [...columns, '_first_seen_at'].map((_, index) => `$${index + 1}::text[]`)
  const selected = vesselPositions.columns.map(
    ({ name, type }) => `raw.${quoteIdentifier(name)}::${type}`,
  )
  const values = columns.slice(2)
  await session.query(
    'write vessel_positions',
    `insert into ${names.table('vessel_positions')} as stored
    (${columns.join(', ')}, _first_seen_at, _sync_run_id)
select distinct on (raw.vessel_id, raw.position_at::timestamptz) ${selected.join(', ')}, raw._first_seen_at::timestamptz, $${columns.length + 2}::bigint
from unnest(${arrays.join(', ')})
    with ordinality as raw (${columns.join(', ')}, _first_seen_at, place)
order by raw.vessel_id, raw.position_at::timestamptz, raw.place desc
on conflict (vessel_id, position_at) do update
set ${values.map((name) => `${name} = excluded.${name}`).join(', ')}
where (${values.map((name) => `stored.${name}`).join(', ')})
    is distinct from (${values.map((name) => `excluded.${name}`).join(', ')})`,
    [...arrays.map((_, index) => rows.map((row) => row[index] ?? null)), syncRunId],
  )
}
