import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { ConfigError, type ConfigProblem } from '../base/errors.js'
import { listNames, suggest } from '../base/phrases.js'
import {
  readAccounts,
  schemaOf,
  schemaProblems,
  variableOf,
  type AccountEntry,
} from './accounts.js'
import { checkDatabaseLink, isSafeForKey, type LinkCheck } from './kinds.js'
import { presetNames, readPreset } from './presets.js'
import {
  allSettings,
  settingsSchema,
  type Config,
  type SettingDescription,
  type SettingName,
} from './settings.js'

export type SettingOrigin =
  'flag' | 'account' | 'environment' | '.env' | 'file' | 'preset' | 'default'

type Environment = Readonly<Record<string, string | undefined>>

export interface ConfigSources {
  readonly environment: Environment
  /** Where `.env`, the configuration file and relative paths are looked for. */
  readonly workingDirectory: string
  /** Settings given as flags; undefined ones count as not given. */
  readonly flags?: Partial<Record<SettingName, unknown>>
  /** For `init`, which writes a new one. */
  readonly isDotEnvIgnored?: boolean
  /** Must exist. Absent: `config/tracking-sync.json`, if it exists. */
  readonly configFile?: string | undefined
}

export interface LoadedConfig {
  readonly config: Config
  readonly origins: Readonly<Record<SettingName, SettingOrigin>>
  /** Names of the accounts of the configuration file, in its order. */
  readonly accounts: readonly string[]
  /** Values that must never be printed: secrets, and the password inside the database address. */
  readonly secrets: readonly string[]
  readonly warnings: readonly string[]
}

/** The environment of this process. Nothing else reads it. */
export function readEnvironment(): Environment {
  return process.env
}

/** What is found while the settings are read. No text holds a value. */
interface Findings {
  readonly problems: ConfigProblem[]
  readonly warnings: string[]
}

/**
 * Looks for each setting among the flags, then at the account if one is chosen, in the environment,
 * in `.env`, in the configuration file and in the preset of the service, and takes its default
 * otherwise. Empty means absent. The key of an account is its own: the general one does not count. Throws
 * ConfigError with all problems together, by variable and without any value. Reads files, touches no network.
 */
export function loadConfig(sources: ConfigSources): LoadedConfig {
  const findings: Findings = { problems: [], warnings: [] }
  const { problems, warnings } = findings
  const { environment } = sources
  const dotEnv =
    sources.isDotEnvIgnored === true ? {} : readDotEnv(sources.workingDirectory, findings)
  const { accounts, ...file } = readConfigFile(sources, findings)
  warnings.push(...misspelt(accounts, environment, dotEnv))
  const account = findAccount(sources, accounts, dotEnv, problems)
  const values: Partial<Record<SettingName, unknown>> = {}
  let preset: Partial<Record<SettingName, unknown>> = {}
  const origins = {} as Record<SettingName, SettingOrigin>
  for (const setting of allSettings) {
    const { name, variable, isSecret } = setting
    // Else one account would be read with the key of another.
    const isGeneral = account === undefined || name !== 'apiKey'
    const candidates: readonly [SettingOrigin, unknown][] = [
      ['flag', sources.flags?.[name]],
      ['account', account && ofAccount(setting, account, [environment, dotEnv], findings)],
      ['environment', isGeneral ? fromEnvironment(setting, environment, findings) : undefined],
      ['.env', isGeneral ? fromEnvironment(setting, dotEnv, findings) : undefined],
      ['file', file[name]],
      ['preset', preset[name]],
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
    // The first of all settings.
    if (name === 'service' && found !== undefined) preset = presetOf(found[1], findings)
  }
  const base = typeof values.schema === 'string' ? values.schema : DEFAULT_SCHEMA
  if (account !== undefined && !['flag', 'account'].includes(origins.schema)) {
    values.schema = schemaOf(account.name, base)
    origins.schema = 'account'
  }
  const schemas = accounts.map(({ name, settings }) => {
    const own = settings.schema
    return { name, schema: typeof own === 'string' && own !== '' ? own : schemaOf(name, base) }
  })
  if (account === undefined) problems.push(...schemaProblems(schemas, base))
  const parsed = settingsSchema.safeParse(values)
  if (!parsed.success) problems.push(...parsed.error.issues.map(toProblem))
  if (isKeyAtRisk(values)) {
    const problem =
      'is plain http or a private address, and the key would go there; ' +
      'use https://, or set TRACKING_ALLOW_INSECURE_API_URL=true'
    problems.push({ setting: 'TRACKING_API_URL', problem })
  }
  const link = databaseLink(values, environment)
  if (link.problem !== undefined) problems.push({ setting: 'DATABASE_URL', problem: link.problem })
  if (link.warning !== undefined) warnings.push(link.warning)
  problems.push(...alertProblems(values))
  if (problems.length > 0 || !parsed.success) throw new ConfigError(problems)
  const config = Object.freeze(parsed.data)
  const names = accounts.map(({ name }) => name)
  return { config, origins, accounts: names, secrets: secretsOf(config), warnings }
}

const DEFAULT_SCHEMA = 'tracking'

/** The account that is asked for; undefined where none is. */
function findAccount(
  { flags, environment }: ConfigSources,
  accounts: readonly AccountEntry[],
  dotEnv: Environment,
  problems: ConfigProblem[],
): AccountEntry | undefined {
  const wanted = [flags?.account, environment.TRACKING_ACCOUNT, dotEnv.TRACKING_ACCOUNT].find(
    (name) => typeof name === 'string' && name !== '',
  )
  if (typeof wanted !== 'string') return undefined
  const found = accounts.find(({ name }) => name === wanted)
  if (found !== undefined) return found
  const names = accounts.map(({ name }) => name)
  const problem =
    names.length === 0
      ? 'is set, but the configuration file names no accounts'
      : `is none of the configuration file, which has ${listNames(names)}${suggest(wanted, names)}`
  problems.push({ setting: 'TRACKING_ACCOUNT', problem })
  return undefined
}

/** A setting as an account has it: in its entry, or a secret in the environment or in a file. */
function ofAccount(
  setting: SettingDescription,
  account: AccountEntry,
  environments: readonly Environment[],
  findings: Findings,
): unknown {
  const { name, isSecret } = setting
  if (isSecret !== true) return account.settings[name]
  const variable = variableOf(setting, account.name)
  const [value] = environments
    .map((environment) => fromEnvironment({ ...setting, variable }, environment, findings))
    .filter((found) => found !== undefined)
  if (value !== undefined || name !== 'apiKey' || account.apiKeyFile === undefined) return value
  return readSecretFile(`apiKeyFile of ${account.name}`, account.apiKeyFile, findings)
}

/** An account with its settings. */
export interface LoadedAccount extends LoadedConfig {
  readonly name: string
}

/**
 * The settings of every account, as `loadConfig` finds them. Throws ConfigError with the problems of
 * all accounts together, also where two of them have one key or one schema of a database.
 */
export function loadAccounts(sources: ConfigSources): LoadedAccount[] {
  const { accounts } = loadConfig(sources)
  const problems: ConfigProblem[] = []
  const loaded: LoadedAccount[] = []
  for (const name of accounts) {
    try {
      const flags = { ...sources.flags, account: name }
      loaded.push({ name, ...loadConfig({ ...sources, flags }) })
    } catch (thrown) {
      if (!(thrown instanceof ConfigError)) throw thrown
      for (const one of thrown.problems) {
        problems.push({ ...one, setting: `${one.setting} of ${name}` })
      }
    }
  }
  for (const [at, { name, config }] of loaded.entries()) {
    const same = loaded
      .slice(0, at)
      .find((other) => config.apiKey !== undefined && other.config.apiKey === config.apiKey)
    if (same === undefined) continue
    problems.push({ setting: `the key of ${name}`, problem: `is the key of ${same.name} too` })
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return loaded
}

function presetOf(service: unknown, { problems }: Findings): Partial<Record<SettingName, unknown>> {
  const names = presetNames()
  const name = names.find((each) => each === service)
  if (name === 'generic') return {}
  if (name !== undefined) return readPreset(name).settings
  const wanted = typeof service === 'string' ? suggest(service, names) : ''
  const problem = `is not a service we have a preset for: ${names.join(', ')}${wanted}`
  problems.push({ setting: 'TRACKING_SERVICE', problem })
  return {}
}

/** Variables that begin as ours do, but which nothing reads. */
function misspelt(accounts: readonly AccountEntry[], ...sources: readonly Environment[]): string[] {
  const known = allSettings.flatMap((setting) => {
    if (setting.isSecret !== true) return [setting.variable]
    const own = accounts.map(({ name }) => variableOf(setting, name))
    return [setting.variable, ...own].flatMap((variable) => [variable, `${variable}_FILE`])
  })
  const given = new Set(sources.flatMap((source) => Object.keys(source)))
  return [...given]
    .filter((name) => name.startsWith('TRACKING_') && !known.includes(name))
    .sort()
    .map((name) => `${name} is not a setting and has no effect${suggest(name, known)}`)
}

function toProblem({ path, message }: { readonly path: readonly PropertyKey[]; message: string }) {
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

function databaseLink(values: Values, environment: Environment): LinkCheck {
  const { databaseUrl, allowInsecureDatabase } = settingsSchema.shape
  const url = databaseUrl.safeParse(values.databaseUrl).data
  const isAllowed = allowInsecureDatabase.safeParse(values.allowInsecureDatabase).data
  if (url === undefined || isAllowed === undefined) return {}
  return checkDatabaseLink(new URL(url), {
    isInsecureAllowed: isAllowed,
    isNodeUnsafe: environment.NODE_TLS_REJECT_UNAUTHORIZED === '0',
  })
}

/** What a channel of alerts needs beside its address. */
function alertProblems(values: Values): ConfigProblem[] {
  const needed: readonly (readonly [SettingName, SettingName])[] = [
    ['alertWebhookUrl', 'alertWebhookSecret'],
    ['alertSmtpUrl', 'alertSmtpFrom'],
    ['alertSmtpUrl', 'alertSmtpTo'],
  ]
  const variableOf = (name: SettingName): string =>
    allSettings.find((setting) => setting.name === name)?.variable ?? name
  return needed
    .filter(([address, other]) => values[address] !== undefined && values[other] === undefined)
    .map(([address, other]) => ({
      setting: variableOf(other),
      problem: `is not set, and ${variableOf(address)} needs it`,
    }))
}

function secretsOf(config: Config): string[] {
  const { apiKey, databaseUrl, moveToUrl, webhookSecret, webhookSecretPrevious } = config
  return [
    apiKey ?? '',
    ...passwordsIn(databaseUrl),
    ...passwordsIn(moveToUrl),
    webhookSecret ?? '',
    webhookSecretPrevious ?? '',
    ...alertSecretsOf(config),
  ].filter((secret) => secret !== '')
}

/** A shorter path is a name like /alerts. */
const SHORTEST_SECRET_PATH = 16

/** Whole, and as the parts that a message of a library may show. */
function alertSecretsOf(config: Config): string[] {
  const { alertWebhookUrl, alertSlackUrl, alertTeamsUrl, alertSmtpUrl, alertWebhookSecret } = config
  const urls = [alertWebhookUrl, alertSlackUrl, alertTeamsUrl].flatMap((address) => {
    if (address === undefined) return []
    const { href, pathname, search } = new URL(address)
    const path = `${pathname}${search}`
    return [address, href, ...(path.length < SHORTEST_SECRET_PATH ? [] : [path, pathname])]
  })
  const password = alertSmtpUrl === undefined ? '' : new URL(alertSmtpUrl).password
  return [...urls, password, safeDecode(password), alertWebhookSecret ?? '']
}

function passwordsIn(databaseUrl: string | undefined): string[] {
  if (databaseUrl === undefined) return []
  const { password, searchParams } = new URL(databaseUrl)
  // PostgreSQL's clients also take the password from the query of the address.
  return [password, safeDecode(password), ...searchParams.getAll('password')]
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The group may read the file of a secret; only the owner may read `.env`. */
const OTHERS_AND_GROUP_WRITE = 0o027
const OTHERS_AND_GROUP = 0o077

/** The value in an environment, or in the file that `<VARIABLE>_FILE` names for a secret. */
function fromEnvironment(
  { variable, isSecret }: SettingDescription,
  environment: Environment,
  findings: Findings,
): string | undefined {
  const value = emptyAsAbsent(environment[variable])
  const path = isSecret === true ? emptyAsAbsent(environment[`${variable}_FILE`]) : undefined
  if (path === undefined) return value
  if (value === undefined) return readSecretFile(`${variable}_FILE`, path, findings)
  const problem = `is set together with ${variable}_FILE; remove one of them`
  findings.problems.push({ setting: variable, problem })
  return undefined
}

function emptyAsAbsent(value: string | undefined): string | undefined {
  return value?.trim() === '' ? undefined : value
}

function readSecretFile(
  setting: string,
  path: string,
  { problems, warnings }: Findings,
): string | undefined {
  try {
    if ((statSync(path).mode & OTHERS_AND_GROUP_WRITE) !== 0) {
      warnings.push(`other users can read or change the file of ${setting}: chmod 0640 it`)
    }
    const content = readFileSync(path, 'utf8').replace(/\r?\n$/, '')
    if (content !== '') return content
    problems.push({ setting, problem: 'names an empty file' })
  } catch {
    problems.push({ setting, problem: 'names a file that cannot be read' })
  }
  return undefined
}

/** The variables of `.env` in the working directory; none if there is no such file. */
function readDotEnv(workingDirectory: string, findings: Findings): Environment {
  const path = resolve(workingDirectory, '.env')
  const content = readIfThere(path, '.env', findings)
  if (content === undefined) return {}
  const variables = parseEnv(content)
  const holdsSecret = allSettings.some(
    ({ variable, isSecret }) =>
      isSecret === true && emptyAsAbsent(variables[variable]) !== undefined,
  )
  if (holdsSecret && (statSync(path).mode & OTHERS_AND_GROUP) !== 0) {
    findings.warnings.push('.env holds a secret and other users can read it: chmod 0600 it')
  }
  return variables
}

interface ConfigFile extends Readonly<Record<string, unknown>> {
  readonly accounts: readonly AccountEntry[]
}

/** The members of the configuration file. Names that are not settings become problems. */
function readConfigFile(
  { workingDirectory, configFile }: ConfigSources,
  findings: Findings,
): ConfigFile {
  const { problems } = findings
  const name = configFile ?? 'config/tracking-sync.json'
  const content = readIfThere(resolve(workingDirectory, name), name, findings)
  if (content === undefined) {
    if (configFile !== undefined) problems.push({ setting: name, problem: 'does not exist' })
    return { accounts: [] }
  }
  const parsed = parseJsonObject(content)
  if (parsed === undefined) problems.push({ setting: name, problem: 'is not a JSON object' })
  // JSON has no comments: members that begin with // serve as such. `$schema` is for editors.
  const { accounts, ...members } = (parsed ?? {}) as Readonly<Record<string, unknown>>
  const entries = Object.entries(members).filter(
    ([key]) => !key.startsWith('//') && key !== '$schema',
  )
  for (const [key] of entries) {
    if (allSettings.some((setting) => setting.name === key && setting.isHidden !== true)) continue
    problems.push({ setting: `${key} in ${name}`, problem: 'is not a setting' })
  }
  return { ...Object.fromEntries(entries), accounts: readAccounts(accounts, name, problems) }
}

function parseJsonObject(content: string): object | undefined {
  try {
    const value: unknown = JSON.parse(content)
    return typeof value === 'object' && !Array.isArray(value) ? (value ?? undefined) : undefined
  } catch {
    return undefined
  }
}

function readIfThere(path: string, setting: string, { problems }: Findings): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (!['ENOENT', 'ENOTDIR'].includes(code)) problems.push({ setting, problem: 'cannot be read' })
    return undefined
  }
}
