import { rowsOf } from './tables.js'
import type { AnalyticsScene } from './analytics-scene.js'

type Row = Readonly<Record<string, unknown>>

/** A version of a shipment: from when we knew it, and what. */
type Version = readonly [from: string, known: Row]

/** Inserts the versions of a shipment, each valid until the next one. */
export async function insertVersions(
  scene: AnalyticsScene,
  shipment_id: string,
  versions: readonly Version[],
): Promise<void> {
  await scene.insert(
    'shipment_history',
    versions.map(([valid_from, known], index) => ({
      ...known,
      shipment_id,
      valid_from,
      valid_to: versions[index + 1]?.[0] ?? null,
    })),
  )
}

/**
 * The same from a table of many shipments: a line a version, with the shipment and since when we
 * knew it in the first two columns.
 */
export async function insertVersionTable(
  scene: AnalyticsScene,
  base: Row,
  table: string,
): Promise<void> {
  const versions = rowsOf(table)
  for (const id of new Set(versions.map(({ shipment_id }) => shipment_id!))) {
    const ofOne = versions.filter(({ shipment_id }) => shipment_id === id)
    await insertVersions(
      scene,
      id,
      ofOne.map(({ valid_from, ...known }) => [valid_from!, { ...base, ...known }]),
    )
  }
}
