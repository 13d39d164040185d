import { defineResource, json, one, polymorphic, text } from './resource.js'

/** A custom field's value on one entity, addressed by the slug of its definition. */
export const customFields = defineResource({
  type: 'custom_field',
  stream: 'custom_fields',
  idColumn: 'custom_field_id',
  keyColumns: ['entity_id', 'api_slug'],
  attributes: {
    api_slug: text,
    value: json,
    display_value: text,
  },
  relationships: { entity: polymorphic, definition: one('custom_field_definition') },
})
