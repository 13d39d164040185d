import { ConfigError, type ConfigProblem } from '../base/errors.js'
import { listNames } from '../base/phrases.js'
import type { ProxySettings } from '../base/outbound.js'
import { proxyAddress } from '../base/service-address.js'
import type { LoadedConfig } from './load.js'
import { ownVariable, type SettingsGroup, type ValuesOf } from './setting.js'
import type { Config } from './settings.js'

/**
 * Settings that a command requires. Each function throws a ConfigError that names every missing
 * setting.
 */

interface Service {
  readonly apiUrl: string
  readonly apiKey: string
}

type ServiceSettings = Pick<Config, 'apiUrl' | 'apiKey' | 'account'>

export function requireService({ apiUrl, apiKey, account }: ServiceSettings): Service {
  if (apiUrl !== undefined && apiKey !== undefined) return { apiUrl, apiKey }
  const missing: ConfigProblem[] = []
  if (apiUrl === undefined) {
    missing.push({
      setting: 'TRACKING_API_URL',
      problem:
        'is not set; answer the questions of `tracking-sync init`, choose a preset with ' +
        'TRACKING_SERVICE, or try `tracking-sync demo`',
    })
  }
  if (apiKey === undefined) missing.push(missingSecret('TRACKING_API_KEY', account))
  throw new ConfigError(missing)
}

/**
 * Advice after the service refused the key: under a preset, the usual mistake is the key of another
 * service. Without a preset nothing else is known.
 */
export function describeKey({
  config: { service, apiUrl },
  origins,
}: Pick<LoadedConfig, 'config' | 'origins'>): string {
  if (service === 'generic' || apiUrl === undefined) return 'Check TRACKING_API_KEY.'
  const address =
    origins.apiUrl === 'preset'
      ? `the address of the preset ${service} (TRACKING_SERVICE)`
      : `which TRACKING_API_URL gives in place of the address of the preset ${service}`
  return `TRACKING_API_KEY must be a key of the service at ${apiUrl}, ${address}.`
}

/** The secrets that a delivery may be signed with, the current one first. */
export function requireWebhookSecrets(
  config: Pick<Config, 'webhookSecret' | 'webhookSecretPrevious' | 'account'>,
): readonly string[] {
  if (config.webhookSecret === undefined) {
    throw new ConfigError([missingSecret('TRACKING_WEBHOOK_SECRET', config.account)])
  }
  return webhookSecrets(config)
}

function missingSecret(general: string, account: string | undefined): ConfigProblem {
  const variable = account === undefined ? general : ownVariable(general, account)
  const problem =
    'is not set; put it into the environment, ' + `or into a file that ${variable}_FILE names`
  return { setting: variable, problem }
}

/** The parts of a setting that are separated by commas. */
export function partsOf(value: string | undefined): readonly string[] {
  return value?.split(',').map((part) => part.trim()) ?? []
}

/** Our webhooks, the events that they must send, and their signature. */
export function watchSettingsOf(config: Config) {
  return {
    url: config.webhookUrl,
    ids: partsOf(config.webhookIds),
    events: config.preset.webhooks.events,
    eventNames: config.preset.webhooks.eventNames,
    secrets: webhookSecrets(config),
  }
}

function webhookSecrets(
  config: Pick<Config, 'webhookSecret' | 'webhookSecretPrevious'>,
): readonly string[] {
  return [config.webhookSecret, config.webhookSecretPrevious].filter(
    (secret) => secret !== undefined,
  )
}

/** The proxy for requests to other machines; undefined without one. Mail goes directly. */
export function proxyOf({ httpsProxy, noProxy }: Config): ProxySettings | undefined {
  if (httpsProxy === undefined) return undefined
  if (proxyAddress(httpsProxy) !== undefined) return { url: httpsProxy, noProxy }
  const problem = 'must be the address of an http or https proxy, like http://proxy.example:3128'
  throw new ConfigError([{ setting: 'HTTPS_PROXY', problem }])
}

/** The config with the values of an extension's settings, which it was loaded with. */
export function configWith<Group extends SettingsGroup>(
  config: Config,
): Config & ValuesOf<Group['settings']> {
  return config as Config & ValuesOf<Group['settings']>
}

/** For a command that works for one account. */
export function requireAccount({ accounts, config }: LoadedConfig, hasAll: boolean): void {
  if (accounts.length === 0 || config.account !== undefined) return
  const all = hasAll ? ', or --all' : ''
  const problem = `is not set; choose with --account${all}: ${listNames(accounts)}`
  throw new ConfigError([{ setting: 'TRACKING_ACCOUNT', problem }])
}
