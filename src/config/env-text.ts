/** One setting of an environment file. Lines are counted from 1. */
export interface EnvEntry {
  readonly name: string
  readonly value: string
  readonly firstLine: number
  /** A quoted value may go over several lines. */
  readonly lastLine: number
}

export interface EnvText {
  readonly entries: readonly EnvEntry[]
  /** Lines that set nothing and are not comments. */
  readonly idleLines: readonly number[]
  /**
   * Lines with a quote that is not closed, or with text behind the closing quote, which would be
   * lost.
   */
  readonly brokenLines: readonly number[]
}

const SETS = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=/
const QUOTED = /^[^\S\n]*(['"`])([\s\S]*?)\1/

/**
 * Reads `NAME=value` lines as Node, Docker Compose and systemd have them in common. A value without
 * quotes goes to the end of its line, or to a `#` behind a space: `a#b` is whole.
 */
export function parseEnvText(text: string): EnvText {
  const lines = text.split(/\r\n|\n|\r/)
  const entries: EnvEntry[] = []
  const idleLines: number[] = []
  const brokenLines: number[] = []
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? ''
    if (/^\s*(?:#|$)/.test(line)) continue
    const [start, name] = SETS.exec(line) ?? []
    const firstLine = at + 1
    if (start === undefined || name === undefined) {
      idleLines.push(firstLine)
      continue
    }
    const own = line.slice(start.length)
    if (!/^\s*['"`]/.test(own)) {
      const value = own.replace(/\s#.*$/, '').trim()
      entries.push({ name, value, firstLine, lastLine: firstLine })
      continue
    }
    const rest = [own, ...lines.slice(firstLine)].join('\n')
    const [whole, quote, quoted] = QUOTED.exec(rest) ?? []
    if (whole === undefined || quoted === undefined) {
      brokenLines.push(firstLine)
      continue
    }
    at += quoted.split('\n').length - 1
    const value = quote === '"' ? quoted.replaceAll('\\n', '\n') : quoted
    entries.push({ name, value, firstLine, lastLine: at + 1 })
    const behind = rest.slice(whole.length).split('\n', 1)[0] ?? ''
    if (!/^\s*(?:#|$)/.test(behind)) brokenLines.push(firstLine)
  }
  return { entries, idleLines, brokenLines }
}

/** The variables of a text; of a name that is set twice, the last counts. */
export function variablesOf({ entries }: EnvText): Readonly<Record<string, string>> {
  return Object.fromEntries(entries.map(({ name, value }) => [name, value]))
}
