import { z } from 'zod'
import { fromEnvironment, readConfigFile, readDotEnv } from './config-sources.js'
import { judgeDatabaseLink, type LinkJudgement } from './database-address.js'
import { ConfigError, type ConfigProblem } from '../base/errors.js'
import { isFailpointSpec } from '../base/failpoint.js'
import { apiKeyProblem, baseUrlProblem } from '../base/service-address.js'
import { serveSettings } from './serve-settings.js'
import { flag, oneOf, setting, text, wholeNumber, type SettingMeta } from './setting-kinds.js'
import { suggest } from '../base/suggest.js'
import { webhookSettings } from './webhook-settings.js'
import { webhookWatchSettings } from './webhook-watch-settings.js'

/**
 * The only place that knows the settings and the only reader of the environment. A value is looked
 * for among the flags, then in the environment (`.env` is read), then in the configuration file,
 * then in the defaults. Empty means absent. Malformed is an error, never a silent default; all
 * problems are reported together, by the variable's name, without its value.
 */

const DATABASE_URL_PROBLEM = 'must look like postgres://user:password@host:5432/database'

const settings = z.strictObject({
  apiUrl: setting(
    text
      .superRefine((value, context) => {
        const problem = baseUrlProblem(value)
        if (problem !== undefined) context.addIssue(problem)
      })
      .optional(),
    { variable: 'TRACKING_API_URL', flag: '--api-url' },
    'Base address of the tracking service; ends with the version segment /v2.',
  ),
  apiKey: setting(
    text
      .superRefine((value, context) => {
        const problem = apiKeyProblem(value)
        if (problem !== undefined) context.addIssue(problem)
      })
      .optional(),
    { variable: 'TRACKING_API_KEY', isSecret: true },
    'Key of the account at the tracking service, without the word Token.',
  ),
  databaseUrl: setting(
    text
      .refine((value) => /^postgres(?:ql)?:$/.test(urlProtocol(value)), DATABASE_URL_PROBLEM)
      .optional(),
    { variable: 'DATABASE_URL', isSecret: true },
    'PostgreSQL 14 or later that holds the warehouse. Absent: an embedded PostgreSQL under TRACKING_HOME.',
  ),
  home: setting(
    text.default('.tracking-sync'),
    { variable: 'TRACKING_HOME', flag: '--home' },
    'Directory of the embedded database; relative to the working directory.',
  ),
  schema: setting(
    text
      .regex(
        /^[a-z_][a-z0-9_]{0,49}$/,
        'must be 1 to 50 lower-case letters, digits or underscores, not beginning with a digit',
      )
      .default('tracking'),
    { variable: 'TRACKING_SCHEMA', flag: '--schema' },
    'Schema of the data tables. The others are named after it: <schema>_sync, <schema>_analytics, <schema>_as_of, <schema>_datasync, <schema>_stored.',
  ),
  rateLimitPerMinute: setting(
    wholeNumber(1, 100_000).default(90),
    { variable: 'TRACKING_RATE_LIMIT_PER_MINUTE', flag: '--rate-limit' },
    'Requests to the service in any 60 seconds. The service allows about 100 for an account; 90 leaves room for others.',
  ),
  pageSize: setting(
    wholeNumber(1, 1000).default(100),
    { variable: 'TRACKING_PAGE_SIZE', flag: '--page-size' },
    'Records asked for per list page. What arrives is believed, also when it is fewer.',
  ),
  requestTimeoutSeconds: setting(
    wholeNumber(1, 3600).default(120),
    { variable: 'TRACKING_REQUEST_TIMEOUT_SECONDS', flag: '--request-timeout' },
    'Longest time for one attempt of a request, headers and body together.',
  ),
  eventConcurrency: setting(
    wholeNumber(1, 32).default(4),
    { variable: 'TRACKING_EVENT_CONCURRENCY', flag: '--event-concurrency' },
    "Requests for containers' transport events under way at once, where they do not come included.",
  ),
  runMinutes: setting(
    wholeNumber(1, 10_000).optional(),
    { variable: 'TRACKING_RUN_MINUTES', flag: '--run-minutes' },
    'Longest time for one run; then it stops after the page under way with exit code 6, and the next run goes on there. Absent: no limit.',
  ),
  fullSyncHours: setting(
    wholeNumber(0, 8760).default(24),
    { variable: 'TRACKING_FULL_SYNC_HOURS', flag: '--full-sync-hours' },
    'A sync reads the shipments that are still tracked and the tracking requests that changed, and the whole lists once in so many hours. Only the whole shows what was deleted. 0: always the whole.',
  ),
  transportEventChecksPerSync: setting(
    wholeNumber(0, 1000).default(1),
    { variable: 'TRACKING_EVENT_CHECKS_PER_SYNC', flag: '--event-checks' },
    'Unfinished containers whose transport events each sync reads again although their list of events has not changed, where events do not come included: one request each, the longest unread first. 0: none.',
  ),
  vesselPositions: setting(
    flag().default(false),
    { variable: 'TRACKING_VESSEL_POSITIONS', flag: '--vessel-positions' },
    'Read the position history of every known vessel in each run: one request per vessel.',
  ),
  storedViews: setting(
    oneOf(['auto', 'always', 'never']).default('auto'),
    { variable: 'TRACKING_STORED_VIEWS', flag: '--stored-views' },
    'When a run that wrote something stores the large views for reports that read all of them (schema <schema>_stored): auto is from 100,000 containers on.',
  ),
  quarantineLimitPercent: setting(
    wholeNumber(0, 100).default(5),
    { variable: 'TRACKING_QUARANTINE_LIMIT_PERCENT', flag: '--quarantine-limit' },
    'A run that sets aside more than this share of a stream is not trusted and ends with exit code 6.',
  ),
  migrate: setting(
    flag().default(true),
    { variable: 'TRACKING_MIGRATE', flag: '--migrate' },
    'Create or upgrade the schemas when a command starts. False: refuse to run until `migrate` was run.',
  ),
  strict: setting(
    flag().default(false),
    { variable: 'TRACKING_STRICT', flag: '--strict' },
    'Refuse to work as a superuser or as the owner of the schemas, and never upgrade them: for a login with the role <schema>_writer.',
  ),
  databasePort: setting(
    wholeNumber(1, 65_535).optional(),
    { variable: 'TRACKING_DATABASE_PORT', flag: '--database-port' },
    'Port of the embedded database on 127.0.0.1. Absent: a free one, kept from then on.',
  ),
  allowInsecureApiUrl: setting(
    flag().default(false),
    { variable: 'TRACKING_ALLOW_INSECURE_API_URL', flag: '--allow-insecure-api-url' },
    'Send the key over plain http or to a private address that is not this machine.',
  ),
  allowInsecureDatabase: setting(
    flag().default(false),
    { variable: 'TRACKING_ALLOW_INSECURE_DATABASE', flag: '--allow-insecure-database' },
    'Reach a database on another machine without sslmode=verify-full: for a network you trust.',
  ),
  ...webhookSettings,
  ...webhookWatchSettings,
  ...serveSettings,
  failpoint: setting(
    text.refine(isFailpointSpec, 'must name a failpoint, like mid_batch or mid_batch:3').optional(),
    { variable: 'TRACKING_FAILPOINT', flag: '--failpoint' },
    'For tests of recovery: kill the program, as a crash would, at a named point.',
  ),
  logLevel: setting(
    oneOf(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
    { variable: 'TRACKING_LOG_LEVEL', flag: '--log-level' },
    'Least severe log lines written to standard error: debug, info, warn, error or silent.',
  ),
  logFormat: setting(
    oneOf(['auto', 'text', 'json']).default('auto'),
    { variable: 'TRACKING_LOG_FORMAT', flag: '--log-format' },
    'text for people, json for machines; auto: text on a terminal, json elsewhere.',
  ),
})

export type Config = Readonly<z.output<typeof settings>>
export type SettingName = keyof Config

export type SettingOrigin = 'flag' | 'environment' | '.env' | 'file' | 'default'

export interface SettingDescription extends SettingMeta {
  readonly name: SettingName
  readonly meaning: string
  /** Undefined where there is none. */
  readonly defaultValue: string | number | boolean | undefined
}

/** Every setting, in the order of the documentation. */
export const settingDescriptions: readonly SettingDescription[] = Object.entries(
  settings.shape,
).map(([name, schema]) => {
  const meta = schema.meta() as unknown as SettingMeta
  const parsed = schema.safeParse(undefined)
  return {
    name: name as SettingName,
    variable: meta.variable,
    ...(meta.flag === undefined ? {} : { flag: meta.flag }),
    isSecret: meta.isSecret ?? false,
    meaning: schema.description ?? '',
    defaultValue: parsed.success ? parsed.data : undefined,
  }
})

export interface ConfigSources {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Where `.env`, the configuration file and relative paths are looked for. */
  readonly workingDirectory: string
  /** Settings given as flags; undefined ones count as not given. */
  readonly flags?: Partial<Record<SettingName, unknown>>
  /**
   * A configuration file that must exist. Absent: `config/tracking-sync.json`, when there is one.
   */
  readonly configFile?: string | undefined
}

export interface LoadedConfig {
  readonly config: Config
  readonly origins: Readonly<Record<SettingName, SettingOrigin>>
  /**
   * Every value that must never be printed: the key, and the password inside the database address.
   */
  readonly secrets: readonly string[]
  /** Things worth a word that are no errors. */
  readonly warnings: readonly string[]
}

/** The process's environment, for the composition root to hand to `loadConfig`. */
export function readEnvironment(): Readonly<Record<string, string | undefined>> {
  return process.env
}

/**
 * Reads all sources and checks everything. Throws ConfigError with every problem found. Reads
 * files, touches no network.
 */
export function loadConfig(sources: ConfigSources): LoadedConfig {
  const problems: ConfigProblem[] = []
  const warnings: string[] = []
  const secretVariables = settingDescriptions
    .filter(({ isSecret }) => isSecret === true)
    .map(({ variable }) => variable)
  const dotEnv = readDotEnv(sources.workingDirectory, secretVariables, problems, warnings)
  const names = settingDescriptions.map(({ name }) => name)
  const file = readConfigFile(sources, names, problems)
  warnings.push(...misspelt(sources.environment, dotEnv))
  const values: Record<string, unknown> = {}
  const origins = {} as Record<SettingName, SettingOrigin>
  for (const description of settingDescriptions) {
    const { name, variable } = description
    const candidates: readonly [SettingOrigin, unknown][] = [
      ['flag', sources.flags?.[name]],
      ['environment', fromEnvironment(description, sources.environment, problems, warnings)],
      ['.env', fromEnvironment(description, dotEnv, problems, warnings)],
      ['file', file[name]],
    ]
    const found = candidates.find(([, value]) => value !== undefined && value !== '')
    // Also when another source wins: the file would still hold it.
    if (description.isSecret === true && file[name] !== undefined) {
      problems.push({
        setting: variable,
        problem: `is a secret and has no place in the configuration file: set it in the environment, or ${variable}_FILE`,
      })
    }
    if (found !== undefined) values[name] = found[1]
    origins[name] = found?.[0] ?? 'default'
  }
  const parsed = settings.safeParse(values)
  if (!parsed.success) problems.push(...parsed.error.issues.map(toProblem))
  problems.push(...crossChecks(values))
  const link = databaseLink(values, sources.environment)
  if (link.problem !== undefined) problems.push({ setting: 'DATABASE_URL', problem: link.problem })
  if (link.warning !== undefined) warnings.push(link.warning)
  if (problems.length > 0 || !parsed.success) throw new ConfigError(problems)
  const config = Object.freeze(parsed.data)
  return { config, origins, secrets: secretsOf(config), warnings }
}

/** Names that begin as ours do and are none: a setting that nobody reads. */
function misspelt(...sources: readonly ConfigSources['environment'][]): string[] {
  const known = settingDescriptions.flatMap(({ variable, isSecret }) =>
    isSecret === true ? [variable, `${variable}_FILE`] : [variable],
  )
  const given = new Set(sources.flatMap((source) => Object.keys(source)))
  return [...given]
    .filter((name) => name.startsWith('TRACKING_') && !known.includes(name))
    .sort()
    .map((name) => `${name} is no setting and has no effect${suggest(name, known)}`)
}

function toProblem(issue: z.core.$ZodIssue): ConfigProblem {
  if (issue.code === 'unrecognized_keys') {
    return {
      setting: issue.keys.join(', '),
      problem: 'is no setting; see config/tracking-sync.example.json',
    }
  }
  const name = String(issue.path[0])
  const description = settingDescriptions.find((candidate) => candidate.name === name)
  return { setting: description?.variable ?? name, problem: issue.message }
}

/**
 * What concerns two settings together. Told also when other settings are wrong; a setting that is
 * wrong itself was told already.
 */
function crossChecks(values: Readonly<Record<string, unknown>>): ConfigProblem[] {
  const apiUrl = settings.shape.apiUrl.safeParse(values.apiUrl)
  const isInsecureAllowed = settings.shape.allowInsecureApiUrl.safeParse(values.allowInsecureApiUrl)
  if (!apiUrl.success || apiUrl.data === undefined || !isInsecureAllowed.success) return []
  if (isInsecureAllowed.data || isSafeForKey(new URL(apiUrl.data))) return []
  return [
    {
      setting: 'TRACKING_API_URL',
      problem:
        'is plain http or a private address, and the key would go there; use https://, or set TRACKING_ALLOW_INSECURE_API_URL=true',
    },
  ]
}

/**
 * Nothing where there is no address, or where it or the allowance is malformed, which was told
 * already.
 */
function databaseLink(
  values: Readonly<Record<string, unknown>>,
  environment: ConfigSources['environment'],
): LinkJudgement {
  const { databaseUrl, allowInsecureDatabase } = settings.shape
  const url = databaseUrl.safeParse(values.databaseUrl)
  const isInsecureAllowed = allowInsecureDatabase.safeParse(values.allowInsecureDatabase)
  if (!url.success || url.data === undefined || !isInsecureAllowed.success) return {}
  return judgeDatabaseLink(new URL(url.data), {
    isInsecureAllowed: isInsecureAllowed.data,
    isNodeUnsafe: environment.NODE_TLS_REJECT_UNAUTHORIZED === '0',
  })
}

/** This machine itself may speak http: that is where the simulator runs. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/
const PRIVATE =
  /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.|0\.|\[f[cd]|\[fe80|\[::ffff:|\[::\])/i

function isSafeForKey(url: URL): boolean {
  if (LOOPBACK.test(url.hostname)) return true
  return url.protocol === 'https:' && !PRIVATE.test(url.hostname)
}

function urlProtocol(value: string): string {
  return URL.canParse(value) ? new URL(value).protocol : ''
}

function secretsOf(config: Config): string[] {
  const { apiKey, databaseUrl, webhookSecret, webhookSecretPrevious } = config
  const address = databaseUrl === undefined ? undefined : new URL(databaseUrl)
  const password = address?.password ?? ''
  // PostgreSQL's clients also take the password from the query of the address.
  const inQuery = address?.searchParams.getAll('password') ?? []
  const webhookSecrets = [webhookSecret, webhookSecretPrevious]
  const secrets = [apiKey, password, safeDecode(password), ...inQuery, ...webhookSecrets]
  return secrets.filter((secret): secret is string => secret !== undefined && secret !== '')
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
