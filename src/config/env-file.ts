import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { parseEnv } from 'node:util'
import { ConfigError } from '../base/errors.js'

/** Only for its owner: it holds secrets. */
const MODE = 0o600

/**
 * Writes variables to a file that `loadConfig` reads, mode 0600, whole or not at all. Throws
 * ConfigError where the file exists, unless `isReplacing`: then lines that set other variables
 * stay. An undefined variable is taken out.
 */
export function writeEnvFile(
  path: string,
  variables: Readonly<Record<string, string | undefined>>,
  { isReplacing }: { readonly isReplacing: boolean },
): void {
  const lines = Object.entries(variables).flatMap(([name, value]) =>
    value === undefined ? [] : writeLine(name, value),
  )
  const kept = isReplacing ? otherLines(path, Object.keys(variables)) : []
  const text = `${[...kept, ...lines].join('\n')}\n`
  if (!isReplacing) {
    writeNew(path, text)
    return
  }
  const unfinished = `${path}.new`
  rmSync(unfinished, { force: true })
  writeNew(unfinished, text)
  renameSync(unfinished, path)
}

/** `wx`: also a link that leads nowhere counts as existing. */
function writeNew(path: string, text: string): void {
  let file: number
  try {
    file = openSync(path, 'wx', MODE)
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException
    const problem = code === 'EEXIST' ? 'exists already' : `cannot be written (${code})`
    throw new ConfigError([{ setting: path, problem }], { cause })
  }
  try {
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at)
    fsyncSync(file)
  } catch (cause) {
    rmSync(path, { force: true })
    const { code = '' } = cause as NodeJS.ErrnoException
    throw new ConfigError([{ setting: path, problem: `cannot be written (${code})` }], { cause })
  } finally {
    closeSync(file)
  }
}

const SETS = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=/

function otherLines(path: string, names: readonly string[]): string[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    return []
  }
  const lines = text.replace(/\n$/, '').split('\n')
  return lines.filter((line) => !names.includes(SETS.exec(line)?.[1] ?? ''))
}

/** Bare where that is read back as it is: other readers of such files know the fewest quotes. */
function writeLine(name: string, value: string): string {
  const forms = ['', "'", '"', '`'].map((quote) => `${name}=${quote}${value}${quote}`)
  const form = forms.find((line) => !line.includes('\n') && parseEnv(line)[name] === value)
  if (form !== undefined) return form
  const problem = `holds quotes of every kind; put it into a file and name that in ${name}_FILE`
  throw new ConfigError([{ setting: name, problem }])
}
