import { defineResource, json, text } from './resource.js'

/** A category of the catalogue of events that a webhook can subscribe to. Its id is a slug. */
export const webhookEventCategories = defineResource({
  type: 'webhook_event_category',
  stream: 'webhook_event_categories',
  idColumn: 'webhook_event_category_id',
  attributes: { name: text, events: json },
})
