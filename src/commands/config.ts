import { command } from './declare-command.js'

export const config = command({
  name: 'config',
  isForAccount: false,
  help: 'Show every setting: its value (secrets masked), where it comes from and what it means.',
  settings: 'all',
  run: async ({ config, origins }, _, io) => {
    const { MASK } = await import('../base/logger.js')
    const { shownDatabaseUrl } = await import('../config/kinds.js')
    const values = config as Readonly<Record<string, unknown>>
    const mask = (name: string, value: string): string =>
      name === 'databaseUrl' || name === 'readerUrl' ? shownDatabaseUrl(value, MASK) : MASK
    const settings = (await io.describeSettings()).map(({ name, variable, isSecret, meaning }) => {
      const value = values[name] as string | number | boolean | undefined
      const shown =
        value === undefined ? null : isSecret === true ? mask(name, String(value)) : value
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
