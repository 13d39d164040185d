import { hash } from 'node:crypto'
import type { ResourceIdentifier } from '../jsonapi/document.js'
import type { Column, ColumnType, EncodedValue } from './column.js'

/** The storage of one attribute of a resource type. The column has the attribute's name. */
export interface AttributeSpec<
  Type extends ColumnType = ColumnType,
  IsMaterial extends boolean = boolean,
> {
  readonly type: Type
  readonly isMaterial: IsMaterial
  /** See `Column`. */
  readonly knownValues?: ReadonlySet<string>
}

/**
 * `one`: `<name>_id`. `polymorphic`: also `<name>_type`. `many`: a list of ids, immaterial. `type`
 * is the target the interface names; a linkage to another one is kept whole in `_unmapped`, because
 * the column would not tell.
 */
export type RelationshipSpec = ToOne | Polymorphic | ToMany

interface ToOne {
  readonly kind: 'one'
  readonly type: string
}

interface Polymorphic {
  readonly kind: 'polymorphic'
}

interface ToMany<ColumnName extends string = string> {
  readonly kind: 'many'
  readonly type: string
  readonly column: ColumnName
}

export type Stream =
  | 'containers'
  | 'custom_field_definitions'
  | 'custom_field_options'
  | 'custom_fields'
  | 'metro_areas'
  | 'other_resources'
  | 'ports'
  | 'rail_terminals'
  | 'raw_events'
  | 'shipments'
  | 'terminals'
  | 'tracking_requests'
  | 'transport_events'
  | 'vessels'
  | 'webhook_event_categories'

export type HistoryTable = 'container_history' | 'shipment_history'

/**
 * Sets columns that are not one attribute or relationship: `set` a value, `unmapped` keeps a member
 * without a column.
 */
export interface DeriveTarget {
  set(column: string, value: unknown): void
  /** Stores nothing of a value that was sent, and notes that in `_coercions`. */
  withhold(column: string): void
  unmapped(name: string, value: unknown): void
  /** Reports a member that the interface does not name, inside an attribute kept as sent. */
  unknownMember(name: string): void
  /** Reports a value inside a list that the interface does not name. */
  unknownValue(attribute: string, value: string): void
}

export type Derive = (
  record: Readonly<Record<string, unknown>> & { readonly id: string },
  target: DeriveTarget,
  seen: SeenIn,
) => void

export interface ResourceDefinition {
  /** JSON:API `type`; `*` for the table that takes every type without a table of its own. */
  readonly type: string
  readonly stream: Stream
  /** The record's own id, as a column: the type and `_id`, unless given. */
  readonly idColumn?: string
  /** The id alone, unless given. */
  readonly keyColumns?: readonly string[]
  readonly attributes: Attributes
  readonly relationships?: Readonly<Record<string, RelationshipSpec>>
  /** Neither stored nor reported as unknown. */
  readonly ignoredRelationships?: readonly string[]
  readonly extraColumns?: readonly Column[]
  /** The interface requires `attributes` on these types; without them a record is empty. */
  readonly requiresAttributes?: boolean
  /** Path of a single read below the base address, where the interface has one. */
  readonly path?: string
  /** The table that keeps versions of a row, where there is one. */
  readonly historyTable?: HistoryTable
  readonly derive?: Derive
  /** The bytes of a record alone do not make its row: they do not prove that it is unchanged. */
  readonly isMadeWithOthers?: boolean
}

/** A resource type, and the table that its records become rows of. */
export interface Resource extends Omit<
  ResourceDefinition,
  'idColumn' | 'keyColumns' | 'attributes' | 'relationships' | 'extraColumns'
> {
  readonly idColumn: string
  readonly keyColumns: readonly string[]
  /** Key columns first. */
  readonly columns: readonly Column[]
  readonly columnIndex: ReadonlyMap<string, number>
  readonly attributes: ReadonlyMap<string, AttributeSpec>
  readonly relationships: ReadonlyMap<string, RelationshipSpec>
  readonly plan: ReadingPlan
  /** The reading of the type by this version, in few characters: begins the digests of rows. */
  readonly readingMark: string
}

/** The places in `columns` for the content of a record, found once and not for every record. */
export interface ReadingPlan {
  readonly idPlace: number
  readonly keyPlaces: readonly number[]
  readonly attributes: ReadonlyMap<string, number>
  readonly relationships: ReadonlyMap<string, RelationshipPlan>
}

/** The columns of a relationship: of its id or ids, and of the type where that is stored. */
export interface RelationshipPlan {
  readonly spec: RelationshipSpec
  readonly place: number
  readonly typePlace: number | undefined
}

type Attributes = Readonly<Record<string, AttributeSpec>>

/** The words of a literal text, as a type: the table's columns are typed from their declaration. */
type Words<
  Text extends string,
  Found extends string = never,
> = Text extends `${infer Line}\n${infer Rest}`
  ? Words<Rest, Found | WordsOfLine<Line>>
  : Found | WordsOfLine<Text>
type WordsOfLine<
  Line extends string,
  Found extends string = never,
> = Line extends `${infer Word} ${infer Rest}`
  ? WordsOfLine<Rest, Found | Exclude<Word, ''>>
  : Found | Exclude<Line, ''>

type AttributesNamed<
  Names extends string,
  Type extends ColumnType,
  IsMaterial extends boolean,
> = Readonly<Record<Words<Names>, AttributeSpec<Type, IsMaterial>>>

/** Attributes of one type; names are separated by white space. */
export function fields<Type extends ColumnType, const Names extends string>(
  type: Type,
  names: Names,
): AttributesNamed<Names, Type, true> {
  return attributesNamed(type, names, true)
}

/** Attributes that change whenever the service looks: kept up to date, never a new version. */
export function volatile<Type extends ColumnType, const Names extends string>(
  type: Type,
  names: Names,
): AttributesNamed<Names, Type, false> {
  return attributesNamed(type, names, false)
}

function attributesNamed<Type extends ColumnType, Names extends string, IsMaterial extends boolean>(
  type: Type,
  names: Names,
  isMaterial: IsMaterial,
): AttributesNamed<Names, Type, IsMaterial> {
  const entries = words(names).map((name) => [name, { type, isMaterial }] as const)
  return Object.fromEntries(entries) as AttributesNamed<Names, Type, IsMaterial>
}

/** An attribute for which the interface lists its values. */
export function enumerated<Type extends ColumnType>(
  type: Type,
  values: string | readonly string[],
): AttributeSpec<Type, true> {
  const knownValues = new Set(typeof values === 'string' ? words(values) : values)
  return { type, isMaterial: true, knownValues }
}

export function words(text: string): string[] {
  return text.trim().split(/\s+/)
}

export const polymorphic: Polymorphic = { kind: 'polymorphic' }

export function one(type: string): ToOne {
  return { kind: 'one', type }
}

export function many<const ColumnName extends string>(
  type: string,
  column: ColumnName,
): ToMany<ColumnName> {
  return { kind: 'many', type, column }
}

/** Types that are read one by one, by id, when a reference points to an id without a row. */
export const REFERENCE_TYPES = [
  'port',
  'metro_area',
  'terminal',
  'rail_terminal',
  'vessel',
] as const

const REFERENCES: ReadonlySet<unknown> = new Set(REFERENCE_TYPES)

export function isReferenceType(type: unknown): boolean {
  return REFERENCES.has(type)
}

/** The `type` of the resource that takes records of every type without a table of its own. */
export const ANY_TYPE = '*'

/**
 * Raise it with every change of flattening that the definitions below do not show. Rows are then
 * compared once more by value; otherwise an attribute that flattening now reads differently would
 * keep its old value until its record changes.
 */
export const READING = 3

export const READING_MARK_LENGTH = 4

/** A resource that still knows the literals of its definition: `row-types.ts` reads them. */
export type Defined<Definition extends ResourceDefinition> = Resource & {
  readonly definition?: Definition
}

/** Lays out the columns of a resource type: key, attributes, relationships, then the rest. */
export function defineResource<const Definition extends ResourceDefinition>(
  definition: Definition,
): Defined<Definition> {
  return layOut(definition)
}

function layOut({
  attributes,
  relationships = {},
  extraColumns = [],
  ...definition
}: ResourceDefinition): Resource {
  const { type, idColumn = `${type}_id`, keyColumns = [idColumn] } = definition
  const all: readonly Column[] = [
    ...[...keyColumns, idColumn].map(
      (name) => ({ name, type: 'text', isMaterial: false }) as const,
    ),
    ...Object.entries(attributes).map(([name, spec]) => ({ name, ...spec })),
    ...Object.entries(relationships).flatMap(([name, spec]) => relationshipColumns(name, spec)),
    ...extraColumns,
  ]
  // The first of a name counts: a key column is also the column of its attribute.
  const columns = all.filter(({ name }, at) => all.findIndex((one) => one.name === name) === at)
  const columnIndex = new Map(columns.map(({ name }, index) => [name, index]))
  const placeOf = (name: string): number => columnIndex.get(name) ?? -1
  const plan: ReadingPlan = {
    idPlace: placeOf(idColumn),
    keyPlaces: keyColumns.map(placeOf),
    attributes: new Map(Object.keys(attributes).map((name) => [name, placeOf(name)])),
    relationships: new Map(
      Object.entries(relationships).map(([name, spec]) => {
        const [idOrIds, type] = relationshipColumns(name, spec)
        const place = placeOf(idOrIds?.name ?? '')
        return [name, { spec, place, typePlace: type && placeOf(type.name) }]
      }),
    ),
  }
  const reading = [READING, columns, Object.entries(attributes), Object.entries(relationships)]
  return {
    ...definition,
    idColumn,
    keyColumns,
    columns,
    columnIndex,
    plan,
    attributes: new Map(Object.entries(attributes)),
    relationships: new Map(Object.entries(relationships)),
    readingMark: hash('sha256', JSON.stringify(reading), 'base64url').slice(0, READING_MARK_LENGTH),
  }
}

/** Lists of ids are immaterial: the records they point to have rows of their own. */
function relationshipColumns(name: string, spec: RelationshipSpec): readonly Column[] {
  if (spec.kind === 'many') return [{ name: spec.column, type: 'text[]', isMaterial: false }]
  const id: Column = { name: `${name}_id`, type: 'text', isMaterial: true }
  return spec.kind === 'one' ? [id] : [id, { ...id, name: `${name}_type` }]
}

export interface UnknownValue {
  readonly attribute: string
  readonly value: string
}

/** The part of a definition that decides how values of its fields are stored. */
export interface FieldDefinition {
  readonly apiSlug: string | null
  readonly dataType: string | null
  /** The definition is sensitive, and no setting names it: its values are not stored. */
  readonly isWithheld: boolean
}

/** By id of the definition. */
export type FieldDefinitions = ReadonlyMap<string, FieldDefinition>

/** Facts about a record that only its request tells. */
export interface SeenIn {
  /** The earliest instant at which the source can have known it, on the source's clock. */
  readonly observedAt: Date
  /**
   * True for the primary data of a list or a read, and for records included in full. A partial
   * sighting writes what it has and says nothing about the rest.
   */
  readonly isComplete: boolean
  readonly containerId?: string | undefined
  /** The definitions that cast the values of custom fields, as far as they are known. */
  readonly fieldDefinitions?: FieldDefinitions | undefined
  readonly definitionId?: string | undefined
}

/**
 * One record as a row, seen at one instant. Values are aligned with `resource.columns`; undefined
 * where the source sent nothing (absent, not null).
 */
export interface Sighting {
  readonly resource: Resource
  readonly observedAt: SeenIn['observedAt']
  readonly isComplete: SeenIn['isComplete']
  /** Key values joined by a space, unique within the stream; ids hold no control characters. */
  readonly key: string
  readonly values: readonly (EncodedValue | undefined)[]
  /** JSON text of all members without a column, by name; null without any. */
  readonly unmapped: EncodedValue
  readonly unmappedNames: readonly string[]
  /** Values of enumerated attributes that the interface does not list. */
  readonly unknownValues: readonly UnknownValue[]
  /** Members inside an attribute that the interface does not name, as `attribute.member`. */
  readonly unknownMembers: readonly string[]
  /**
   * JSON text of `{column: {reason, original}}` for every value not stored as sent; null without
   * any.
   */
  readonly coercions: EncodedValue
  /** Hash of values, unmapped and coercions, absence included: equal hashes, equal rows. */
  readonly fingerprint: string
  /**
   * Lets the same bytes be recognized without parsing: how this version reads the type, the digest
   * of the bytes, and the beginning of the fingerprint, which ties it to this very row. Null when
   * the bytes are unknown, or do not make the row by themselves.
   */
  readonly digest: string | null
  /** Ports, terminals, vessels and the like that the record points to. */
  readonly references: readonly ResourceIdentifier[]
  /** Rows of `vessel_positions`, sent only where positions were asked for. */
  readonly positions?: readonly (readonly EncodedValue[])[]
}

/** The value of a column; undefined where the source sent nothing. */
export function valueIn(
  { resource, values }: Pick<Sighting, 'resource' | 'values'>,
  column: string,
): EncodedValue | undefined {
  return values[resource.columnIndex.get(column) ?? -1]
}

/** The number of characters of the fingerprint that end a digest: see `Sighting.digest`. */
export const FINGERPRINT_IN_DIGEST = 4

export function rowDigest(resource: Resource, digest: string, rowFingerprint: string): string {
  return resource.readingMark + digest + rowFingerprint.slice(0, FINGERPRINT_IN_DIGEST)
}

/** Whether a row's digest is of a record with this digest, as this version reads it. */
export function isDigestOf(rowDigest: string, resource: Resource, digest: string): boolean {
  const { readingMark } = resource
  return rowDigest.startsWith(readingMark) && rowDigest.startsWith(digest, readingMark.length)
}

/**
 * 128 bits: two different rows of one account never share a fingerprint. Absent and null differ.
 * The hashed text can be read back in one way only, because no value holds U+0000: each begins with
 * one, and a letter that says whether it is absent, null or a text.
 */
export function fingerprint(
  values: readonly (EncodedValue | undefined)[],
  unmapped: EncodedValue,
  coercions: EncodedValue,
): string {
  let text = ''
  for (const value of values) text += fingerprinted(value)
  text += fingerprinted(unmapped)
  text += fingerprinted(coercions)
  return hash('sha256', text, 'base64url').slice(0, 22)
}

function fingerprinted(value: EncodedValue | undefined): string {
  if (value === undefined) return '\u0000a'
  return value === null ? '\u0000n' : `\u0000t${value}`
}
