import * as kind from './kinds.js'
import type { Setting, Settings, SettingsGroup, ValuesOf } from './setting.js'
import { readPreset, type Preset } from './presets.js'

/** The values without a preset are in a file, like each preset. */
const generic = readPreset('generic')

/** The settings of the core, in the order of the documentation. */
export const coreSettings = {
  service: {
    variable: 'TRACKING_SERVICE',
    kind: kind.text.default('generic'),
    meaning:
      'Preset of the service: its address, limits, page size, and how it sends webhooks. ' +
      'Another service: a file of your own, like ./my-service.json.',
  },
  apiUrl: {
    variable: 'TRACKING_API_URL',
    kind: kind.baseUrl.optional(),
    meaning: 'Base address of the tracking service; ends with the version segment /v2.',
  },
  apiKey: {
    variable: 'TRACKING_API_KEY',
    isSecret: true,
    kind: kind.apiKey.optional(),
    meaning: 'Key of the account at the tracking service, without the word Token.',
  },
  databaseUrl: {
    variable: 'DATABASE_URL',
    isSecret: true,
    isOfProcess: true,
    kind: kind.databaseUrl.optional(),
    meaning:
      'PostgreSQL 14 or later that holds the warehouse. ' +
      'Default: an embedded PostgreSQL under TRACKING_HOME.',
  },
  readerUrl: {
    variable: 'TRACKING_READER_URL',
    isSecret: true,
    isOfProcess: true,
    kind: kind.databaseUrl.optional(),
    meaning:
      'The same database, with the login that asks your own SQL (`query "select …"`) and the ' +
      'panels of the dashboard: a member of the role <schema>_reader. `migrate --roles` makes it. ' +
      'Default: the login of DATABASE_URL under that role, which a statement can give back; ' +
      'the embedded database has a login of its own.',
  },
  httpsProxy: {
    variable: 'HTTPS_PROXY',
    isSecret: true,
    isOfProcess: true,
    kind: kind.text.optional(),
    meaning:
      'Proxy for requests to the service and to channels of alerts, like ' +
      'http://proxy.example:3128. Also read as https_proxy. Mail does not use it.',
  },
  noProxy: {
    variable: 'NO_PROXY',
    isOfProcess: true,
    // The usual name would be one that negates --proxy.
    flag: '--proxy-bypass',
    kind: kind.text.optional(),
    meaning:
      'Hosts that are reached without HTTPS_PROXY, separated by commas; * for all. Also read as ' +
      'no_proxy. This machine never needs to be named.',
  },
  home: {
    variable: 'TRACKING_HOME',
    isOfProcess: true,
    kind: kind.text.default('.tracking-sync'),
    meaning: 'Directory of the embedded database; relative to the working directory.',
  },
  schema: {
    variable: 'TRACKING_SCHEMA',
    kind: kind.schemaName.default('tracking'),
    meaning:
      'Schema of the data tables. The others are named after it: <schema>_sync, ' +
      '<schema>_analytics, <schema>_parts, <schema>_as_of, <schema>_datasync, <schema>_stored.',
  },
  account: {
    variable: 'TRACKING_ACCOUNT',
    isOfProcess: true,
    kind: kind.accountName.optional(),
    meaning: 'Account of the configuration file to work for, where it names several.',
  },
  rateLimitPerMinute: {
    variable: 'TRACKING_RATE_LIMIT_PER_MINUTE',
    flag: '--rate-limit',
    kind: kind.requestsPerMinute.default(generic.rateLimitPerMinute),
    meaning:
      'Requests to the service in any 60 seconds. The service allows an account about 100; ' +
      '90 leaves room for others.',
  },
  runMinutes: {
    variable: 'TRACKING_RUN_MINUTES',
    kind: kind.wholeNumber(1, 10_000).optional(),
    meaning:
      'Minutes that a run may take. After that it stops at the end of a page with exit code 6, ' +
      'and the next run continues there. Default: no limit.',
  },
  fullSyncHours: {
    variable: 'TRACKING_FULL_SYNC_HOURS',
    kind: kind.wholeNumber(0, 8760).default(24),
    meaning:
      'Hours between two syncs that read every list completely. The syncs in between read only ' +
      'the shipments still tracked and the tracking requests that changed. Only a complete sync ' +
      'notices deletions. 0: every sync is complete.',
  },
  vesselPositions: {
    variable: 'TRACKING_VESSEL_POSITIONS',
    kind: kind.flag.default(false),
    meaning: 'Read the position history of every known vessel in each run: one request per vessel.',
  },
  rawEvents: {
    variable: 'TRACKING_RAW_EVENTS',
    kind: kind.flag.default(false),
    meaning:
      'Read the raw events of each container that is new or has changed, and once a day while its ' +
      'shipment is tracked: one request for each. The service marks them as deprecated.',
  },
  sensitiveFields: {
    variable: 'TRACKING_SENSITIVE_FIELDS',
    kind: kind
      .matching(/^[\w-]+(?:\s*,\s*[\w-]+)*$/, 'must be slugs, separated by commas')
      .optional(),
    meaning:
      'Slugs of sensitive custom fields whose values are stored all the same, separated by commas.',
  },
  migrate: {
    variable: 'TRACKING_MIGRATE',
    kind: kind.flag.default(true),
    meaning:
      'Create or upgrade the schemas when a command starts. ' +
      'false: refuse to start until `tracking-sync migrate` was run.',
  },
  strict: {
    variable: 'TRACKING_STRICT',
    kind: kind.flag.default(false),
    meaning:
      'Refuse to run as a superuser or as the owner of the schemas, and never upgrade them. ' +
      'For a login with the role <schema>_writer.',
  },
  allowInsecureApiUrl: {
    variable: 'TRACKING_ALLOW_INSECURE_API_URL',
    kind: kind.flag.default(false),
    meaning: 'Allow sending the key over plain http, or to a private address.',
  },
  allowInsecureDatabase: {
    variable: 'TRACKING_ALLOW_INSECURE_DATABASE',
    isOfProcess: true,
    kind: kind.flag.default(false),
    meaning:
      'Allow a database on another machine without sslmode=verify-full. ' +
      'Only for a network you trust.',
  },
  webhookSecret: {
    variable: 'TRACKING_WEBHOOK_SECRET',
    isSecret: true,
    kind: kind.webhookSecret.optional(),
    meaning: 'Secret with which the service signs its webhook deliveries.',
  },
  webhookSecretPrevious: {
    variable: 'TRACKING_WEBHOOK_SECRET_PREVIOUS',
    isSecret: true,
    kind: kind.webhookSecret.optional(),
    meaning:
      'The secret before it. Set it while you change the secret: deliveries signed with either ' +
      'are accepted.',
  },
  webhookPath: {
    variable: 'TRACKING_WEBHOOK_PATH',
    kind: kind
      .matching(
        /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9_~.-]+)+$/,
        'must be a path like /webhooks, of letters, digits, dots, hyphens and underscores',
      )
      .default('/webhooks'),
    meaning: 'Path at which webhook deliveries are received.',
  },
  webhookUrl: {
    variable: 'TRACKING_WEBHOOK_URL',
    kind: kind.publicUrl.optional(),
    meaning: 'Address at which the service reaches the receiver from outside, path included.',
  },
  trustedProxyHops: {
    variable: 'TRACKING_TRUSTED_PROXY_HOPS',
    kind: kind.wholeNumber(0, 10).default(0),
    meaning:
      'Number of your own proxies before the receiver, each of which adds to X-Forwarded-For. ' +
      'Set it only where the receiver cannot be reached past them.',
  },
  host: {
    variable: 'TRACKING_HOST',
    isOfProcess: true,
    kind: kind
      .matching(/^[A-Za-z0-9.:_-]{1,253}$/, 'must be an address or a host name')
      .default('127.0.0.1'),
    meaning:
      'Address that webhooks and health checks come to. 0.0.0.0: every address of this machine.',
  },
  httpPort: {
    variable: 'PORT',
    isOfProcess: true,
    kind: kind.wholeNumber(0, 65_535).default(8080),
    meaning: 'Port of webhooks and health checks; 0 takes a free one.',
  },
  pagesHost: {
    variable: 'TRACKING_PAGES_HOST',
    isOfProcess: true,
    kind: kind
      .matching(/^[A-Za-z0-9.:_-]{1,253}$/, 'must be an address or a host name')
      .default('127.0.0.1'),
    meaning:
      'Address that serve shows its pages at: dashboard, /metrics and questions. ' +
      '0.0.0.0: every address of this machine.',
  },
  pagesPort: {
    variable: 'TRACKING_PAGES_PORT',
    isOfProcess: true,
    kind: kind.wholeNumber(0, 65_535).default(8081),
    meaning: 'Port of the pages of serve; 0 takes a free one.',
  },
  webhookIds: {
    variable: 'TRACKING_WEBHOOK_IDS',
    kind: kind
      .matching(
        /^[^\s,"']{1,255}(?:\s*,\s*[^\s,"']{1,255})*$/,
        'must be ids of webhooks, separated by commas',
      )
      .optional(),
    meaning:
      'Ids of our webhooks, separated by commas; only their notifications are applied. ' +
      'Default: the webhooks that send to TRACKING_WEBHOOK_URL.',
  },
  hosts: {
    variable: 'TRACKING_HOSTS',
    isOfProcess: true,
    kind: kind
      .matching(
        /^[\w.-]+(?:\s*,\s*[\w.-]+)*$/,
        'must be names of hosts without ports, separated by commas',
      )
      .optional(),
    meaning:
      'Host names that the dashboard and /metrics answer to, separated by commas. ' +
      'localhost and IP addresses always work; other names get 421.',
  },
  syncCron: {
    variable: 'SYNC_CRON',
    kind: kind.cron.default('*/15 * * * *'),
    meaning: 'When serve runs a sync: a cron expression, or off.',
  },
  cronTimeZone: {
    variable: 'TRACKING_CRON_TIME_ZONE',
    kind: kind.timeZone.default('UTC'),
    meaning: 'Time zone of the cron expressions and of the digest of alerts.',
  },
  logLevel: {
    variable: 'TRACKING_LOG_LEVEL',
    isOfProcess: true,
    kind: kind.oneOf(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
    meaning: 'Least severe log lines to write: debug, info, warn, error or silent.',
  },
  logFormat: {
    variable: 'TRACKING_LOG_FORMAT',
    isOfProcess: true,
    kind: kind.oneOf(['auto', 'text', 'json']).default('auto'),
    meaning: 'text for people, json for machines; auto: text on a terminal, json elsewhere.',
  },
} as const satisfies Settings

export type SettingName = keyof typeof coreSettings

/** The settings of the core, and the preset of the service. */
export type Config = ValuesOf<typeof coreSettings> & {
  readonly preset: Preset
  /** Of a test. */
  readonly failpoint?: string | undefined
}

export interface SettingDescription extends Setting {
  readonly name: string
  /** Undefined without a default. */
  readonly defaultValue: string | number | boolean | undefined
}

/** The settings of the core, then those of the groups. */
export function describeSettings(groups: readonly SettingsGroup[] = []): SettingDescription[] {
  const all = [coreSettings, ...groups.map(({ settings }) => settings)]
  return all.flatMap((settings: Settings) =>
    Object.entries(settings).map(([name, setting]) => {
      const { flag = flagOf(setting.variable), ...others } = setting
      const { data } = setting.kind.safeParse(undefined)
      return {
        name,
        ...others,
        ...(setting.isSecret === true ? {} : { flag }),
        defaultValue: data as SettingDescription['defaultValue'],
      }
    }),
  )
}

function flagOf(variable: string): string {
  return `--${variable.replace('TRACKING_', '').replaceAll('_', '-').toLowerCase()}`
}
