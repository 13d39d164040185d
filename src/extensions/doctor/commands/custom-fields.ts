import { InvalidArgumentError } from 'commander'
import { ConfigError } from '../../../base/errors.js'
import { requireService } from '../../../config/needed-settings.js'
import type { EntityType } from '../set-custom-field.js'
import { parseExactJson, stringifyExactJson } from '../../../source/jsonapi/exact-json.js'
import { argument, choice, declare, group, value } from '../../../commands/declare-command.js'

const ENTITY_TYPES = [
  'container',
  'shipment',
  'tracking_request',
] as const satisfies readonly EntityType[]

const set = declare({
  name: 'set',
  help:
    'Set a custom field of a container, shipment or tracking request. Works while a sync runs. ' +
    'Exit code 3 when the key may not update it.',
  settings: [
    'service',
    'apiUrl',
    'rateLimitPerMinute',
    'sensitiveFields',
    'migrate',
    'allowInsecureApiUrl',
  ],
  takes: {
    entityId: argument('<id>', 'Id of the container, shipment or tracking request.'),
    apiSlug: argument('<slug>', 'Slug of the custom field (api_slug).'),
    text: argument('[value]', 'The new value, a text.'),
    entityType: choice('--of <type>', 'The type of the entity.', ENTITY_TYPES, 'container'),
    jsonValue: value(
      '--json-value <json>',
      'The new value if it is not text: 12.5, true, null, …',
      (text: string): { readonly value: unknown } => {
        try {
          return { value: parseExactJson(text) }
        } catch {
          throw new InvalidArgumentError('It must be JSON.')
        }
      },
    ),
  },
  run: async (app, { entityId, entityType, apiSlug, text, jsonValue }) => {
    if ((text === undefined) === (jsonValue === undefined)) {
      const problem = 'needs the new value either as its third argument or in --json-value'
      throw new ConfigError([{ setting: 'custom-fields set', problem }])
    }
    const newValue = text ?? jsonValue?.value
    requireService(app.config)
    const { setCustomField } = await import('../set-custom-field.js')
    const warehouse = await app.openWarehouse({ isWriting: true })
    const { service } = await app.openService({ warehouse })
    const change = { entityId, entityType, apiSlug, value: newValue }
    const { config: settings, signal } = app
    const report = await setCustomField(change, { service, warehouse, settings, signal })
    const { storedValue } = report
    const shown = report.displayValue ?? stringifyExactJson(storedValue)
    const isAsAsked = stringifyExactJson(storedValue) === stringifyExactJson(newValue)
    const told = isAsAsked
      ? ''
      : ` The service stores ${stringifyExactJson(storedValue)}, ` +
        `not the requested ${stringifyExactJson(newValue)}.`
    const row = report.isRowWritten
      ? 'written to the warehouse'
      : 'the warehouse had this value already'
    return {
      data: report,
      text: [`${apiSlug} of ${entityType} ${entityId} is ${shown}; ${row}.${told}`],
    }
  },
})

export const customFields = group(
  'custom-fields',
  'Change a custom field, at the service and in the warehouse.',
  [set],
)
