import type { z } from 'zod'
import { ConfigError, type ConfigProblem } from '../base/errors.js'
import { suggest } from '../base/phrases.js'
import { checkDatabaseLink, isSafeForKey, type LinkCheck } from './kinds.js'
import { allSettings, settingsSchema, type Config, type SettingName } from './settings.js'
import { fromEnvironment, readConfigFile, readDotEnv } from './sources.js'

export type SettingOrigin = 'flag' | 'environment' | '.env' | 'file' | 'default'

export interface ConfigSources {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Where `.env`, the configuration file and relative paths are looked for. */
  readonly workingDirectory: string
  /** Settings given as flags; undefined ones count as not given. */
  readonly flags?: Partial<Record<SettingName, unknown>>
  /** Must exist. Absent: `config/tracking-sync.json`, if it exists. */
  readonly configFile?: string | undefined
}

export interface LoadedConfig {
  readonly config: Config
  readonly origins: Readonly<Record<SettingName, SettingOrigin>>
  /** Values that must never be printed: secrets, and the password inside the database address. */
  readonly secrets: readonly string[]
  readonly warnings: readonly string[]
}

/** The environment of this process. Nothing else reads it. */
export function readEnvironment(): Readonly<Record<string, string | undefined>> {
  return process.env
}

/**
 * Looks for each setting among the flags, then in the environment, in `.env`, in the configuration
 * file, and takes its default otherwise. Empty means absent. Throws ConfigError with all problems
 * together, by variable and without any value. Reads files, touches no network.
 */
export function loadConfig(sources: ConfigSources): LoadedConfig {
  const problems: ConfigProblem[] = []
  const warnings: string[] = []
  const dotEnv = readDotEnv(sources.workingDirectory, problems, warnings)
  const file = readConfigFile(sources, problems)
  warnings.push(...misspelt(sources.environment, dotEnv))
  const values: Partial<Record<SettingName, unknown>> = {}
  const origins = {} as Record<SettingName, SettingOrigin>
  for (const setting of allSettings) {
    const { name, variable, isSecret } = setting
    const candidates: readonly [SettingOrigin, unknown][] = [
      ['flag', sources.flags?.[name]],
      ['environment', fromEnvironment(setting, sources.environment, problems, warnings)],
      ['.env', fromEnvironment(setting, dotEnv, problems, warnings)],
      ['file', file[name]],
    ]
    const found = candidates.find(([, value]) => value !== undefined && value !== '')
    // Even if another source wins: the file would still hold the secret.
    if (isSecret === true && file[name] !== undefined) {
      const problem =
        'is a secret and must not be in the configuration file; ' +
        `set it in the environment, or use ${variable}_FILE`
      problems.push({ setting: variable, problem })
    }
    if (found !== undefined) values[name] = found[1]
    origins[name] = found?.[0] ?? 'default'
  }
  const parsed = settingsSchema.safeParse(values)
  if (!parsed.success) problems.push(...parsed.error.issues.map(toProblem))
  if (isKeyAtRisk(values)) {
    const problem =
      'is plain http or a private address, and the key would go there; ' +
      'use https://, or set TRACKING_ALLOW_INSECURE_API_URL=true'
    problems.push({ setting: 'TRACKING_API_URL', problem })
  }
  const link = databaseLink(values, sources.environment)
  if (link.problem !== undefined) problems.push({ setting: 'DATABASE_URL', problem: link.problem })
  if (link.warning !== undefined) warnings.push(link.warning)
  if (problems.length > 0 || !parsed.success) throw new ConfigError(problems)
  const config = Object.freeze(parsed.data)
  return { config, origins, secrets: secretsOf(config), warnings }
}

/** Variables that begin as ours do, but which nothing reads. */
function misspelt(...sources: readonly ConfigSources['environment'][]): string[] {
  const known = allSettings.flatMap(({ variable, isSecret }) =>
    isSecret === true ? [variable, `${variable}_FILE`] : [variable],
  )
  const given = new Set(sources.flatMap((source) => Object.keys(source)))
  return [...given]
    .filter((name) => name.startsWith('TRACKING_') && !known.includes(name))
    .sort()
    .map((name) => `${name} is not a setting and has no effect${suggest(name, known)}`)
}

function toProblem({ path, message }: z.core.$ZodIssue): ConfigProblem {
  const name = String(path[0])
  const variable = allSettings.find((setting) => setting.name === name)?.variable
  return { setting: variable ?? name, problem: message }
}

type Values = Readonly<Partial<Record<SettingName, unknown>>>

// Two settings that are checked together. False and empty where one of them is malformed, which is
// reported already.

function isKeyAtRisk(values: Values): boolean {
  const { apiUrl, allowInsecureApiUrl } = settingsSchema.shape
  const url = apiUrl.safeParse(values.apiUrl).data
  const isAllowed = allowInsecureApiUrl.safeParse(values.allowInsecureApiUrl).data
  return url !== undefined && isAllowed === false && !isSafeForKey(new URL(url))
}

function databaseLink(values: Values, environment: ConfigSources['environment']): LinkCheck {
  const { databaseUrl, allowInsecureDatabase } = settingsSchema.shape
  const url = databaseUrl.safeParse(values.databaseUrl).data
  const isAllowed = allowInsecureDatabase.safeParse(values.allowInsecureDatabase).data
  if (url === undefined || isAllowed === undefined) return {}
  return checkDatabaseLink(new URL(url), {
    isInsecureAllowed: isAllowed,
    isNodeUnsafe: environment.NODE_TLS_REJECT_UNAUTHORIZED === '0',
  })
}

function secretsOf(config: Config): string[] {
  const { apiKey, databaseUrl, webhookSecret, webhookSecretPrevious } = config
  const address = databaseUrl === undefined ? undefined : new URL(databaseUrl)
  const password = address?.password ?? ''
  // PostgreSQL's clients also take the password from the query of the address.
  const inQuery = address?.searchParams.getAll('password') ?? []
  const secrets = [
    apiKey,
    password,
    safeDecode(password),
    ...inQuery,
    webhookSecret,
    webhookSecretPrevious,
  ]
  return secrets.filter((secret): secret is string => secret !== undefined && secret !== '')
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
