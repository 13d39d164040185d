import type { ResourceIdentifier } from '../../jsonapi/document.js'
import { containers, resources, transportEvents } from '../../resources/index.js'
import type { FlatRecord } from '../../resources/resource.js'
import { findMissingReferences } from '../../warehouse/bookkeeping/missing-references.js'
import type { Sighting } from '../../warehouse/rows/sighting.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { compareWithStored, type ComparedSighting } from '../../warehouse/rows/write-batch.js'
import type { Intake } from '../../ingest/intake.js'
import type { ReferenceSample } from './make-plan.js'
import { decideEventNeed } from '../../ingest/store-intake.js'

/** An answer as a run would judge it: what would be written, and for which containers events would be read. */
export interface SampledPage {
  readonly intake: Intake
  readonly changed: readonly ComparedSighting[]
  readonly containers: readonly SampledContainer[]
}

export interface SampledContainer {
  readonly key: string
  readonly isNew: boolean
  readonly needsFetch: boolean
}

/** Compares an answer with the warehouse by the rules of a run. Reads only. */
export async function judgeSample(warehouse: Warehouse, intake: Intake): Promise<SampledPage> {
  const changed: ComparedSighting[] = []
  for (const resource of resources) {
    const sightings = intake.sightings.get(resource.stream) ?? []
    if (sightings.length === 0) continue
    changed.push(...(await compareWithStored(warehouse, resource, sightings)).changed)
  }
  return { intake, changed, containers: judgeContainers(intake, changed) }
}

function judgeContainers(
  intake: Intake,
  changed: readonly ComparedSighting[],
): readonly SampledContainer[] {
  const includedEvents = new Set(
    (intake.sightings.get(transportEvents.stream) ?? []).map(({ record }) => record.key),
  )
  const changedByKey = new Map(
    changed
      .filter(({ sighting }) => sighting.record.resource === containers)
      .map((compared) => [compared.sighting.record.key, compared]),
  )
  return (intake.sightings.get(containers.stream) ?? [])
    .filter(({ isComplete }) => isComplete)
    .map(({ record: { key } }) => {
      const compared = changedByKey.get(key)
      if (compared === undefined) return { key, isNew: false, needsFetch: false }
      const need = decideEventNeed(compared, intake.transportEventIds.get(key), includedEvents)
      return { key, isNew: compared.stored === undefined, needsFetch: need === 'fetch' }
    })
}

/**
 * The references without a row that the sampled records point to, per shipment. What came included on the same page or an earlier one is left
 * out: a run stores it before it looks for what is missing.
 */
export async function sampleReferences(
  warehouse: Warehouse,
  pages: readonly SampledPage[],
  shipmentsInAll: number,
): Promise<ReferenceSample> {
  const units = new Map<string, Map<string, ResourceIdentifier>>()
  const shipments = new Set<string>()
  const included = new Set<string>()
  for (const { intake, changed } of pages) {
    for (const { record } of [...intake.sightings.values()].flat()) {
      included.add(`${record.resource.type} ${record.key}`)
      const shipment = shipmentOf(record)
      if (shipment !== undefined) shipments.add(shipment)
    }
    for (const { sighting } of changed) addReferences(units, sighting, included)
  }
  const wanted = [...units.values()].flatMap((unit) => [...unit.values()])
  const found = await findMissingReferences(warehouse, wanted)
  const missing = new Set(found.map(({ type, id }) => `${type} ${id}`))
  const sampled = [...units.values()].map(
    (unit) => new Set([...unit.keys()].filter((reference) => missing.has(reference))),
  )
  const share = shipments.size === 0 ? 0 : units.size / shipments.size
  return { units: sampled, unitsInAll: Math.round(share * shipmentsInAll) }
}

function addReferences(
  units: Map<string, Map<string, ResourceIdentifier>>,
  { record }: Sighting,
  included: ReadonlySet<string>,
): void {
  const shipment = shipmentOf(record)
  if (shipment === undefined) return
  let unit = units.get(shipment)
  if (unit === undefined) {
    unit = new Map()
    units.set(shipment, unit)
  }
  for (const { type, id } of record.references) {
    const reference = `${type} ${id}`
    if (!included.has(reference)) unit.set(reference, { type, id })
  }
}

/** Containers of one shipment share vessels and ports, so shipments and not containers are what is sampled. */
function shipmentOf(record: FlatRecord): string | undefined {
  if (record.resource.stream === 'shipments') return record.key
  const index = record.resource.columnIndex.get('shipment_id')
  return index === undefined ? undefined : (record.values[index] ?? undefined)
}
