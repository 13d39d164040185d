import { hash } from 'node:crypto'
import { ApiContractError } from '../errors.js'
import type { ResourceIdentifier } from '../jsonapi/document.js'
import { stringifyExactJson } from '../jsonapi/exact-json.js'
import { encodeValue, type EncodedValue } from './column.js'
import {
  ANY_TYPE,
  REFERENCE_TYPES,
  type FlatRecord,
  type RelationshipSpec,
  type Resource,
} from './resource.js'
import { toStorableJson } from './storable-text.js'

/** Facts about a record that stand in the request and not in the record: whose transport events were asked for. */
export interface FlattenContext {
  readonly containerId?: string
}

type Members = Readonly<Record<string, unknown>>

/** Longer ids exist nowhere; refusing them keeps every key within what an index can hold. */
const MAX_ID_LENGTH = 255

/**
 * One resource object as a row. Pure: same record, same row. Nothing is lost: an attribute without a column goes to
 * `unmapped`, a value that cannot be its column's type becomes null and its original goes to `coercions`, an absent
 * attribute stays absent. Throws ApiContractError (fate: quarantine) when the record has no usable id, type or frame.
 */
export function flattenRecord(
  resource: Resource,
  record: unknown,
  context: FlattenContext = {},
): FlatRecord {
  const { id, members } = readIdentity(record)
  if (resource.type !== ANY_TYPE && members.type !== resource.type) {
    throw contractError(`type is not "${resource.type}"`, '/type')
  }
  const attributes = readMembers(members, 'attributes')
  if (attributes === undefined && resource.requiresAttributes) {
    throw contractError('attributes are missing', '/attributes')
  }
  const row = new RowBuilder(resource)
  row.setId(id)
  if (context.containerId !== undefined) row.trySet('container_id', context.containerId)
  if (attributes !== undefined) flattenAttributes(row, attributes, id)
  const relationships = readMembers(members, 'relationships')
  if (relationships !== undefined) flattenRelationships(row, relationships)
  keepOtherMembers(row, members, id)
  resource.derive?.({ ...members, id }, row)
  return row.finish()
}

interface Identity {
  readonly id: string
  readonly members: Members
}

/** The id and members of a record. Throws ApiContractError with a pointer to what is not usable. */
export function readIdentity(record: unknown): Identity {
  if (!isMembers(record)) throw contractError('the record is not an object', '')
  const { id, type } = record
  if (typeof type !== 'string' || type === '') throw contractError('type is missing', '/type')
  if (typeof id !== 'string' || id === '') throw contractError('id is missing or no text', '/id')
  if (id.length > MAX_ID_LENGTH) {
    throw contractError(`id is longer than ${MAX_ID_LENGTH} characters`, '/id')
  }
  if (/[\p{Cc}\p{Surrogate}]/u.test(id)) {
    throw contractError('id holds control characters or lone surrogates', '/id')
  }
  return { id, members: record }
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function readMembers(members: Members, name: string): Members | undefined {
  const value = members[name]
  if (value === undefined) return undefined
  if (!isMembers(value)) throw contractError(`${name} is not an object`, `/${name}`)
  return value
}

function contractError(message: string, pointer: string): ApiContractError {
  return new ApiContractError(message, { pointer })
}

function flattenAttributes(row: RowBuilder, attributes: Members, id: string): void {
  const specs = row.resource.attributes
  for (const name of Object.keys(attributes)) {
    const value = attributes[name]
    if (specs.has(name)) row.set(name, value)
    else if (name !== 'id' || value !== id) row.unmapped(name, value)
  }
}

function flattenRelationships(row: RowBuilder, relationships: Members): void {
  for (const [name, relationship] of Object.entries(relationships)) {
    const spec = row.resource.relationships.get(name)
    const data = isMembers(relationship) ? relationship.data : undefined
    if (spec === undefined) row.unmapped(`relationships.${name}`, relationship)
    else if (data !== undefined) flattenRelationship(row, name, spec, data)
    else if (!isMembers(relationship)) row.refuseRelationship(name, spec, relationship)
  }
}

function flattenRelationship(
  row: RowBuilder,
  name: string,
  spec: RelationshipSpec,
  data: unknown,
): void {
  if (spec.kind === 'many') {
    const ids = linkedIds(data)
    if (ids === undefined) row.refuseRelationship(name, spec, data)
    else row.set(spec.column, ids)
    return
  }
  const id = data === null ? null : identifierId(data)
  if (id === undefined) {
    row.refuseRelationship(name, spec, data)
    return
  }
  row.set(`${name}_id`, id)
  if (id !== null && isMembers(data)) row.refer(data.type, id)
  if (spec.kind === 'polymorphic') {
    row.set(`${name}_type`, isMembers(data) ? data.type : null)
  }
}

/**
 * The ids of a to-many linkage, sorted: it is a set, and an order that changes from answer to answer must not look like a change.
 * Undefined when it is no list of identifiers.
 */
export function linkedIds(data: unknown): string[] | undefined {
  if (!Array.isArray(data)) return undefined
  const ids = (data as readonly unknown[]).map(identifierId).filter((id) => id !== undefined)
  return ids.length === data.length ? ids.sort() : undefined
}

function identifierId(identifier: unknown): string | undefined {
  const id = isMembers(identifier) ? identifier.id : undefined
  return typeof id === 'string' && id !== '' && id.length <= MAX_ID_LENGTH ? id : undefined
}

const FRAME_MEMBERS = new Set(['id', 'type', 'attributes', 'relationships'])

/** `links.self` that only repeats type and id says nothing; any other member of the record is kept. */
function keepOtherMembers(row: RowBuilder, members: Members, id: string): void {
  for (const [name, value] of Object.entries(members)) {
    if (FRAME_MEMBERS.has(name)) continue
    if (name !== 'links' || !isMembers(value)) row.unmapped(name, value)
    else keepLinks(row, value, id)
  }
}

function keepLinks(row: RowBuilder, links: Members, id: string): void {
  const ownPath = `/v2/${row.resource.path ?? ''}/${id}`
  for (const [name, link] of Object.entries(links)) {
    if (name !== 'self' || link !== ownPath) row.unmapped(`links.${name}`, link)
  }
}

class RowBuilder {
  readonly resource: Resource
  readonly #values: (EncodedValue | undefined)[]
  #unmapped: Record<string, unknown> | undefined
  #coercions: Record<string, { reason: string; original: string }> | undefined
  readonly #references: ResourceIdentifier[] = []

  constructor(resource: Resource) {
    this.resource = resource
    this.#values = new Array<EncodedValue | undefined>(resource.columns.length).fill(undefined)
  }

  setId(id: string): void {
    this.#values[this.resource.columnIndex.get(this.resource.idColumn) ?? -1] = id
  }

  readonly set = (name: string, value: unknown): void => {
    const index = this.resource.columnIndex.get(name)
    const column = index === undefined ? undefined : this.resource.columns[index]
    if (index === undefined || column === undefined) {
      throw new Error(`${this.resource.stream} has no column ${name}`)
    }
    const encoded = encodeValue(column.type, value)
    this.#values[index] = encoded.value
    if (encoded.reason !== undefined) this.#coerce(name, encoded.reason, value)
  }

  /** Sets a column that not every resource has. */
  trySet(name: string, value: unknown): void {
    if (this.resource.columnIndex.has(name)) this.set(name, value)
  }

  readonly unmapped = (name: string, value: unknown): void => {
    this.#unmapped ??= Object.create(null) as Record<string, unknown>
    this.#unmapped[name] = value
  }

  refer(type: unknown, id: string): void {
    if (REFERENCE_TYPES.some((name) => name === type)) {
      this.#references.push({ type: String(type), id })
    }
  }

  /** The linkage has another shape than the interface says: null, flagged, and the original kept. */
  refuseRelationship(name: string, spec: RelationshipSpec, original: unknown): void {
    const columns = spec.kind === 'many' ? [spec.column] : [`${name}_id`]
    if (spec.kind === 'polymorphic') this.set(`${name}_type`, null)
    for (const column of columns) {
      this.set(column, null)
      this.#coerce(column, 'not a resource linkage', original)
    }
  }

  finish(): FlatRecord {
    const unmapped = this.#unmapped === undefined ? null : toStorableJson(this.#unmapped).text
    const coercions = this.#coercions === undefined ? null : toStorableJson(this.#coercions).text
    const values = this.#values
    return {
      resource: this.resource,
      key: this.#key(),
      values,
      unmapped,
      coercions,
      references: this.#references,
      fingerprint: fingerprint(values, unmapped, coercions),
    }
  }

  #key(): string {
    return this.resource.keyColumns
      .map((name) => {
        const value = this.#values[this.resource.columnIndex.get(name) ?? -1]
        if (typeof value !== 'string' || value === '') {
          throw contractError(`${name} is missing, and the row needs it as its key`, '')
        }
        if (value.length > MAX_ID_LENGTH) {
          throw contractError(`${name} is longer than ${MAX_ID_LENGTH} characters`, '')
        }
        return value
      })
      .join(' ')
  }

  #coerce(column: string, reason: string, original: unknown): void {
    this.#coercions ??= {}
    this.#coercions[column] = { reason, original: stringifyExactJson(original) }
  }
}

/** 128 bits: two different rows of one account never meet in it. Absent and null differ. */
function fingerprint(
  values: readonly (EncodedValue | undefined)[],
  unmapped: EncodedValue,
  coercions: EncodedValue,
): string {
  const parts: (string | number | null)[] = values.map((value) => (value === undefined ? 0 : value))
  parts.push(unmapped, coercions)
  return hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 22)
}
