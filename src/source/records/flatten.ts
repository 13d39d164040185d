import { ApiContractError } from '../../base/errors.js'
import { isObject, type Members, type ResourceIdentifier } from '../jsonapi/document.js'
import { stringifyExactJson } from '../jsonapi/exact-json.js'
import { digestOf } from '../jsonapi/raw-record.js'
import {
  idProblem,
  LONGEST_ID,
  recordSchema,
  refusalOf,
  type RecordFrame,
} from '../jsonapi/schemas.js'
import {
  encodePlainly,
  encodeValue,
  REPLACED,
  toStorableJson,
  toStorableText,
  type Column,
  type EncodedValue,
} from './column.js'
import {
  fingerprint,
  isReferenceType,
  rowDigest,
  type RelationshipPlan,
  type RelationshipSpec,
  type Resource,
  type SeenIn,
  type Sighting,
  type UnknownValue,
} from './resource.js'

/**
 * One resource object as a row. Pure: same record, same row. Nothing is lost: an attribute without
 * a column goes to `unmapped`, a value that cannot be its column's type becomes null and its
 * original goes to `coercions`, an absent attribute stays absent. Throws ApiContractError (fate:
 * quarantine) when the id, type or frame of the record is not usable.
 */
export function flattenRecord(resource: Resource, record: unknown, seen: SeenIn): Sighting {
  const members = readRecord(record)
  const { id, attributes, relationships } = members
  if (attributes === undefined && resource.requiresAttributes) {
    throw new ApiContractError('attributes are missing', { pointer: '/attributes' })
  }
  const row = new RowBuilder(resource)
  row.setId(id)
  if (attributes !== undefined) flattenAttributes(row, attributes, id)
  if (relationships !== undefined) flattenRelationships(row, relationships)
  const { containerId, definitionId } = seen
  const isHelped =
    (containerId !== undefined && row.fillIn('container_id', containerId)) ||
    (definitionId !== undefined && row.fillIn('definition_id', definitionId)) ||
    resource.isMadeWithOthers === true
  keepOtherMembers(row, members, id)
  resource.derive?.({ ...members, id }, row, seen)
  // Its bytes alone would not make this row.
  return row.finish(seen, isHelped ? undefined : digestOf(record))
}

/**
 * A record whose frame is usable, as it is. Throws ApiContractError with a pointer to the part that
 * is not.
 */
export function readRecord(record: unknown): RecordFrame & Members {
  const { error } = recordSchema.safeParse(record)
  if (error === undefined) return record as RecordFrame & Members
  const { pointer, reason } = refusalOf(error)
  throw new ApiContractError(reason, { pointer })
}

function flattenAttributes(row: RowBuilder, attributes: Members, id: string): void {
  const places = row.resource.plan.attributes
  for (const name of Object.keys(attributes)) {
    const value = attributes[name]
    const place = places.get(name)
    if (place !== undefined) row.setColumn(place, value)
    else if (name !== 'id' || value !== id) row.unmapped(unmappedName(name), value)
  }
}

/**
 * JSON:API allows no dot in a name. Should one come, it must not take the place of a relationship
 * or a link.
 */
function unmappedName(attribute: string): string {
  return attribute.includes('.') ? `attributes.${attribute}` : attribute
}

function flattenRelationships(row: RowBuilder, relationships: Members): void {
  const { ignoredRelationships } = row.resource
  for (const name of Object.keys(relationships)) {
    if (ignoredRelationships?.includes(name) === true) continue
    const relationship = relationships[name]
    const plan = row.resource.plan.relationships.get(name)
    if (plan === undefined) row.unmapped(`relationships.${name}`, relationship)
    else if (!isObject(relationship)) row.refuseRelationship(plan, relationship)
    else flattenRelationship(row, name, plan, relationship)
  }
}

/**
 * The linkage becomes columns. The rest of the relationship (links, meta, an unexpected target
 * type) is kept beside them.
 */
function flattenRelationship(
  row: RowBuilder,
  name: string,
  plan: RelationshipPlan,
  relationship: Members,
): void {
  const { data } = relationship
  if (data !== undefined && !flattenLinkage(row, plan, data)) {
    row.refuseRelationship(plan, data)
  } else if (saysMoreThanColumns(plan.spec, data)) {
    row.unmapped(`relationships.${name}`, relationship)
    return
  }
  if (hasOnly(relationship, 'data')) return
  const others = Object.entries(relationship).filter(([member]) => member !== 'data')
  row.unmapped(`relationships.${name}`, Object.fromEntries(others))
}

function hasOnly(members: Members, only: string): boolean {
  for (const name in members) if (name !== only) return false
  return true
}

/** False when the linkage has another shape than in the interface; then nothing was set. */
function flattenLinkage(row: RowBuilder, plan: RelationshipPlan, data: unknown): boolean {
  const { spec, place, typePlace } = plan
  if (spec.kind === 'many') {
    const ids = linkedIds(data)
    if (ids !== undefined) row.setColumn(place, ids)
    return ids !== undefined
  }
  const id = data === null ? null : identifierId(data)
  if (id === undefined) return false
  row.setColumn(place, id)
  const type = isObject(data) ? data.type : null
  if (id !== null) row.refer(type, id)
  if (typePlace !== undefined) row.setColumn(typePlace, type)
  return true
}

/**
 * True when an identifier points to another type than in the interface, or has members beside
 * `type` and `id`.
 */
function saysMoreThanColumns(spec: RelationshipSpec, data: unknown): boolean {
  if (!Array.isArray(data)) return identifierSaysMore(spec, data)
  return data.some((identifier) => identifierSaysMore(spec, identifier))
}

function identifierSaysMore(spec: RelationshipSpec, identifier: unknown): boolean {
  if (!isObject(identifier)) return false
  const { type } = identifier
  const isExpected = spec.kind === 'polymorphic' || type === undefined || type === spec.type
  if (!isExpected) return true
  for (const name in identifier) if (name !== 'type' && name !== 'id') return true
  return false
}

/**
 * The ids of a to-many linkage, sorted: it is a set, and an order that changes from answer to
 * answer must not look like a change. Undefined when it is not a list of identifiers.
 */
export function linkedIds(data: unknown): string[] | undefined {
  if (!Array.isArray(data)) return undefined
  const ids = (data as readonly unknown[]).map(identifierId).filter((id) => id !== undefined)
  return ids.length === data.length ? ids.sort() : undefined
}

function identifierId(identifier: unknown): string | undefined {
  const id = isObject(identifier) ? identifier.id : undefined
  return typeof id === 'string' && id !== '' && id.length <= LONGEST_ID ? id : undefined
}

const FRAME_MEMBERS = new Set(['id', 'type', 'attributes', 'relationships'])

/**
 * `links.self` that only repeats type and id is dropped; any other member of the record is kept.
 */
function keepOtherMembers(row: RowBuilder, members: Members, id: string): void {
  for (const name of Object.keys(members)) {
    if (FRAME_MEMBERS.has(name)) continue
    const value = members[name]
    if (name !== 'links' || !isObject(value)) row.unmapped(`record.${name}`, value)
    else keepLinks(row, value, id)
  }
}

function keepLinks(row: RowBuilder, links: Members, id: string): void {
  const ownPath = `/v2/${row.resource.path ?? ''}/${id}`
  for (const [name, link] of Object.entries(links)) {
    if (name !== 'self' || link !== ownPath) row.unmapped(`links.${name}`, link)
  }
}

const WITHHELD = 'withheld: the definition is sensitive'

const NONE: readonly never[] = []

const sharedTexts = new Array<string>(4_096).fill('')

/**
 * The equal text of an earlier record, if it is short and at hand: a container, a place and a
 * vessel are named by each event, and every collection of garbage copies what a page keeps.
 */
function shared(text: string): string {
  const at = text.length - 2
  if (at < 2 || at > 62) return text
  const ends = text.charCodeAt(0) + 31 * text.charCodeAt(1) + 961 * text.charCodeAt(at + 1)
  const slot = (ends + 29_791 * (at + text.charCodeAt(at))) % sharedTexts.length
  const other = sharedTexts[slot]
  if (other === text) return other
  sharedTexts[slot] = text
  return text
}

class RowBuilder {
  readonly resource: Resource
  readonly #values: (EncodedValue | undefined)[]
  #unmapped: Record<string, unknown> | undefined
  #coercions: Record<string, { reason: string; original: string }> | undefined
  #references: ResourceIdentifier[] | undefined
  #unknownValues: UnknownValue[] | undefined
  #unknownMembers: Set<string> | undefined

  constructor(resource: Resource) {
    this.resource = resource
    this.#values = new Array<EncodedValue | undefined>(resource.columns.length).fill(undefined)
  }

  setId(id: string): void {
    this.#values[this.resource.plan.idPlace] = id
  }

  set(name: string, value: unknown): void {
    const place = this.resource.columnIndex.get(name)
    if (place === undefined) throw new Error(`${this.resource.stream} has no column ${name}`)
    this.setColumn(place, value)
  }

  setColumn(place: number, value: unknown): void {
    const column = this.resource.columns[place]
    if (column === undefined) throw new Error(`${this.resource.stream} has no column ${place}`)
    const plain = encodePlainly(column.type, value)
    const encoded = plain === undefined ? this.#encode(column, value) : plain && shared(plain)
    this.#values[place] = encoded
    if (encoded !== null && column.knownValues?.has(encoded) === false) {
      this.unknownValue(column.name, encoded)
    }
  }

  withhold(name: string): void {
    this.set(name, null)
    this.#coerce(name, WITHHELD, null)
  }

  #encode({ name, type }: Column, value: unknown): EncodedValue {
    const encoded = encodeValue(type, value)
    if (encoded.reason !== undefined) this.#coerce(name, encoded.reason, value)
    return encoded.value
  }

  /**
   * Sets a column where the resource has it and the record sent nothing usable; returns whether it
   * did.
   */
  fillIn(name: string, value: unknown): boolean {
    const index = this.resource.columnIndex.get(name)
    if (index === undefined || (this.#values[index] ?? null) !== null) return false
    this.set(name, value)
    return true
  }

  unmapped(name: string, value: unknown): void {
    this.#unmapped ??= Object.create(null) as Record<string, unknown>
    this.#unmapped[name] = value
  }

  unknownValue(attribute: string, value: string): void {
    this.#unknownValues ??= []
    this.#unknownValues.push({ attribute, value })
  }

  unknownMember(name: string): void {
    this.#unknownMembers ??= new Set()
    this.#unknownMembers.add(name)
  }

  refer(type: unknown, id: string): void {
    if (idProblem(id) === undefined && isReferenceType(type)) {
      this.#references ??= []
      this.#references.push({ type: String(type), id: shared(id) })
    }
  }

  /** For a linkage of another shape than in the interface: null, flagged, and the original kept. */
  refuseRelationship({ place, typePlace }: RelationshipPlan, original: unknown): void {
    if (typePlace !== undefined) this.setColumn(typePlace, null)
    this.setColumn(place, null)
    this.#coerce(this.resource.columns[place]?.name ?? '', 'not a resource linkage', original)
  }

  finish({ observedAt, isComplete }: SeenIn, digest: string | undefined): Sighting {
    const unmapped = this.#encodeUnmapped()
    const coercions = this.#coercions === undefined ? null : toStorableJson(this.#coercions).text
    const values = this.#values
    const rowFingerprint = fingerprint(values, unmapped, coercions)
    return {
      resource: this.resource,
      observedAt,
      isComplete,
      key: this.#key(),
      values,
      unmapped,
      unmappedNames: this.#unmapped === undefined ? NONE : Object.keys(this.#unmapped),
      unknownValues: this.#unknownValues ?? NONE,
      unknownMembers: this.#unknownMembers === undefined ? NONE : [...this.#unknownMembers],
      coercions,
      references: this.#references?.slice() ?? NONE, // A copy has nothing to grow into.
      fingerprint: rowFingerprint,
      digest: digest === undefined ? null : rowDigest(this.resource, digest, rowFingerprint),
    }
  }

  /**
   * Characters that had to be replaced are flagged under `_unmapped`, with the members they were
   * in.
   */
  #encodeUnmapped(): EncodedValue {
    if (this.#unmapped === undefined) return null
    // Sorted, so that a source that reorders its attributes changes nothing.
    const sorted = Object.entries(this.#unmapped).sort(([one], [two]) => (one < two ? -1 : 1))
    const { text, isReplaced } = toStorableJson(Object.fromEntries(sorted))
    if (isReplaced) this.#coerce('_unmapped', REPLACED, withReplacements(this.#unmapped))
    return text
  }

  #key(): string {
    const { keyColumns, plan } = this.resource
    let key = ''
    for (let at = 0; at < keyColumns.length; at += 1) {
      const value = this.#values[plan.keyPlaces[at] ?? -1]
      // The parts are joined by a space: two rows would share a key if any but the last held one.
      const isAmbiguous = at < keyColumns.length - 1 && value?.includes(' ') === true
      this.#checkKeyPart(keyColumns[at] ?? '', value, isAmbiguous)
      key = at === 0 ? String(value) : `${key} ${String(value)}`
    }
    return key
  }

  #checkKeyPart(name: string, value: unknown, isAmbiguous: boolean): void {
    const isReplaced = this.#coercions?.[name] !== undefined
    const problem =
      idProblem(value) ??
      (isReplaced ? 'holds control characters or lone surrogates' : undefined) ??
      (isAmbiguous ? 'holds a space' : undefined)
    if (problem === undefined) return
    throw new ApiContractError(`${name} ${problem}, and the row needs it as its key`, {
      pointer: '',
    })
  }

  #coerce(column: string, reason: string, original: unknown): void {
    this.#coercions ??= {}
    this.#coercions[column] = { reason, original: stringifyExactJson(original) }
  }
}

/**
 * The members that cannot be stored as sent, and those whose names the replaced names fall together
 * with.
 */
function withReplacements(members: Members): Members {
  const entries = Object.entries(members)
  const isReplaced = ([name, value]: [string, unknown]): boolean =>
    toStorableJson({ [name]: value }).isReplaced
  const storableNames = new Set(
    entries.filter(isReplaced).map(([name]) => toStorableText(name).text),
  )
  return Object.fromEntries(
    entries.filter((entry) => isReplaced(entry) || storableNames.has(entry[0])),
  )
}
