import { settingDescriptions, type SettingDescription } from './load-config.js'

/** An example configuration file: every setting that may stand in one, its meaning as a `//` member before it. */
export function exampleConfig(): string {
  const members: Record<string, unknown> = {
    '//': 'Copy to config/tracking-sync.json and keep what you change. Secrets have no place here: use the environment.',
  }
  for (const { name, variable, meaning, defaultValue, isSecret } of settingDescriptions) {
    if (isSecret === true) continue
    members[`//${name}`] = `${meaning} (${variable})`
    // A member without a default shows as empty, which means absent.
    members[name] = defaultValue ?? ''
  }
  return `${JSON.stringify(members, null, 2)}\n`
}

/** The settings as a Markdown table. */
export function settingsTable(): string {
  const lines = settingDescriptions.map((description) => {
    const { variable, meaning } = description
    return `| \`${variable}\` | ${flagCell(description)} | ${defaultCell(description)} | ${meaning} |`
  })
  return ['| variable | flag | default | meaning |', '|---|---|---|---|', ...lines].join('\n')
}

function flagCell({ flag }: SettingDescription): string {
  return flag === undefined ? '' : `\`${flag}\``
}

function defaultCell({ defaultValue }: SettingDescription): string {
  return defaultValue === undefined ? '' : `\`${String(defaultValue)}\``
}
