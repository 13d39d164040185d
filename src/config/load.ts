import { resolve } from 'node:path'
import { ConfigError } from '../base/errors.js'
import { FAILPOINT_VARIABLE, readFailpoint } from '../base/failpoint.js'
import { suggest } from '../base/phrases.js'
import { proxyAddress } from '../base/service-address.js'
import { findAccount, hasOwn, schemaOf, schemaProblems, type AccountEntry } from './accounts.js'
import {
  fromEnvironment,
  readConfigFile,
  readDotEnv,
  readSecretFile,
  type ConfigSources,
  type Environment,
  type Origin,
} from './config-sources.js'
import { tellFormer } from './former-settings.js'
import { checkDatabaseLink, isSafeForKey, passwordsIn } from './kinds.js'
import { readPreset, type Preset } from './presets.js'
import { ownVariable, type Findings, type ValuesOf } from './setting.js'
import type { coreSettings } from './settings.js'
import {
  describeSettings,
  type Config,
  type SettingDescription,
  type SettingName,
} from './settings.js'

export type SettingOrigin =
  'flag' | 'account' | 'environment' | '.env' | 'file' | 'preset' | 'default'

type Origins = Record<SettingName, SettingOrigin> & Record<string, SettingOrigin>

export type { ConfigSources } from './config-sources.js'

export interface LoadedConfig {
  readonly config: Config
  /** By the names of the settings. */
  readonly origins: Readonly<Origins>
  /** Names of the accounts of the configuration file, in its order. */
  readonly accounts: readonly string[]
  /** Values that must never be printed: secrets, and the password inside the database address. */
  readonly secrets: readonly string[]
  readonly warnings: readonly string[]
}

/** An account with its settings. */
export interface LoadedAccount extends LoadedConfig {
  readonly name: string
}

/** The environment of this process. Nothing else reads it. */
export function readEnvironment(): Environment {
  return process.env
}

/**
 * Looks for each setting among the flags, then at the account if one is chosen, in the environment,
 * in `.env`, in the configuration file and in the preset of the service, and takes its default
 * otherwise. Empty means absent. Each account has its own key: the general one does not count. Its
 * schema is its own, or the general one, from any source, followed by its name. Throws ConfigError
 * with all problems together, by variable and without any value. Reads files, touches no network.
 */
export function loadConfig(sources: ConfigSources): LoadedConfig {
  const findings: Findings = { problems: [], warnings: [] }
  const { problems, warnings } = findings
  const { workingDirectory, groups = [] } = sources
  const settings = describeSettings(groups)
  const environment = withoutServiceLinks(sources.environment)
  const dotEnv = readDotEnv(sources, settings, findings)
  const { accounts, ...file } = readConfigFile(sources, settings, findings)
  warnings.push(...misspelt(settings, accounts, [environment, dotEnv]))
  const account = findAccount(
    [sources.flags?.account, environment.TRACKING_ACCOUNT, dotEnv.TRACKING_ACCOUNT, file.account],
    accounts,
    problems,
  )
  const values: Record<string, unknown> = {}
  let preset = GENERIC
  const origins = {} as Origins
  const from: Origin = { directory: workingDirectory, findings }
  for (const setting of settings) {
    const { name, variable, isSecret } = setting
    // Otherwise one account would be read with the key of another.
    const isGeneral = account === undefined || name !== 'apiKey'
    const candidates: readonly [SettingOrigin, unknown][] = [
      ['flag', sources.flags?.[name]],
      ['account', account && ofAccount(setting, account, [environment, dotEnv], from)],
      ['environment', isGeneral ? fromEnvironment(setting, environment, from) : undefined],
      ['.env', isGeneral ? fromEnvironment(setting, dotEnv, from) : undefined],
      ['file', file[name]],
      ['preset', isOfPreset(name) && preset !== GENERIC ? preset[name] : undefined],
    ]
    const found = candidates.find(([, value]) => value !== undefined && value !== '')
    // Also if another source wins: the file would still hold the secret.
    if (isSecret === true && file[name] !== undefined) {
      const problem =
        'is a secret and must not be in the configuration file; ' +
        `set it in the environment, or use ${variable}_FILE`
      problems.push({ setting: variable, problem })
    }
    if (found !== undefined) values[name] = found[1]
    origins[name] = found?.[0] ?? 'default'
    // The first of all settings.
    if (name === 'service' && found !== undefined) preset = presetOf(found[1], sources, findings)
  }
  const base = typeof values.schema === 'string' ? values.schema : DEFAULT_SCHEMA
  problems.push(...schemaProblems(accounts, base))
  if (account !== undefined) {
    values.schema = schemaOf(account, base)
    origins.schema = 'account'
  }
  const checked = {} as Partial<Values> & Record<string, unknown>
  for (const { name, variable, kind } of settings) {
    const { data, error } = kind.safeParse(values[name])
    if (data !== undefined) checked[name] = data
    for (const { message } of error?.issues ?? []) {
      problems.push({ setting: variable, problem: message })
    }
  }
  checkTogether(checked, environment, findings)
  if (checked.readerUrl !== undefined && values.databaseUrl === undefined) {
    const problem =
      'is set, and DATABASE_URL is not; set both, or neither: the embedded database has a login ' +
      'of its own for your SQL'
    problems.push({ setting: 'TRACKING_READER_URL', problem })
  }
  problems.push(...groups.flatMap((group) => group.problems?.(values) ?? []))
  if (problems.length > 0) throw new ConfigError(problems)
  // Without a problem every setting is there.
  const all = checked as Values
  const config: Config = Object.freeze({ ...all, preset, failpoint: readFailpoint(environment) })
  const ofGroups = groups.flatMap((group) => group.secrets?.(all) ?? [])
  const secrets = [...secretsOf(config), ...ofGroups].filter((secret) => secret !== '')
  const names = accounts.map(({ name }) => name)
  return { config, origins, accounts: names, secrets, warnings }
}

const DEFAULT_SCHEMA = 'tracking'

const GENERIC = readPreset('generic')

/**
 * Variables that Kubernetes sets in a pod for each service beside it, by the service's
 * name: those of a service `tracking-database` begin as our settings do.
 */
const LINK_NAME = /_SERVICE_(?:HOST|PORT(?:_\w+)?)$|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_\w+)?$/
const LINK_VALUE = /^(?:tcp|udp|sctp):\/\//

function withoutServiceLinks(environment: Environment): Environment {
  const isLink = ([name, value = '']: readonly [string, string | undefined]): boolean =>
    LINK_NAME.test(name) || (name.endsWith('_PORT') && LINK_VALUE.test(value))
  const entries = Object.entries(environment)
  return Object.fromEntries(entries.filter((entry) => !isLink(entry)))
}

/** The setting of an account: from its entry, or a secret from the environment or a file. */
function ofAccount(
  setting: SettingDescription,
  account: AccountEntry,
  environments: readonly Environment[],
  origin: Origin,
): unknown {
  const { name, isSecret } = setting
  // The name of a warehouse follows from the general one: below.
  if (isSecret !== true) return name === 'schema' ? undefined : account.settings[name]
  if (!hasOwn(setting)) return undefined
  const variable = ownVariable(setting.variable, account.name)
  const value = environments
    .map((environment) => fromEnvironment({ ...setting, variable }, environment, origin))
    .find((found) => found !== undefined)
  if (value !== undefined || name !== 'apiKey' || account.apiKeyFile === undefined) return value
  const path = resolve(origin.directory, account.apiKeyFile)
  return readSecretFile(`apiKeyFile of ${account.name}`, path, origin.findings)
}

/** An unknown service is reported, and read like one without a preset. */
function presetOf(
  service: unknown,
  { workingDirectory }: ConfigSources,
  { problems }: Findings,
): Preset {
  if (typeof service !== 'string' || service === 'generic') return GENERIC
  try {
    return readPreset(service, workingDirectory)
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown
    problems.push(...thrown.problems)
    return GENERIC
  }
}

/** The settings that a preset gives. */
export const PRESET_SETTINGS = ['apiUrl', 'rateLimitPerMinute'] as const

function isOfPreset(name: string): name is (typeof PRESET_SETTINGS)[number] {
  return PRESET_SETTINGS.some((setting) => setting === name)
}

/** Variables that begin like ours, but are not settings. */
function misspelt(
  settings: readonly SettingDescription[],
  accounts: readonly AccountEntry[],
  sources: readonly Environment[],
): string[] {
  const known = settings.flatMap((setting) => {
    if (setting.isSecret !== true) return [setting.variable]
    const own = hasOwn(setting)
      ? accounts.map(({ name }) => ownVariable(setting.variable, name))
      : []
    return [setting.variable, ...own].flatMap((variable) => [variable, `${variable}_FILE`])
  })
  const given = new Set(sources.flatMap((source) => Object.keys(source)))
  return [...given]
    .filter((name) => name.startsWith('TRACKING_') && !known.includes(name))
    .filter((name) => name !== FAILPOINT_VARIABLE)
    .sort()
    .map(
      (name) =>
        tellFormer(name) ?? `${name} is not a setting and has no effect${suggest(name, known)}`,
    )
}

type Values = ValuesOf<typeof coreSettings>

/** Checks settings together. A malformed one is missing here, and reported already. */
function checkTogether(
  values: Partial<Values>,
  environment: Environment,
  { problems, warnings }: Findings,
): void {
  const { apiUrl, allowInsecureApiUrl, allowInsecureDatabase, databaseUrl, readerUrl } = values
  if (apiUrl !== undefined && allowInsecureApiUrl === false && !isSafeForKey(new URL(apiUrl))) {
    const problem =
      'is plain http or a private address, and the key would go there; ' +
      'use https://, or set TRACKING_ALLOW_INSECURE_API_URL=true'
    problems.push({ setting: 'TRACKING_API_URL', problem })
  }
  for (const [setting, address] of [
    ['DATABASE_URL', databaseUrl],
    ['TRACKING_READER_URL', readerUrl],
  ] as const) {
    if (address === undefined || allowInsecureDatabase === undefined) continue
    const { problem, warning } = checkDatabaseLink(new URL(address), {
      isInsecureAllowed: allowInsecureDatabase,
      isNodeUnsafe: environment.NODE_TLS_REJECT_UNAUTHORIZED === '0',
    })
    if (problem !== undefined) problems.push({ setting, problem })
    if (warning !== undefined && !warnings.includes(warning)) warnings.push(warning)
  }
}

function secretsOf(config: Config): string[] {
  const { apiKey, databaseUrl, readerUrl, httpsProxy, webhookSecret, webhookSecretPrevious } =
    config
  return [
    apiKey ?? '',
    ...[databaseUrl, readerUrl, proxyAddress(httpsProxy ?? '')].flatMap(passwordsIn),
    webhookSecret ?? '',
    webhookSecretPrevious ?? '',
  ]
}
