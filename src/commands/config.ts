import type { Command } from 'commander'
import type { Config } from '../config/settings.js'
import type { CommandIo } from './command-io.js'
import { declare } from './declare-command.js'
import { formatTable } from './output/print-table.js'

export function addConfigCommand(program: Command, io: CommandIo): void {
  declare(program, io, {
    name: 'config',
    help: 'Show every setting: its value (secrets masked), where it comes from and what it means.',
    settings: 'all',
    run: async ({ config, origins }, options) => {
      const { MASK } = await import('../base/logger.js')
      const { shownDatabaseUrl } = await import('../config/safe-addresses.js')
      const { settingDescriptions } = await import('../config/settings.js')
      const mask = (name: keyof Config, value: unknown): string =>
        name === 'databaseUrl' ? shownDatabaseUrl(String(value), MASK) : MASK
      const rows = settingDescriptions.map(({ name, variable, isSecret, meaning }) => {
        const value = config[name]
        const shown = value === undefined ? null : isSecret === true ? mask(name, value) : value
        return { variable, value: shown, from: origins[name], meaning }
      })
      io.show(options, rows, () => {
        const cells = rows.map(({ variable, value, from, meaning }) => [
          variable,
          value === null ? null : String(value),
          from,
          meaning,
        ])
        return formatTable(['setting', 'value', 'from', 'meaning'], cells, io.terminal)
      })
    },
  })
}
