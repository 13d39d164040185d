import type { ColumnType } from './column.js'
import type { AttributeSpec, Defined, ResourceDefinition } from './resource.js'

/** Values as the driver gives them: what JavaScript would round comes as PostgreSQL's own text. */
interface ValueOf {
  text: string
  timestamptz: string
  date: string
  numeric: string
  integer: number
  boolean: boolean
  'text[]': string[]
  jsonb: unknown
}

/** The row of a resource's table: columns from the literals of its definition. */
export type RowOf<D> =
  D extends Defined<infer Definition>
    ? Flat<
        Record<KeyOf<Definition>, string> &
          Omit<ContentOf<Definition>, KeyOf<Definition>> &
          OwnColumns
      >
    : never

/** Of its history: the columns whose change makes a version. */
export type HistoryRowOf<D> =
  D extends Defined<infer Definition>
    ? Flat<
        Record<KeyOf<Definition>, string> &
          Omit<MaterialOf<Definition>, KeyOf<Definition>> &
          Version
      >
    : never

/** How long a version was valid, and the origin of its values. */
export interface Version {
  valid_from: string
  valid_to: string | null
  source: string
  _sync_run_id: number | null
}

interface OwnColumns {
  _observed_at: string
  _first_seen_at: string
  _changed_at: string
  _fingerprint: string | null
  _deleted_at: string | null
  _sync_run_id: number | null
  _unmapped: unknown
  _coercions: unknown
  _digest: string | null
}

type Flat<Row> = { [Name in keyof Row]: Row[Name] }

type KeyOf<D extends ResourceDefinition> =
  | (D extends { readonly keyColumns: readonly (infer Name extends string)[] } ? Name : never)
  | (D extends { readonly idColumn: infer Name extends string } ? Name : `${D['type']}_id`)

type ContentOf<D extends ResourceDefinition> = AttributesOf<D['attributes']> &
  RelationshipsOf<D['relationships']> &
  ExtraOf<D['extraColumns']>

type MaterialOf<D extends ResourceDefinition> = AttributesOf<MaterialAttributes<D['attributes']>> &
  Omit<RelationshipsOf<D['relationships']>, ManyColumns<D['relationships']>> &
  ExtraOf<D['extraColumns']>

type MaterialAttributes<Attributes> = {
  [
    Name in keyof Attributes as Attributes[Name] extends AttributeSpec<ColumnType, true>
      ? Name
      : never
  ]: Attributes[Name]
}

type AttributesOf<Attributes> = {
  [Name in keyof Attributes]: Attributes[Name] extends AttributeSpec<infer Type>
    ? ValueOf[Type] | null
    : never
}

type RelationshipsOf<Relationships> = {
  [Name in keyof Relationships as ColumnsOf<Name, Relationships[Name]>]:
    (Relationships[Name] extends { readonly kind: 'many' } ? string[] : string) | null
}

type ColumnsOf<Name, Spec> = Spec extends { readonly kind: 'many'; readonly column: infer Column }
  ? Column & string
  : Spec extends { readonly kind: 'polymorphic' }
    ? `${Name & string}_${'id' | 'type'}`
    : `${Name & string}_id`

type ManyColumns<Relationships> = {
  [Name in keyof Relationships]: Relationships[Name] extends {
    readonly kind: 'many'
    readonly column: infer Column
  }
    ? Column & string
    : never
}[keyof Relationships]

type ExtraOf<Columns> = Columns extends readonly (infer Column)[]
  ? {
      [
        One in Column as One extends { readonly name: infer Name extends string } ? Name : never
      ]: One extends { readonly type: infer Type extends ColumnType } ? ValueOf[Type] | null : never
    }
  : unknown
