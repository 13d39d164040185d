import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { ConfigError } from '../base/errors.js'
import { listNames } from '../base/phrases.js'
import { parseJsonObject, readTextFile, readTextFileIfThere } from '../base/text-file.js'
import { readAccounts, type AccountEntry } from './accounts.js'
import { parseEnvText, variablesOf, type EnvText } from './env-text.js'
import { tellFormer } from './former-settings.js'
import type { Findings, SettingsGroup } from './setting.js'
import type { SettingDescription } from './settings.js'

/** Sources of settings: an environment, `.env`, files of secrets, the configuration file. */

export type Environment = Readonly<Record<string, string | undefined>>

export interface ConfigSources {
  readonly environment: Environment
  /** The folder of `.env`, of the configuration file and of relative paths. */
  readonly workingDirectory: string
  /** Settings given as flags; undefined ones count as not given. */
  readonly flags?: Readonly<Record<string, unknown>>
  /** Settings of extensions. */
  readonly groups?: readonly SettingsGroup[]
  /** Variables of `.env` that do not count: `init` is about to change them. */
  readonly withoutDotEnv?: readonly string[]
  /** This file must exist. Absent: `config/tracking-sync.json`, if it exists. */
  readonly configFile?: string | undefined
}

/** The group may read the file of a secret; only the owner may read `.env`. */
const OTHERS_AND_GROUP_WRITE = 0o027
const OTHERS_AND_GROUP = 0o077

/** The directory of relative paths of secrets, and the list that takes problems with them. */
export interface Origin {
  /** The directory of `.env`. */
  readonly directory: string
  readonly findings: Findings
}

/** The value in an environment, or in the file that `<VARIABLE>_FILE` names for a secret. */
export function fromEnvironment(
  { variable, isSecret }: SettingDescription,
  environment: Environment,
  { directory, findings }: Origin,
): string | undefined {
  // Proxies have names that other programs read too, most often in lower case.
  const isShared = variable.endsWith('_PROXY')
  const written =
    environment[variable] ?? (isShared ? environment[variable.toLowerCase()] : undefined)
  const value = emptyAsAbsent(written)
  const path = isSecret === true ? emptyAsAbsent(environment[`${variable}_FILE`]) : undefined
  if (path === undefined) return value
  if (value === undefined)
    return readSecretFile(`${variable}_FILE`, resolve(directory, path), findings)
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
  findings: Findings,
): string | undefined {
  const found: Findings = { problems: [], warnings: findings.warnings }
  const content = orProblem(found, () => readTextFile(path))
  for (const { problem } of found.problems) {
    findings.problems.push({ setting, problem: `names a file that ${problem}` })
  }
  if (content === undefined) return undefined
  if ((statSync(path).mode & OTHERS_AND_GROUP_WRITE) !== 0) {
    findings.warnings.push(`other users can read or change the file of ${setting}: chmod 0640 it`)
  }
  const secret = content.replace(/\r?\n$/, '')
  if (secret !== '') return secret
  findings.problems.push({ setting, problem: 'names an empty file; write the value into it' })
  return undefined
}

/** Problems with one file are reported together with those of others. */
function orProblem<Value>({ problems }: Findings, read: () => Value): Value | undefined {
  try {
    return read()
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown
    problems.push(...thrown.problems)
    return undefined
  }
}

/** The variables of `.env` in the working directory; empty if the file does not exist. */
export function readDotEnv(
  { workingDirectory, withoutDotEnv = [] }: ConfigSources,
  known: readonly SettingDescription[],
  findings: Findings,
): Environment {
  const path = resolve(workingDirectory, '.env')
  const content = orProblem(findings, () => readTextFileIfThere(path, { name: '.env' }))
  if (content === undefined) return {}
  const text = parseEnvText(content)
  tellLines(text, findings)
  const all = Object.entries(variablesOf(text))
  const variables = Object.fromEntries(all.filter(([name]) => !withoutDotEnv.includes(name)))
  const holdsSecret = known.some(
    ({ variable, isSecret }) =>
      isSecret === true && emptyAsAbsent(variables[variable]) !== undefined,
  )
  if (holdsSecret && (statSync(path).mode & OTHERS_AND_GROUP) !== 0) {
    findings.warnings.push('.env holds a secret and other users can read it: chmod 0600 it')
  }
  return variables
}

/** Names lines by number and never by content, which may be a secret. */
function tellLines(
  { entries, idleLines, brokenLines }: EnvText,
  { problems, warnings }: Findings,
): void {
  const lines = (numbers: readonly number[]) =>
    `line${numbers.length === 1 ? '' : 's'} ${listNames(numbers.map(String))}`
  if (brokenLines.length > 0) {
    const problem = `${lines(brokenLines)}: a quote is not closed, or text follows the closing quote`
    problems.push({ setting: '.env', problem })
  }
  if (idleLines.length > 0) {
    warnings.push(
      `.env ${lines(idleLines)}: nothing is set there; write NAME=value, or # before it`,
    )
  }
  for (const [at, { name, firstLine }] of entries.entries()) {
    const later = entries.slice(at + 1).find((other) => other.name === name)
    if (later === undefined) continue
    warnings.push(
      `.env line ${firstLine} has no effect: line ${later.firstLine} sets ${name} again`,
    )
  }
}

/** The file may contain thousands of accounts. */
const LARGEST_CONFIG_BYTES = 16 * 1024 * 1024

export interface ConfigFile extends Readonly<Record<string, unknown>> {
  readonly accounts: readonly AccountEntry[]
}

/** The members of the configuration file. Names that are not settings become problems. */
export function readConfigFile(
  { workingDirectory, configFile }: ConfigSources,
  known: readonly SettingDescription[],
  findings: Findings,
): ConfigFile {
  const { problems } = findings
  const name = configFile ?? 'config/tracking-sync.json'
  const path = resolve(workingDirectory, name)
  const content = orProblem(findings, () =>
    readTextFileIfThere(path, { name, mostBytes: LARGEST_CONFIG_BYTES }),
  )
  if (content === undefined) {
    if (configFile !== undefined && !problems.some(({ setting }) => setting === name)) {
      problems.push({ setting: name, problem: 'does not exist' })
    }
    return { accounts: [] }
  }
  const parsed = parseJsonObject(content)
  if (parsed === undefined) problems.push({ setting: name, problem: 'is not a JSON object' })
  // JSON lacks comments: members that begin with // serve as comments. `$schema` is for editors.
  const { accounts, ...members } = (parsed ?? {}) as Readonly<Record<string, unknown>>
  const entries = Object.entries(members).filter(
    ([key]) => !key.startsWith('//') && key !== '$schema',
  )
  for (const [key] of entries) {
    if (known.some((setting) => setting.name === key)) continue
    const former = tellFormer(key, ` in ${name}`)
    if (former !== undefined) findings.warnings.push(former)
    else problems.push({ setting: `${key} in ${name}`, problem: 'is not a setting' })
  }
  return { ...Object.fromEntries(entries), accounts: readAccounts(accounts, name, known, findings) }
}
