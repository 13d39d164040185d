import { InvalidArgumentError, type Command } from 'commander'
import { ConfigError } from '../base/errors.js'
import { requireService } from '../config/needed-settings.js'
import { parseExactJson } from '../jsonapi/exact-json.js'
import type { CommandIo } from './command-io.js'
import { declare } from './declare-command.js'
import { escapeControls } from './output/print-table.js'

interface SetOptions {
  readonly jsonValue?: { readonly value: unknown }
}

export function addCustomFieldCommands(program: Command, io: CommandIo): void {
  const group = program
    .command('custom-fields')
    .description('Change a custom field of a container, at the service and in the warehouse.')
  declare<SetOptions, [string, string, string | undefined]>(group, io, {
    name: 'set',
    help:
      "Set a container's custom field. Works while a sync runs. " +
      'Exit code 3 when the key may not update the container.',
    settings: [
      'apiUrl',
      'rateLimitPerMinute',
      'requestTimeoutSeconds',
      'migrate',
      'allowInsecureApiUrl',
    ],
    define: (command) =>
      command
        .argument('<container>', 'Id of the container.')
        .argument('<slug>', 'Slug of the custom field (api_slug).')
        .argument('[value]', 'The new value, a text.')
        .option(
          '--json-value <json>',
          'The new value if it is not text: 12.5, true, null, …',
          jsonValue,
        ),
    run: async (app, options, containerId, apiSlug, text) => {
      const value = chooseValue(text, options.jsonValue)
      requireService(app.config)
      const { setCustomField } = await import('../sync/set-custom-field.js')
      const warehouse = await app.openWarehouse({ isWriting: true })
      const { service } = await app.openService({ warehouse })
      const change = { containerId, apiSlug, value }
      const report = await setCustomField(change, { service, warehouse, signal: app.signal })
      io.show(options, report, () => {
        const shown = report.displayValue ?? JSON.stringify(value)
        const row = report.isRowWritten ? 'written to the warehouse' : 'the warehouse had it'
        return escapeControls(`${apiSlug} of container ${containerId} is ${shown}; ${row}.`)
      })
    },
  })
}

function jsonValue(text: string): { readonly value: unknown } {
  try {
    return { value: parseExactJson(text) }
  } catch {
    throw new InvalidArgumentError('It must be JSON.')
  }
}

/** Exactly one of the two. Throws ConfigError otherwise. */
function chooseValue(text: string | undefined, given: SetOptions['jsonValue']): unknown {
  if ((text === undefined) !== (given === undefined)) return text ?? given?.value
  const problem = 'needs the new value either as its third argument or in --json-value'
  throw new ConfigError([{ setting: 'custom-fields set', problem }])
}
