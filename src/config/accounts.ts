import type { ConfigProblem } from '../base/errors.js'
import { listNames, suggest } from '../base/phrases.js'
import { tellFormer } from './former-settings.js'
import { accountName, schemaName } from './kinds.js'
import { suffixOf, type Findings } from './setting.js'
import type { SettingDescription } from './settings.js'

/** One account of the configuration file, with its own settings. */
export interface AccountEntry {
  readonly name: string
  readonly settings: Readonly<Record<string, unknown>>
  /** File with its key; otherwise the environment has it. */
  readonly apiKeyFile: string | undefined
}

/** Whether an account can have this setting in its entry of the configuration file. */
export function isOfAccount({ isSecret, isOfProcess }: SettingDescription): boolean {
  return isSecret !== true && isOfProcess !== true
}

/** Whether an account can have a secret of its own. */
export function hasOwn({ isSecret, isOfProcess }: SettingDescription): boolean {
  return isSecret === true && isOfProcess !== true
}

/**
 * Accounts of these names would have the variables TRACKING_API_KEY_FILE and
 * TRACKING_WEBHOOK_SECRET_PREVIOUS.
 */
const IS_TAKEN = /^previous(?:_|$)|(?:^|_)file$/

/** Suffixes of the schema's name for the other schemas of a warehouse, and for workers. */
const SCHEMA_SUFFIXES = ['sync', 'analytics', 'parts', 'as_of', 'datasync', 'stored', 'accounts']

/**
 * The member `accounts` of the configuration file. Problems go to `findings`; an entry
 * without a usable name is left out.
 */
export function readAccounts(
  value: unknown,
  file: string,
  known: readonly SettingDescription[],
  findings: Findings,
): AccountEntry[] {
  const { problems } = findings
  if (value === undefined) return []
  if (!Array.isArray(value)) {
    problems.push({ setting: `accounts in ${file}`, problem: 'must be a list of objects' })
    return []
  }
  const entries: AccountEntry[] = []
  for (const [at, one] of value.entries()) {
    const place = `accounts[${at}] in ${file}`
    const entry = readEntry(one, place, known, findings)
    if (entry === undefined) continue
    if (entries.some(({ name }) => suffixOf(name) === suffixOf(entry.name))) {
      problems.push({
        setting: place,
        problem: `has the name ${entry.name} of another account; give it its own`,
      })
    } else entries.push(entry)
  }
  return entries
}

function readEntry(
  one: unknown,
  place: string,
  known: readonly SettingDescription[],
  { problems, warnings }: Findings,
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
  if (IS_TAKEN.test(suffixOf(name.data))) {
    const problem = `has the name ${name.data}, with which variables of secrets end already`
    problems.push({ setting: place, problem: `${problem}; give another` })
    return undefined
  }
  if (apiKeyFile !== undefined && typeof apiKeyFile !== 'string') {
    problems.push({ setting: `apiKeyFile of ${name.data}`, problem: 'must be the path of a file' })
  }
  const settings: Record<string, unknown> = {}
  for (const [member, setting] of Object.entries(members)) {
    if (member.startsWith('//')) continue
    const former = tellFormer(member, ` of ${name.data}`)
    const problem = problemOf(member, known)
    if (problem === undefined) settings[member] = setting
    else if (former !== undefined) warnings.push(former)
    else problems.push({ setting: `${member} of ${name.data}`, problem })
  }
  return {
    name: name.data,
    settings,
    apiKeyFile: typeof apiKeyFile === 'string' ? apiKeyFile : undefined,
  }
}

/** Why an account cannot have this member; undefined if it can. */
function problemOf(member: string, known: readonly SettingDescription[]): string | undefined {
  const setting = known.find(({ name }) => name === member)
  if (setting === undefined) {
    const names = known.map(({ name }) => name)
    return `is not a setting${suggest(member, names)}`
  }
  if (isOfAccount(setting)) return undefined
  if (!hasOwn(setting)) return 'is the same for all accounts; set it beside them'
  return (
    'is a secret and must not be in the configuration file; set ' +
    `${setting.variable}_<ACCOUNT> in the environment, or ${setting.variable}_<ACCOUNT>_FILE`
  )
}

/** The schema of an account; by default the general one followed by the name. */
export function schemaOf({ name, settings }: AccountEntry, base: string): string {
  const { schema } = settings
  return typeof schema === 'string' && schema !== '' ? schema : `${base}_${suffixOf(name)}`
}

/** The account of the first given name; undefined if none is given or known. */
export function findAccount(
  given: readonly unknown[],
  accounts: readonly AccountEntry[],
  problems: ConfigProblem[],
): AccountEntry | undefined {
  const wanted = given.find((name) => typeof name === 'string' && name !== '')
  if (typeof wanted !== 'string') return undefined
  const found = accounts.find(({ name }) => name === wanted)
  if (found !== undefined) return found
  const names = accounts.map(({ name }) => name)
  const problem =
    names.length === 0
      ? 'is set, but the configuration file has no accounts; unset it, or see docs/accounts.md'
      : `is not in the configuration file, which has ${listNames(names)}${suggest(wanted, names)}`
  problems.push({ setting: 'TRACKING_ACCOUNT', problem })
  return undefined
}

/** Problems of schemas that are invalid or collide, in words. */
export function schemaProblems(accounts: readonly AccountEntry[], base: string): ConfigProblem[] {
  const schemas = accounts.map((account) => ({
    name: account.name,
    schema: schemaOf(account, base),
  }))
  return schemas.flatMap(({ name, schema }, at): ConfigProblem[] => {
    const setting = `schema of ${name}`
    const parsed = schemaName.safeParse(schema)
    if (!parsed.success) {
      return [{ setting, problem: `is ${schema}; it ${parsed.error.issues[0]?.message ?? ''}` }]
    }
    const same = schemas.slice(0, at).find((other) => other.schema === schema)
    if (same !== undefined) {
      return [{ setting, problem: `is ${schema}, as of ${same.name}; give each account its own` }]
    }
    const others = [{ name: 'TRACKING_SCHEMA', schema: base }, ...schemas]
    const above = others.find((other) =>
      SCHEMA_SUFFIXES.some((suffix) => schema === `${other.schema}_${suffix}`),
    )
    if (above === undefined) return []
    const problem = `is ${schema}, which ${above.name} uses; give another name or schema`
    return [{ setting, problem }]
  })
}
