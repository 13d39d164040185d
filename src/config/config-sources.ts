import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import type { ConfigProblem } from '../base/errors.js'

const DEFAULT_CONFIG_FILE = 'config/tracking-sync.json'

/**
 * A setting's value in an environment, or in the file that `<VARIABLE>_FILE` names for a secret.
 * Undefined when it is not set; empty means not set. What is wrong goes to `problems`, what is
 * worth a word to `warnings`, neither with the value.
 */
export function fromEnvironment(
  { variable, isSecret }: { readonly variable: string; readonly isSecret?: boolean },
  environment: Readonly<Record<string, string | undefined>>,
  problems: ConfigProblem[],
  warnings: string[],
): string | undefined {
  const value = emptyAsAbsent(environment[variable])
  const path = isSecret === true ? emptyAsAbsent(environment[`${variable}_FILE`]) : undefined
  if (path === undefined) return value
  if (value !== undefined) {
    problems.push({
      setting: variable,
      problem: `is set together with ${variable}_FILE; remove one of them`,
    })
    return undefined
  }
  return readSecretFile(variable, path, problems, warnings)
}

function emptyAsAbsent(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value
}

/** Readable by others means readable by every account of the machine. */
const TOO_OPEN = 0o027

function readSecretFile(
  variable: string,
  path: string,
  problems: ConfigProblem[],
  warnings: string[],
): string | undefined {
  try {
    const mode = statSync(path).mode
    if ((mode & TOO_OPEN) !== 0) {
      warnings.push(`the file of ${variable}_FILE can be read by others: chmod 0640 it`)
    }
    const content = readFileSync(path, 'utf8').replace(/\r?\n$/, '')
    if (content !== '') return content
    problems.push({ setting: `${variable}_FILE`, problem: 'names an empty file' })
  } catch {
    problems.push({ setting: `${variable}_FILE`, problem: 'names a file that cannot be read' })
  }
  return undefined
}

/** For the owner alone: nothing but this program reads it. */
const NOT_PRIVATE = 0o077

/**
 * The variables of `.env` in the working directory; none where there is no such file. One warning
 * where others can read a secret in it.
 */
export function readDotEnv(
  workingDirectory: string,
  secretVariables: readonly string[],
  problems: ConfigProblem[],
  warnings: string[],
): Readonly<Record<string, string | undefined>> {
  const path = resolve(workingDirectory, '.env')
  const content = readIfThere(path, problems, '.env')
  if (content === undefined) return {}
  const variables = parseEnv(content)
  const holdsSecret = secretVariables.some((name) => emptyAsAbsent(variables[name]) !== undefined)
  if (holdsSecret && (statSync(path).mode & NOT_PRIVATE) !== 0) {
    warnings.push('.env holds a secret and can be read by others: chmod 0600 it')
  }
  return variables
}

/**
 * The members of the configuration file, checked against the names there are. A file that was asked
 * for must exist; the usual one need not.
 */
export function readConfigFile(
  sources: { readonly workingDirectory: string; readonly configFile?: string | undefined },
  settingNames: readonly string[],
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
  // JSON has no comments: members beginning with // are ours to ignore.
  const entries = Object.entries(parsed).filter(([key]) => !key.startsWith('//'))
  const unknown = entries.filter(([key]) => !settingNames.includes(key))
  for (const [key] of unknown) {
    problems.push({ setting: `${key} in ${name}`, problem: 'is no setting' })
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
