import type { AnalyticsScene } from './analytics-scene.js'

/** A version of a shipment: from when we knew it, and what. */
type Version = readonly [from: string, known: Readonly<Record<string, unknown>>]

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
