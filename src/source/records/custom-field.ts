import { membersOf, type Members } from '../jsonapi/document.js'
import { ExactNumber } from '../jsonapi/exact-json.js'
import type { Column } from './column.js'
import {
  defineResource,
  enumerated,
  fields,
  one,
  polymorphic,
  type FieldDefinition,
  type FieldDefinitions,
} from './resource.js'

/** The column that a value is cast for, by the data type of its definition. */
const COLUMN_OF_TYPE: Readonly<Record<string, string>> = {
  short_text: 'value_text',
  number: 'value_number',
  date: 'value_date',
  datetime: 'value_timestamp',
  boolean: 'value_boolean',
  enum: 'value_text',
  enum_multi: 'value_list',
  reference: 'value_text',
}

const TYPED_COLUMNS = [
  { name: 'value_text', type: 'text', isMaterial: false },
  { name: 'value_number', type: 'numeric', isMaterial: false },
  { name: 'value_date', type: 'date', isMaterial: false },
  { name: 'value_timestamp', type: 'timestamptz', isMaterial: false },
  { name: 'value_boolean', type: 'boolean', isMaterial: false },
  { name: 'value_list', type: 'text[]', isMaterial: false },
] as const satisfies readonly Column[]

/**
 * The value of a custom field on one shipment, container or tracking request. `value` stays as it
 * was sent; beside it the same is cast as the definition says, so a change of the definition alone
 * changes the row.
 */
export const customFields = defineResource({
  type: 'custom_field',
  stream: 'custom_fields',
  attributes: { ...fields('text', 'api_slug display_value'), ...fields('jsonb', 'value') },
  relationships: { entity: polymorphic, definition: one('custom_field_definition') },
  extraColumns: [{ name: 'data_type', type: 'text', isMaterial: false }, ...TYPED_COLUMNS],
  isMadeWithOthers: true,
  derive: (record, target, { fieldDefinitions }) => {
    const attributes = membersOf(record.attributes)
    if (!('value' in attributes)) return
    const { dataType = null, isWithheld = false } = definitionOf(record, fieldDefinitions) ?? {}
    const { value } = attributes
    const column = isWithheld ? undefined : columnFor(dataType, value)
    target.set('data_type', dataType)
    for (const { name } of TYPED_COLUMNS) target.set(name, name === column ? value : null)
    if (isWithheld) for (const name of ['value', 'display_value']) target.withhold(name)
  },
})

/** Without a definition that is known, one that is withheld and has the slug of the value. */
function definitionOf(
  { relationships, attributes }: Members,
  definitions: FieldDefinitions = new Map(),
): FieldDefinition | undefined {
  const { id } = membersOf(membersOf(membersOf(relationships).definition).data)
  const known = definitions.get(String(id))
  if (known !== undefined) return known
  const { api_slug } = membersOf(attributes)
  return [...definitions.values()].find((one) => one.isWithheld && one.apiSlug === api_slug)
}

/** Whether a record that cannot be a row may hold a value that is withheld. */
export function mayBeWithheld(record: unknown, definitions: FieldDefinitions): boolean {
  const definition = definitionOf(membersOf(record), definitions)
  if (definition !== undefined) return definition.isWithheld
  return [...definitions.values()].some(({ isWithheld }) => isWithheld)
}

/**
 * The column of a type; without a known type, that of the value's JSON type; undefined where it
 * stays JSON alone.
 */
function columnFor(dataType: string | null, value: unknown): string | undefined {
  if (dataType !== null && Object.hasOwn(COLUMN_OF_TYPE, dataType)) return COLUMN_OF_TYPE[dataType]
  if (typeof value === 'string') return 'value_text'
  if (typeof value === 'boolean') return 'value_boolean'
  if (Array.isArray(value)) {
    return value.every((one) => typeof one === 'string') ? 'value_list' : undefined
  }
  return isNumber(value) ? 'value_number' : undefined
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' || value instanceof ExactNumber
}

/** Whether fields of this data type take only values of a list. */
export function hasOptions(dataType: unknown): boolean {
  return dataType === 'enum' || dataType === 'enum_multi'
}

/** The definition of a custom field: its name, its type and the values it takes. */
export const customFieldDefinitions = defineResource({
  type: 'custom_field_definition',
  stream: 'custom_field_definitions',
  path: 'custom_field_definitions',
  attributes: {
    entity_type: enumerated('text', 'Shipment Container TrackingRequest'),
    ...fields('text', 'api_slug display_name'),
    data_type: enumerated('text', Object.keys(COLUMN_OF_TYPE)),
    ...fields('text', 'description reference_type default_format'),
    ...fields('jsonb', 'validation default_value'),
    ...fields('boolean', 'sensitive'),
  },
})

/** A value that an enum field may take. */
export const customFieldOptions = defineResource({
  type: 'custom_field_option',
  stream: 'custom_field_options',
  attributes: {
    ...fields('text', 'label'),
    ...fields('jsonb', 'value'),
    ...fields('integer', 'position'),
  },
  relationships: { definition: one('custom_field_definition') },
})
