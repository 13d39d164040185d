import type { Config } from '../config/settings.js'
import { declare } from './declare-command.js'

export const config = declare({
  name: 'config',
  isForAccount: false,
  help: 'Show every setting: its value (secrets masked), where it comes from and what it means.',
  settings: 'all',
  run: async ({ config: values, origins }) => {
    const { MASK } = await import('../base/logger.js')
    const { shownDatabaseUrl } = await import('../config/kinds.js')
    const { allSettings } = await import('../config/settings.js')
    const mask = (name: keyof Config, value: unknown): string =>
      name === 'databaseUrl' || name === 'readerUrl' ? shownDatabaseUrl(String(value), MASK) : MASK
    const settings = allSettings.map(({ name, variable, isSecret, meaning }) => {
      const value = values[name]
      const shown = value === undefined ? null : isSecret === true ? mask(name, value) : value
      return { variable, value: shown, from: origins[name], meaning }
    })
    const rows = settings.map(({ variable, value, from, meaning }) => [
      variable,
      value === null ? null : String(value),
      from,
      meaning,
    ])
    return { data: settings, text: [{ columns: ['setting', 'value', 'from', 'meaning'], rows }] }
  },
})
