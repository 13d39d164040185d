import { InvalidArgumentError, type Command } from 'commander'
import { requireService } from '../config/needed-settings.js'
import { ConfigError } from '../base/errors.js'
import { EXIT_CODES } from '../base/exit-code.js'
import { parseExactJson } from '../jsonapi/exact-json.js'
import { addSettingFlags, settingFlagsOf, type CommandIo } from './command-io.js'
import { escapeControls } from './output/print-table.js'

interface SetOptions extends Record<string, unknown> {
  readonly jsonValue?: { readonly value: unknown }
  readonly json?: boolean
}

export function addCustomFieldCommands(program: Command, io: CommandIo): void {
  const group = program
    .command('custom-fields')
    .description('Custom fields of containers: change one at the service and in the warehouse.')
  const command = group
    .command('set')
    .description(
      "Set a container's custom field. Exit code 3 when the key lacks update permission on the container. Works while a sync runs.",
    )
    .argument('<container>', 'Id of the container.')
    .argument('<slug>', 'Slug of the custom field (api_slug).')
    .argument('[value]', 'The new value, a text.')
    .option(
      '--json-value <json>',
      'The new value when it is not text: 12.5, true, null, …',
      jsonValue,
    )
    .option('--json', 'Print as JSON.')
  addSettingFlags(command, [
    'apiUrl',
    'rateLimitPerMinute',
    'requestTimeoutSeconds',
    'migrate',
    'allowInsecureApiUrl',
  ]).action(
    async (
      containerId: string,
      apiSlug: string,
      text: string | undefined,
      { jsonValue: given, json = false, ...options }: SetOptions,
    ) => {
      await io.withApp(settingFlagsOf(options), async (app) => {
        const value = chooseValue(text, given)
        requireService(app.config)
        const { setCustomField } = await import('../sync/set-custom-field.js')
        const warehouse = await app.openWarehouse({ isWriting: true })
        const { service } = await app.openService({ warehouse })
        const change = { containerId, apiSlug, value }
        const report = await setCustomField(change, { service, warehouse, signal: app.signal })
        if (json) io.printJson(report)
        else {
          const shown = report.displayValue ?? JSON.stringify(value)
          const row = report.isRowWritten ? 'written to the warehouse' : 'the warehouse had it'
          io.print(escapeControls(`${apiSlug} of container ${containerId} is ${shown}; ${row}.`))
        }
        return EXIT_CODES.complete
      })
    },
  )
}

function jsonValue(text: string): { readonly value: unknown } {
  try {
    return { value: parseExactJson(text) }
  } catch {
    throw new InvalidArgumentError('It must be JSON.')
  }
}

/** Exactly one of the two. Throws ConfigError else. */
function chooseValue(
  text: string | undefined,
  given: { readonly value: unknown } | undefined,
): unknown {
  if ((text === undefined) !== (given === undefined)) return text ?? given?.value
  const problem = 'give the new value either as the third argument or with --json-value'
  throw new ConfigError([{ setting: 'custom-fields set', problem }])
}
