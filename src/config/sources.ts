import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import type { ConfigProblem } from '../base/errors.js'
import { allSettings, type SettingDescription } from './settings.js'

const DEFAULT_CONFIG_FILE = 'config/tracking-sync.json'

/** The group may read the file of a secret; only the owner may read `.env`. */
const OTHERS_AND_GROUP_WRITE = 0o027
const OTHERS_AND_GROUP = 0o077

/**
 * The value of a setting in an environment, or in the file that `<VARIABLE>_FILE` names for a
 * secret. Undefined if it is not set or empty. Adds to `problems` and `warnings`, without values.
 */
export function fromEnvironment(
  { variable, isSecret }: SettingDescription,
  environment: Readonly<Record<string, string | undefined>>,
  problems: ConfigProblem[],
  warnings: string[],
): string | undefined {
  const value = emptyAsAbsent(environment[variable])
  const path = isSecret === true ? emptyAsAbsent(environment[`${variable}_FILE`]) : undefined
  if (path === undefined) return value
  if (value !== undefined) {
    const problem = `is set together with ${variable}_FILE; remove one of them`
    problems.push({ setting: variable, problem })
    return undefined
  }
  return readSecretFile(`${variable}_FILE`, path, problems, warnings)
}

function emptyAsAbsent(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value
}

function readSecretFile(
  variable: string,
  path: string,
  problems: ConfigProblem[],
  warnings: string[],
): string | undefined {
  try {
    if ((statSync(path).mode & OTHERS_AND_GROUP_WRITE) !== 0) {
      warnings.push(`other users can read or change the file of ${variable}: chmod 0640 it`)
    }
    const content = readFileSync(path, 'utf8').replace(/\r?\n$/, '')
    if (content !== '') return content
    problems.push({ setting: variable, problem: 'names an empty file' })
  } catch {
    problems.push({ setting: variable, problem: 'names a file that cannot be read' })
  }
  return undefined
}

/** The variables of `.env` in the working directory; none if there is no such file. */
export function readDotEnv(
  workingDirectory: string,
  problems: ConfigProblem[],
  warnings: string[],
): Readonly<Record<string, string | undefined>> {
  const path = resolve(workingDirectory, '.env')
  const content = readIfThere(path, problems, '.env')
  if (content === undefined) return {}
  const variables = parseEnv(content)
  const holdsSecret = allSettings.some(
    ({ variable, isSecret }) =>
      isSecret === true && emptyAsAbsent(variables[variable]) !== undefined,
  )
  if (holdsSecret && (statSync(path).mode & OTHERS_AND_GROUP) !== 0) {
    warnings.push('.env holds a secret and other users can read it: chmod 0600 it')
  }
  return variables
}

/** The members of the configuration file. Names that are not settings become problems. */
export function readConfigFile(
  sources: { readonly workingDirectory: string; readonly configFile?: string | undefined },
  problems: ConfigProblem[],
): Readonly<Record<string, unknown>> {
  const name = sources.configFile ?? DEFAULT_CONFIG_FILE
  const content = readIfThere(resolve(sources.workingDirectory, name), problems, name)
  if (content === undefined) {
    if (sources.configFile !== undefined) {
      problems.push({ setting: name, problem: 'does not exist' })
    }
    return {}
  }
  const parsed = parseJsonObject(content)
  if (parsed === undefined) {
    problems.push({ setting: name, problem: 'is not a JSON object' })
    return {}
  }
  // JSON has no comments: members that begin with // serve as such.
  const entries = Object.entries(parsed).filter(([key]) => !key.startsWith('//'))
  for (const [key] of entries) {
    if (allSettings.some((setting) => setting.name === key && setting.isHidden !== true)) continue
    problems.push({ setting: `${key} in ${name}`, problem: 'is not a setting' })
  }
  return Object.fromEntries(entries)
}

function parseJsonObject(content: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(content)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function readIfThere(path: string, problems: ConfigProblem[], name: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code !== 'ENOENT' && code !== 'ENOTDIR') {
      problems.push({ setting: name, problem: 'cannot be read' })
    }
    return undefined
  }
}
