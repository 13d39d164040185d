import type { ConfigProblem } from '../base/errors.js'
import { suggest } from '../base/phrases.js'
import { accountName } from './kinds.js'
import { allSettings, type SettingDescription, type SettingName } from './settings.js'

/** One account of the configuration file: what is its own of the settings. */
export interface AccountEntry {
  readonly name: string
  readonly settings: Readonly<Partial<Record<SettingName, unknown>>>
  /** File that holds its key; else the environment does. */
  readonly apiKeyFile: string | undefined
}

/** What a process has once, whatever accounts it works for. */
const OF_THE_PROCESS: readonly SettingName[] = [
  'account',
  'accountsAtOnce',
  'home',
  'databasePort',
  'host',
  'hosts',
  'httpPort',
  'shutdownSeconds',
  'logLevel',
  'logFormat',
]

/** What is put behind the name of a schema for the others of a warehouse, and for workers. */
export const SCHEMA_SUFFIXES = ['sync', 'analytics', 'as_of', 'datasync', 'stored', 'accounts']

/**
 * The member `accounts` of the configuration file. What is wrong goes to `problems`; an entry
 * without a usable name is left out.
 */
export function readAccounts(
  value: unknown,
  file: string,
  problems: ConfigProblem[],
): AccountEntry[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) {
    problems.push({ setting: `accounts in ${file}`, problem: 'must be a list of objects' })
    return []
  }
  const entries: AccountEntry[] = []
  for (const [at, one] of value.entries()) {
    const place = `accounts[${at}] in ${file}`
    const entry = readEntry(one, place, problems)
    if (entry === undefined) continue
    if (entries.some(({ name }) => suffixOf(name) === suffixOf(entry.name))) {
      problems.push({ setting: place, problem: `has the name ${entry.name}, which another has` })
    } else entries.push(entry)
  }
  return entries
}

function readEntry(
  one: unknown,
  place: string,
  problems: ConfigProblem[],
): AccountEntry | undefined {
  if (typeof one !== 'object' || one === null || Array.isArray(one)) {
    problems.push({ setting: place, problem: 'must be an object with a name' })
    return undefined
  }
  const { name: given, apiKeyFile, ...members } = one as Record<string, unknown>
  const name = accountName.safeParse(given)
  if (!name.success) {
    const problem = `has a name that ${name.error.issues[0]?.message ?? 'cannot be used'}`
    problems.push({ setting: place, problem })
    return undefined
  }
  if (apiKeyFile !== undefined && typeof apiKeyFile !== 'string') {
    problems.push({ setting: `apiKeyFile of ${name.data}`, problem: 'must be the path of a file' })
  }
  const settings: Partial<Record<SettingName, unknown>> = {}
  const mayHave = allSettings.filter(
    ({ name: setting, isSecret, isHidden }) =>
      isSecret !== true && isHidden !== true && !OF_THE_PROCESS.includes(setting),
  )
  for (const [member, setting] of Object.entries(members)) {
    if (member.startsWith('//')) continue
    const known = mayHave.find((each) => each.name === member)
    if (known !== undefined) settings[known.name] = setting
    else problems.push({ setting: `${member} of ${name.data}`, problem: problemOf(member) })
  }
  return {
    name: name.data,
    settings,
    apiKeyFile: typeof apiKeyFile === 'string' ? apiKeyFile : undefined,
  }
}

function problemOf(member: string): string {
  const setting = allSettings.find(({ name }) => name === member)
  if (setting?.isSecret === true) {
    return (
      'is a secret and must not be in the configuration file; set ' +
      `${setting.variable}_<ACCOUNT> in the environment, or ${setting.variable}_<ACCOUNT>_FILE`
    )
  }
  if (setting !== undefined) return 'is the same for all accounts; set it beside them'
  const names = allSettings.map(({ name }) => name)
  return `is not a setting${suggest(member, names)}`
}

/** The variable of a secret that is one account's own: `TRACKING_API_KEY_ACME`. */
export function variableOf({ variable }: SettingDescription, account: string): string {
  return `${variable}_${suffixOf(account).toUpperCase()}`
}

/** Of schemas and variables, which have no hyphens. */
function suffixOf(account: string): string {
  return account.replaceAll('-', '_')
}

/** Of an account that names none. */
export function schemaOf(account: string, base: string): string {
  return `${base}_${suffixOf(account)}`
}

/** Accounts whose schemas are in each other's way, in words. */
export function schemaProblems(
  accounts: readonly { readonly name: string; readonly schema: string }[],
  base: string,
): ConfigProblem[] {
  const problems: ConfigProblem[] = []
  for (const [at, { name, schema }] of accounts.entries()) {
    const others = accounts.filter((_, other) => other !== at)
    const same = others.slice(0, at).find((other) => other.schema === schema)
    const above = [{ name: 'TRACKING_SCHEMA', schema: base }, ...others].find((other) =>
      SCHEMA_SUFFIXES.some((suffix) => schema === `${other.schema}_${suffix}`),
    )
    const setting = `schema of ${name}`
    if (same !== undefined) {
      problems.push({ setting, problem: `is ${schema}, which ${same.name} has too` })
    } else if (above !== undefined) {
      const problem = `is ${schema}, which ${above.name} uses; give another name or schema`
      problems.push({ setting, problem })
    }
  }
  return problems
}
