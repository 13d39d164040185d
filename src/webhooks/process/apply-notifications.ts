import { setImmediate as letOthersRun } from 'node:timers/promises'
import type { ReachFailpoint } from '../../base/failpoint.js'
import type { ResourceIdentifier } from '../../jsonapi/document.js'
import { containers, resources, transportEvents } from '../../resources/index.js'
import { takeIn, type Intake } from '../../ingest/intake.js'
import { loadConfirmedPasses } from '../../warehouse/bookkeeping/confirmed-passes.js'
import { addContainerChanges } from '../../warehouse/rows/changed-attributes.js'
import { findDifferingKeys } from '../../warehouse/rows/differing-keys.js'
import { quarantineRecords } from '../../warehouse/bookkeeping/quarantined-records.js'
import {
  EVENT_LIST_ENTRY,
  queueMissingReferences,
  queueRefetches,
} from '../../warehouse/bookkeeping/refetch-queue.js'
import type { SchemaNames } from '../../warehouse/connection/schema-names.js'
import type { Sighting } from '../../warehouse/rows/sighting.js'
import { loadRowsByKey, loadStoredRows, type StoredRow } from '../../warehouse/rows/stored-rows.js'
import type { Session } from '../../warehouse/connection/warehouse.js'
import { LIST_BEHIND_EVENT, writeRows } from '../../warehouse/rows/write-batch.js'
import type { Outcome } from '../notification-states.js'
import { followReferences } from './follow-references.js'
import { byKey, containerOf, planSightings, type KnownRows, type Round } from './plan-sightings.js'
import type { ParsedNotification } from './parse-notification.js'
import { prepareNotifications } from './prepare-notifications.js'
import { readChangesets } from './read-changesets.js'

export interface ApplyOptions {
  readonly names: SchemaNames
  /** How long refetches wait for more news about the same record. */
  readonly refetchDelayMs: number
  readonly reachFailpoint: ReachFailpoint
}

const DOUBT = 'a notification was not newer than the row'
const UNCONFIRMED = 'a notification told of a record without a live row'
const NEW_EVENTS = 'a notification told of transport events without their content'

/** Some milliseconds' work. */
const TAKEN_IN_AT_ONCE = 10

/**
 * Applies notifications of our own webhooks inside the caller's transaction, in the order the
 * source made them: rows by the one write rule, versions, changes of attributes, what must be read
 * again, and what was set aside. Nothing is applied that is in doubt (see `planSightings`). No
 * network. Applying the same ones again changes nothing. Returns what became of each.
 */
export async function applyNotifications(
  session: Session,
  notifications: readonly ParsedNotification[],
  options: ApplyOptions,
): Promise<Map<string, Outcome>> {
  const { names, refetchDelayMs } = options
  const intakes: Intake[] = []
  const prepared = await prepareNotifications(session, names, notifications)
  for (const [at, one] of prepared.entries()) {
    if (at % TAKEN_IN_AT_ONCE === 0) await letOthersRun()
    intakes.push(takeInIncluded(one))
  }
  const plan = planSightings(intakes, await loadKnown(session, names, intakes))
  const lost: Sighting[] = []
  const behind: string[] = []
  for (const round of plan.rounds) {
    const written = await writeRound(session, round, options)
    for (const sighting of written.lost) lost.push(sighting)
    for (const containerId of written.listsBehind) behind.push(containerId)
  }
  const applied = plan.rounds.flatMap(({ sightings }) => sightings)
  await queueMissingReferences(session, [
    ...plan.missing,
    ...applied.flatMap(({ record }) => record.references),
  ])
  const doubts = await findDoubts(session, names, [...plan.doubtful, ...lost])
  const unconfirmed = [...plan.unconfirmed, ...prepared.flatMap((one) => one.unconfirmed)]
  await queueRefetches(session, unconfirmed, UNCONFIRMED, refetchDelayMs)
  await queueRefetches(session, plan.eventLists.map(eventListEntry), NEW_EVENTS, refetchDelayMs)
  await queueRefetches(session, behind.map(eventListEntry), LIST_BEHIND_EVENT, refetchDelayMs)
  await queueRefetches(session, doubts, DOUBT, refetchDelayMs)
  await addContainerChanges(
    session,
    names,
    prepared.flatMap((one) => readChangesets(one.document.included, one)),
  )
  const quarantined = intakes.flatMap((intake) => intake.quarantined)
  await quarantineRecords(session, quarantined, null)
  return followReferences(session, prepared, options)
}

function eventListEntry(containerId: string): ResourceIdentifier {
  return { type: EVENT_LIST_ENTRY, id: containerId }
}

const NOTHING_COMPLETE: ReadonlySet<string> = new Set()

/** Only what is included is taken in: the notification itself stands in the inbox. */
function takeInIncluded({
  notificationId,
  observedAt,
  document,
  isClamped,
}: ParsedNotification): Intake {
  const intake = takeIn(
    { ...document, data: [], isList: true },
    {
      stream: 'other_resources',
      source: `webhook notification ${notificationId}`,
      observedAt,
      completeTypes: NOTHING_COMPLETE,
    },
  )
  return { ...intake, isDoubtful: isClamped }
}

async function loadKnown(
  session: Session,
  names: SchemaNames,
  intakes: readonly Intake[],
): Promise<KnownRows> {
  const rows = new Map<string, ReadonlyMap<string, StoredRow>>()
  for (const resource of resources) {
    const sightings = sightingsOf(intakes, resource.stream)
    const stored = await loadStoredRows(session, names, resource, onePerKey(sightings))
    if (resource === containers) {
      const owners = sightingsOf(intakes, transportEvents.stream).map(containerOf)
      const others = [...new Set(owners)].filter((id) => !stored.has(id)).map((id) => [id])
      const ofEvents = await loadRowsByKey(session, names, containers, others)
      rows.set(resource.stream, new Map([...stored, ...ofEvents]))
    } else rows.set(resource.stream, stored)
  }
  return { rows, passes: await loadConfirmedPasses(session) }
}

function sightingsOf(intakes: readonly Intake[], stream: string): Sighting[] {
  return intakes.flatMap(({ sightings }) => sightings.get(stream) ?? [])
}

function onePerKey(sightings: readonly Sighting[]): Sighting[] {
  return [...new Map(sightings.map((sighting) => [sighting.record.key, sighting])).values()]
}

interface WrittenRound {
  /** Not written, because a newer sighting of another writer came first. */
  readonly lost: readonly Sighting[]
  /** Containers whose list of transport events could not be believed in full. */
  readonly listsBehind: readonly string[]
}

async function writeRound(
  session: Session,
  { sightings, eventLists }: Round,
  { names, reachFailpoint }: ApplyOptions,
): Promise<WrittenRound> {
  const sorted = [...sightings].sort(byKey)
  const { keys, listsBehind } = await writeRows(session, names, {
    syncRunId: null,
    source: 'webhook',
    sightings: sorted.map((sighting) => ({ sighting, stored: undefined })),
    eventLists,
    isConfirming: true,
    reachFailpoint,
  })
  return {
    lost: sorted.filter(({ record }) => keys.get(record.resource.stream)?.has(record.key) !== true),
    listsBehind: listsBehind.map(({ containerId }) => containerId),
  }
}

/** What to read again: of records in doubt those that say something else than their rows. */
async function findDoubts(
  session: Session,
  names: SchemaNames,
  sightings: readonly Sighting[],
): Promise<ResourceIdentifier[]> {
  const doubts: ResourceIdentifier[] = []
  for (const resource of resources) {
    const own = sightings.filter(({ record }) => record.resource === resource)
    const isReadable = resource.path !== undefined || resource === transportEvents
    if (own.length === 0 || !isReadable) continue
    const differing = await findDifferingKeys(session, names, resource, own)
    for (const sighting of own.filter(({ record }) => differing.has(record.key))) {
      if (resource === transportEvents) {
        doubts.push(eventListEntry(containerOf(sighting)))
      } else doubts.push({ type: resource.type, id: sighting.record.key })
    }
  }
  return doubts
}
