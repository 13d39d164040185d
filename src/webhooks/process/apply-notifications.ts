import { setImmediate as letOthersRun } from 'node:timers/promises'
import { ApiContractError } from '../../base/errors.js'
import type { ReachFailpoint } from '../../base/failpoint.js'
import { LIST_BEHIND_EVENT } from '../../ingest/commit-batch.js'
import { decide } from '../../ingest/decide.js'
import { readRecords, type Intake } from '../../ingest/intake.js'
import { findDiffering, loadKnown, refetchOf } from '../../ingest/known-rows.js'
import { membersOf, type Document, type ResourceIdentifier } from '../../source/jsonapi/document.js'
import { changeSchema } from '../../source/jsonapi/schemas.js'
import { readRecord } from '../../source/records/flatten.js'
import { resourceOfType } from '../../source/records/index.js'
import { toStorableJson, toStorableText } from '../../source/records/column.js'
import { checkTimestamp } from '../../source/records/timestamp.js'
import { quarantineRecords } from '../../warehouse/bookkeeping/quarantined-records.js'
import {
  countUntried,
  EVENT_LIST_ENTRY,
  NOTIFICATION_ENTRY,
  queueMissingReferences,
  queueRefetches,
} from '../../warehouse/bookkeeping/refetch-queue.js'
import type { Session } from '../../warehouse/connection/warehouse.js'
import {
  addContainerChanges,
  type ContainerChange,
} from '../../warehouse/rows/changed-attributes.js'
import { findContainersOfEvents } from '../../warehouse/rows/transport-event-lists.js'
import { doubtLists } from '../../warehouse/rows/unlisted-events.js'
import { writeRows } from '../../warehouse/rows/write-rows.js'
import type { Outcome } from '../receive/notification-states.js'
import {
  prepareNotifications,
  type ParsedNotification,
  type PreparedNotification,
} from './prepare-notifications.js'
import { readLinkage } from '../receive/delivery.js'

/**
 * Most records without a row that notifications may queue: some minutes of the request budget. The
 * lists of the next sync bring the rest.
 */
const MOST_UNKNOWN = 500

export interface ApplyOptions {
  /** Called with the number of records that are left to the next sync. */
  readonly onLeft?: (records: number) => void
  /** Time that refetches wait for more notifications about the same record. */
  readonly refetchDelayMs: number
  readonly reachFailpoint: ReachFailpoint
}

const DOUBT = 'a notification was not newer than the row'
const UNCONFIRMED = 'a notification told of a record without a live row'
const NEW_EVENTS = 'a notification told of transport events without their content'

/** A few milliseconds of work. */
const READ_AT_ONCE = 10

/**
 * Applies notifications of our own webhooks inside the caller's transaction, in the order in which
 * the source made them: rows by the common write rule, versions, changes of attributes, refetches,
 * and quarantine. Skips records in doubt (see `decide`). Sends no request. Applying the same ones
 * again changes nothing. Returns the outcome of each.
 */
export async function applyNotifications(
  session: Session,
  notifications: readonly ParsedNotification[],
  options: ApplyOptions,
): Promise<Map<string, Outcome>> {
  const { refetchDelayMs, reachFailpoint } = options
  const prepared = await prepareNotifications(session, notifications)
  const intakes: Intake[] = []
  for (const [at, one] of prepared.entries()) {
    if (at % READ_AT_ONCE === 0) await letOthersRun()
    intakes.push(readIncluded(one))
  }
  const known = await loadKnown(session, intakes, { mode: 'webhook' })
  const decision = decide(intakes, known, 'webhook')
  const doubtful = [...decision.doubtful]
  const references: ResourceIdentifier[] = []
  const listsBehind: string[] = []
  const inDoubt: string[] = []
  for (const { sightings, eventLists } of decision.rounds) {
    const batch = { syncRunId: null, mode: 'webhook', sightings, eventLists } as const
    const written = await writeRows(session, batch, reachFailpoint)
    for (const sighting of sightings) {
      references.push(...sighting.references)
      // Another writer's newer sighting came first.
      const keys = written.keys.get(sighting.resource.stream)
      if (keys?.has(sighting.key) !== true) doubtful.push(sighting)
    }
    for (const { containerId } of written.listsBehind) listsBehind.push(containerId)
    for (const containerId of written.inDoubt) inDoubt.push(containerId)
  }
  await doubtLists(session, inDoubt)
  await queueMissingReferences(session, references)
  const queue = (entries: readonly ResourceIdentifier[], why: string): Promise<void> =>
    queueRefetches(session, entries, why, refetchDelayMs)
  const leftOut = prepared.flatMap(({ unconfirmed }) => unconfirmed)
  const unknown = [...decision.unconfirmed, ...leftOut, ...decision.missing]
  if (unknown.length > 0) {
    const room = Math.max(0, MOST_UNKNOWN - (await countUntried(session, UNCONFIRMED)))
    const asked = new Set(unknown.slice(0, room))
    const isMissing = new Set(decision.missing)
    await queue(
      [...asked].filter((one) => !isMissing.has(one)),
      UNCONFIRMED,
    )
    await queueMissingReferences(
      session,
      [...asked].filter((one) => isMissing.has(one)),
      UNCONFIRMED,
    )
    if (unknown.length > room) options.onLeft?.(unknown.length - room)
  }
  await queue([...decision.fetchEvents].map(eventListEntry), NEW_EVENTS)
  await queue(listsBehind.map(eventListEntry), LIST_BEHIND_EVENT)
  const readable = doubtful.filter((sighting) => refetchOf(sighting) !== undefined)
  const differing = await findDiffering(session, readable)
  await queue(
    differing.map(refetchOf).filter((entry) => entry !== undefined),
    DOUBT,
  )
  const changes = prepared.flatMap((one) => readChangesets(one.document.included, one))
  await addContainerChanges(session, changes)
  const quarantined = intakes.flatMap((intake) => intake.quarantined)
  await quarantineRecords(session, quarantined, null)
  return followReferences(session, prepared, refetchDelayMs)
}

function eventListEntry(containerId: string): ResourceIdentifier {
  return { type: EVENT_LIST_ENTRY, id: containerId }
}

/** Only included records: the notification itself is in the inbox. */
function readIncluded(notification: ParsedNotification): Intake {
  const { notificationId, observedAt, document, isClamped } = notification
  const source = `webhook notification ${notificationId}`
  const options = { stream: 'other_resources', source, observedAt, isDoubtful: isClamped }
  return readRecords({ data: [], included: document.included }, options)
}

const THIN = 'a notification came without what it is about'

/**
 * Queues the subjects that notifications lack: the record itself, the container of a known
 * transport event, or else the notification, which the service may tell in full; the notification
 * also if records had to be left out. Returns the outcome of each: unresolved if only the
 * notification could be requested.
 */
async function followReferences(
  session: Session,
  notifications: readonly PreparedNotification[],
  refetchDelayMs: number,
): Promise<Map<string, Outcome>> {
  const thin = new Set(notifications.filter((one) => !one.isLacking && !holdsReference(one)))
  const eventIds = [...thin].flatMap(({ reference }) =>
    reference?.type === 'transport_event' ? [reference.id] : [],
  )
  const containersOf = await findContainersOfEvents(session, eventIds)
  const outcomes = new Map<string, Outcome>()
  const refetches: ResourceIdentifier[] = []
  for (const one of notifications) {
    const { notificationId, isNotification, isRefetched, isLacking, document } = one
    const targets = thin.has(one) ? targetsOf(one.reference, containersOf) : ownerLeftOut(one)
    const isEmpty = !isNotification && document.included.length === 0
    const isOpen = isLacking || (isNotification && thin.has(one) && targets.length === 0)
    outcomes.set(notificationId, isOpen ? 'unresolved' : isEmpty ? 'ignored' : 'processed')
    if (!isOpen) refetches.push(...targets)
    else if (isRefetched !== true) refetches.push({ type: NOTIFICATION_ENTRY, id: notificationId })
  }
  await queueRefetches(session, refetches, THIN, refetchDelayMs)
  return outcomes
}

/** A notification without a reference is about the records that it brings. */
function holdsReference({ reference, document }: ParsedNotification): boolean {
  if (reference === null) return document.included.length > 0
  return findIncluded(document, reference) !== undefined
}

/**
 * The container, or else the shipment, of the notification's subject, if the notification lacks it.
 */
function ownerLeftOut({ reference, document }: ParsedNotification): ResourceIdentifier[] {
  if (reference === null || resourceOfType(reference.type).path !== undefined) return []
  const { container, shipment } = membersOf(findIncluded(document, reference)?.relationships)
  const owner = readLinkage(container) ?? readLinkage(shipment)
  const isLeftOut = owner !== undefined && findIncluded(document, owner) === undefined
  return isLeftOut && resourceOfType(owner.type).path !== undefined ? [owner] : []
}

function findIncluded({ included }: Document, { type, id }: ResourceIdentifier) {
  return included.map(membersOf).find((record) => record.type === type && record.id === id)
}

function targetsOf(
  reference: ResourceIdentifier | null,
  containersOf: ReadonlyMap<string, readonly string[]>,
): ResourceIdentifier[] {
  if (reference === null) return []
  if (resourceOfType(reference.type).path !== undefined) return [reference]
  if (reference.type !== 'transport_event') return []
  return (containersOf.get(reference.id) ?? []).map((id) => ({ type: 'container', id }))
}

/** A longer name is not an attribute, and a key could not hold it. */
const LONGEST_NAME = 255

/**
 * The changes in included records: `changeset: {attribute: [old, new]}` of a
 * `container_updated_event`, or of any type with a changeset and a container. A value that is not a
 * pair counts as the new one. A record without a usable time gets that of its notification. Other
 * records are skipped: they are stored whole.
 */
export function readChangesets(
  included: readonly unknown[],
  notification: { readonly notificationId: string; readonly observedAt: Date },
): ContainerChange[] {
  return included.flatMap((record) => {
    const { type, attributes, relationships } = changeSchema.parse(record)
    const { changeset, timestamp, data_source: source, timezone } = attributes
    const { container } = relationships
    if (type === 'container' || container === null || changeset === null) return []
    const changeId = idOf(record)
    if (changeId === undefined) return []
    const isTimed = timestamp !== null && checkTimestamp(timestamp).isValid
    const frame = {
      ...notification,
      containerId: container.id,
      changeId,
      changedAt: isTimed ? timestamp : notification.observedAt.toISOString(),
      dataSource: textOrNull(source),
      timezone: textOrNull(timezone),
    }
    return Object.entries(changeset).flatMap(([name, value]) => {
      const attribute = toStorableText(name).text
      if (attribute === '' || attribute.length > LONGEST_NAME) return []
      const isPair = Array.isArray(value) && value.length === 2
      const [oldValue, newValue] = isPair ? (value as readonly unknown[]) : [undefined, value]
      return [
        { ...frame, attribute, oldValue: jsonOrNull(oldValue), newValue: jsonOrNull(newValue) },
      ]
    })
  })
}

function idOf(record: unknown): string | undefined {
  try {
    return readRecord(record).id
  } catch (thrown) {
    // Other code sets such a record aside, with its reason.
    if (thrown instanceof ApiContractError) return undefined
    throw thrown
  }
}

function jsonOrNull(value: unknown): string | null {
  return value === undefined ? null : toStorableJson(value).text
}

function textOrNull(value: string | null): string | null {
  return value === null ? null : toStorableText(value).text
}
