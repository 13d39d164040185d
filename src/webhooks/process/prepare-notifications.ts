import { sql } from 'kysely'
import { ApiContractError } from '../../base/errors.js'
import {
  membersOf,
  NO_DOCUMENT,
  type Document,
  type ResourceIdentifier,
} from '../../source/jsonapi/document.js'
import { JsonNestingError } from '../../source/jsonapi/exact-json.js'
import { parseJsonBytes } from '../../source/jsonapi/parse-json-bytes.js'
import { documentSchema, refusalOf } from '../../source/jsonapi/schemas.js'
import { resourceOfType } from '../../source/records/index.js'
import type { Session } from '../../warehouse/connection/warehouse.js'
import { findContainersOfEvents } from '../../warehouse/rows/transport-event-lists.js'
import type { ClaimedNotification } from './claim-notifications.js'
import { readLinkage } from '../receive/delivery.js'
import { tableRef } from '../../warehouse/connection/typed-database.js'

export interface ParsedNotification extends ClaimedNotification {
  readonly document: Document
  /** False for a signed body with other content. */
  readonly isNotification: boolean
  /** Refetched because its delivery lacked its subject: another read would not bring it either. */
  readonly isRefetched?: boolean
}

/**
 * Parses the body of a stored notification. Bytes that are not UTF-8 become U+FFFD in the rows,
 * with a flag, as in every text of the source. Throws ApiContractError if the body is not a
 * JSON:API document.
 */
export function parseNotification(claimed: ClaimedNotification): ParsedNotification {
  const document = claimed.body === null ? NO_DOCUMENT : readDocument(claimed.body)
  const isNotification = membersOf(document.data[0]).type === 'webhook_notification'
  return { ...claimed, document, isNotification }
}

function readDocument(body: Buffer): Document {
  const { data: document, error } = documentSchema.safeParse(parseBody(body))
  if (document !== undefined) return document
  const { pointer, reason } = refusalOf(error)
  throw new ApiContractError(`the body is not a JSON:API document: ${reason}`, { pointer })
}

/** Keeps the digests of its records, so that a sync recognizes the same bytes. */
function parseBody(body: Buffer): unknown {
  try {
    return parseJsonBytes(body)
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError) && !(thrown instanceof JsonNestingError)) throw thrown
    // The parser's message quotes the body, so it is not kept as the cause.
    const why = thrown instanceof JsonNestingError ? thrown.message : 'the body is not JSON'
    throw new ApiContractError(why, { pointer: '' })
  }
}

/** ParsedNotification with the records that can be stored now. */
export interface PreparedNotification extends ParsedNotification {
  /** Records were left out because their container is unconfirmed or unknown. */
  readonly isLacking: boolean
  /** Containers and shipments without a live row whose records were left out. */
  readonly unconfirmed: readonly ResourceIdentifier[]
}

/**
 * Leaves out records that must not be stored yet: records without an address of their own (updates,
 * custom fields, future types) whose container or shipment lacks a live row, because nothing could
 * confirm them; and transport events without a container, unless the notification or the warehouse
 * tells it.
 */
export async function prepareNotifications(
  session: Session,
  notifications: readonly ParsedNotification[],
): Promise<PreparedNotification[]> {
  const owners = await loadLiveOwners(session, notifications)
  const homeless = notifications.flatMap(({ document }) => document.included.filter(isHomeless))
  const eventIds = homeless
    .map((event) => membersOf(event).id)
    .filter((id) => typeof id === 'string')
  const containersOf = await findContainersOfEvents(session, eventIds)
  return notifications.map((one) => prepare(one, owners, containersOf))
}

function prepare(
  one: ParsedNotification,
  liveOwners: ReadonlySet<string>,
  containersOf: ReadonlyMap<string, readonly string[]>,
): PreparedNotification {
  const unconfirmed: ResourceIdentifier[] = []
  const included: unknown[] = []
  for (const record of one.document.included) {
    const unknown = ownersOf(record).filter((owner) => !liveOwners.has(keyOf(owner)))
    unconfirmed.push(...unknown.map(({ type, id }) => ({ type: type || 'container', id })))
    if (unknown.length > 0) continue
    const placed = isHomeless(record) ? placeEvent(record, one, containersOf) : record
    if (placed !== undefined) included.push(placed)
  }
  const isLacking = included.length < one.document.included.length
  return { ...one, document: { ...one.document, included }, isLacking, unconfirmed }
}

const OWNER_TYPES = ['container', 'shipment'] as const

/** The owners of a record without an address of its own; one of unknown type has the type ''. */
function ownersOf(record: unknown): ResourceIdentifier[] {
  const { type, relationships } = membersOf(record)
  if (typeof type !== 'string' || type === 'transport_event') return []
  if (resourceOfType(type).path !== undefined) return []
  return Object.entries(membersOf(relationships)).flatMap(([name, relationship]) =>
    [membersOf(relationship).data].flat().flatMap((data) => {
      const isUntyped = name === 'entity' && membersOf(data).type === undefined
      const owner = readLinkage({ data: isUntyped ? { ...membersOf(data), type: 'any' } : data })
      if (owner === undefined) return []
      if (isUntyped) return [{ type: '', id: owner.id }]
      return OWNER_TYPES.some((known) => known === owner.type) ? [owner] : []
    }),
  )
}

/** The owners with a live row, by `keyOf`. */
async function loadLiveOwners(
  session: Session,
  notifications: readonly ParsedNotification[],
): Promise<ReadonlySet<string>> {
  const owners = notifications.flatMap(({ document }) => document.included.flatMap(ownersOf))
  const live = new Set<string>()
  if (owners.length === 0) return live
  for (const type of OWNER_TYPES) {
    const { stream, idColumn } = resourceOfType(type)
    const rows = await session.query(
      'look for what notifications are about',
      sql<{ id: string }>`select ${sql.id(idColumn)} as id
from ${tableRef(`data.${stream}`)}
where ${sql.id(idColumn)} = any(${owners.filter((owner) => ['', type].includes(owner.type)).map(({ id }) => id)}::text[]) and _deleted_at is null`,
    )
    for (const { id } of rows) live.add(keyOf({ type, id })).add(keyOf({ type: '', id }))
  }
  return live
}

function keyOf({ type, id }: ResourceIdentifier): string {
  return `${type} ${id}`
}

/** A transport event without its container. */
function isHomeless(record: unknown): boolean {
  return membersOf(record).type === 'transport_event' && containerOf(record) === undefined
}

/**
 * The record with its container: one in the same document, one that the notification or another of
 * its records names, or one that the warehouse knows.
 */
function placeEvent(
  record: unknown,
  { document, reference }: ParsedNotification,
  containersOf: ReadonlyMap<string, readonly string[]>,
): unknown {
  const { id, relationships } = membersOf(record)
  const told = [
    ...(reference === null ? [] : [reference]),
    ...document.included.flatMap((other) => readLinkage({ data: other }) ?? []),
    ...[...document.data, ...document.included].flatMap((other) => containerOf(other) ?? []),
  ].filter(({ type }) => type === 'container')
  const candidates = new Set(told.map((one) => one.id))
  const known = typeof id === 'string' ? (containersOf.get(id) ?? []) : []
  const [containerId, ...others] = candidates.size === 1 ? [...candidates] : known
  if (containerId === undefined || others.length > 0) return undefined
  const container = { data: { type: 'container', id: containerId } }
  return { ...membersOf(record), relationships: { ...membersOf(relationships), container } }
}

function containerOf(record: unknown): ResourceIdentifier | undefined {
  return readLinkage(membersOf(membersOf(record).relationships).container)
}
