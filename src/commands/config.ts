import type { Command } from 'commander'
import type { SettingName } from '../config/settings.js'
import { EXIT_CODES } from '../base/exit-code.js'
import { addSettingFlags, settingFlagsOf, type CommandIo } from './command-io.js'
import { formatTable } from './output/print-table.js'

export function addConfigCommand(program: Command, io: CommandIo): void {
  const command = program
    .command('config')
    .description(
      'Show every setting: its value now (secrets masked), where it comes from, and what it means.',
    )
    .option('--json', 'Print as JSON.')
  addSettingFlags(command, 'all').action(async (options: Record<string, unknown>) => {
    const { settingDescriptions } = await import('../config/settings.js')
    const { MASK } = await import('../base/logger.js')
    const { shownDatabaseUrl } = await import('../config/describe.js')
    const mask = (name: SettingName, value: unknown): string =>
      name === 'databaseUrl' ? shownDatabaseUrl(String(value), MASK) : MASK
    await io.withApp(settingFlagsOf(options), ({ config }, { origins }) => {
      const rows = settingDescriptions.map(({ name, variable, isSecret, meaning }) => {
        const value = config[name]
        const shown = value === undefined ? null : isSecret === true ? mask(name, value) : value
        return { variable, value: shown, from: origins[name], meaning }
      })
      if (options.json === true) io.printJson(rows)
      else {
        const cells = rows.map(({ variable, value, from, meaning }) => [
          variable,
          value === null ? null : String(value),
          from,
          meaning,
        ])
        io.print(formatTable(['setting', 'value', 'from', 'meaning'], cells, io.terminal))
      }
      return Promise.resolve(EXIT_CODES.complete)
    })
  })
}
