import { ConfigError, type ConfigProblem } from '../../base/errors.js'
import { listNames } from '../../base/phrases.js'
import type { ConfigSources } from '../../config/config-sources.js'
import { loadConfig, type LoadedAccount } from '../../config/load.js'

/**
 * The settings of every account, as `loadConfig` finds them. Throws ConfigError with the problems
 * of all accounts together, also if one lacks a key or two have the same.
 */
export function loadAccounts(sources: ConfigSources): LoadedAccount[] {
  const { accounts, config: general } = loadConfig(sources)
  if (accounts.length === 0) {
    const problem = 'needs accounts, and the configuration file has none; see docs/accounts.md'
    throw new ConfigError([{ setting: '--all', problem }])
  }
  if (general.account !== undefined) {
    const problem = `is ${general.account}, but --all means every account; leave one of them out`
    throw new ConfigError([{ setting: 'TRACKING_ACCOUNT', problem }])
  }
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
  const names = new Map<string, string[]>()
  for (const { name, config } of loaded) {
    if (config.apiKey === undefined) continue
    names.set(config.apiKey, [...(names.get(config.apiKey) ?? []), name])
  }
  for (const [first = '', ...others] of names.values()) {
    if (others.length === 0) continue
    const problem = `is the key of ${listNames(others)} too; each account has its own`
    problems.push({ setting: `the key of ${first}`, problem })
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return loaded
}
