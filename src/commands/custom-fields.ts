import { InvalidArgumentError } from 'commander'
import { ConfigError } from '../base/errors.js'
import { requireService } from '../config/needed-settings.js'
import { parseExactJson } from '../jsonapi/exact-json.js'
import { argument, declare, group, value } from './declare-command.js'

const set = declare({
  name: 'set',
  help:
    "Set a container's custom field. Works while a sync runs. " +
    'Exit code 3 when the key may not update the container.',
  settings: [
    'service',
    'apiUrl',
    'rateLimitPerMinute',
    'requestTimeoutSeconds',
    'migrate',
    'allowInsecureApiUrl',
  ],
  takes: {
    containerId: argument('<container>', 'Id of the container.'),
    apiSlug: argument('<slug>', 'Slug of the custom field (api_slug).'),
    text: argument('[value]', 'The new value, a text.'),
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
  run: async (app, { containerId, apiSlug, text, jsonValue }) => {
    if ((text === undefined) === (jsonValue === undefined)) {
      const problem = 'needs the new value either as its third argument or in --json-value'
      throw new ConfigError([{ setting: 'custom-fields set', problem }])
    }
    const newValue = text ?? jsonValue?.value
    requireService(app.config)
    const { setCustomField } = await import('../sync/set-custom-field.js')
    const warehouse = await app.openWarehouse({ isWriting: true })
    const { service } = await app.openService({ warehouse })
    const change = { containerId, apiSlug, value: newValue }
    const report = await setCustomField(change, { service, warehouse, signal: app.signal })
    const shown = report.displayValue ?? JSON.stringify(newValue)
    const row = report.isRowWritten
      ? 'written to the warehouse'
      : 'the warehouse had this value already'
    return { data: report, text: [`${apiSlug} of container ${containerId} is ${shown}; ${row}.`] }
  },
})

export const customFields = group(
  'custom-fields',
  'Change a custom field of a container, at the service and in the warehouse.',
  [set],
)
