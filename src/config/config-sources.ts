import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import type { ConfigProblem } from '../base/errors.js'
import { readAccounts, type AccountEntry } from './accounts.js'
import { allSettings, type SettingDescription, type SettingName } from './settings.js'

/** Where settings stand: an environment, `.env`, files of secrets, the configuration file. */

export type Environment = Readonly<Record<string, string | undefined>>

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

/** What is found while the settings are read. No text holds a value. */
export interface Findings {
  readonly problems: ConfigProblem[]
  readonly warnings: string[]
}

/** The group may read the file of a secret; only the owner may read `.env`. */
const OTHERS_AND_GROUP_WRITE = 0o027
const OTHERS_AND_GROUP = 0o077

/** The value in an environment, or in the file that `<VARIABLE>_FILE` names for a secret. */
export function fromEnvironment(
  { variable, isSecret }: SettingDescription,
  environment: Environment,
  findings: Findings,
): string | undefined {
  // Proxies have names that other programs read too, most often in lower case.
  const isShared = variable.endsWith('_PROXY')
  const written =
    environment[variable] ?? (isShared ? environment[variable.toLowerCase()] : undefined)
  const value = emptyAsAbsent(written)
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

export function readSecretFile(
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
export function readDotEnv(workingDirectory: string, findings: Findings): Environment {
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

export interface ConfigFile extends Readonly<Record<string, unknown>> {
  readonly accounts: readonly AccountEntry[]
}

/** The members of the configuration file. Names that are not settings become problems. */
export function readConfigFile(
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
