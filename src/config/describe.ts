import { settingDescriptions } from './settings.js'

/** An example configuration file: each setting after a `//` member with its meaning. */
export function exampleConfig(): string {
  const members: Record<string, unknown> = {
    '//':
      'Copy to config/tracking-sync.json and keep what you change. ' +
      'Secrets are not allowed here: set them in the environment.',
  }
  for (const { name, variable, meaning, defaultValue, isSecret } of settingDescriptions) {
    if (isSecret === true) continue
    members[`//${name}`] = `${meaning} (${variable})`
    // Empty means absent.
    members[name] = defaultValue ?? ''
  }
  return `${JSON.stringify(members, null, 2)}\n`
}

/** The settings as a Markdown table. */
export function settingsTable(): string {
  const code = (value: unknown): string => (value === undefined ? '' : `\`${String(value)}\``)
  const lines = settingDescriptions.map(
    ({ variable, flag, defaultValue, meaning }) =>
      `| ${code(variable)} | ${code(flag)} | ${code(defaultValue)} | ${meaning} |`,
  )
  return ['| variable | flag | default | meaning |', '|---|---|---|---|', ...lines].join('\n')
}

/** A PostgreSQL address with `mask` in place of each password. */
export function shownDatabaseUrl(address: string, mask: string): string {
  const { protocol, username, password, host, pathname, searchParams } = new URL(address)
  const user = password === '' ? username : `${username}:${mask}`
  const query = [...searchParams].map(
    ([name, value]) => `${name}=${/password/i.test(name) ? mask : value}`,
  )
  const search = query.length === 0 ? '' : `?${query.join('&')}`
  return `${protocol}//${user === '' ? '' : `${user}@`}${host}${pathname}${search}`
}
