import { parseExactJson, stringifyExactJson } from '../../jsonapi/exact-json.js'
import type { QuarantineEntry } from '../../warehouse/bookkeeping/quarantined-records.js'
import { escapeControls } from './print-table.js'

/** An entry for people: its facts, then its payload with one member a line. Nothing in it can move a terminal's cursor. */
export function formatEntry(entry: QuarantineEntry): string {
  const facts = [
    ['entry', String(entry.quarantineId)],
    ['stream', entry.stream],
    ['type', entry.resourceType ?? 'none'],
    ['record', entry.recordId ?? 'none'],
    ['reason', entry.reason],
    ['pointer', entry.pointer === '' ? 'the record as a whole' : entry.pointer],
    ['source', entry.source],
    ['sightings', `${entry.sightings}, ${entry.firstSeenAt} to ${entry.lastSeenAt}`],
  ] as const
  const lines = facts.map(([name, value]) => `${name.padEnd(10)} ${value}`)
  return [...lines, '', ...prettyLines(entry.payload)].map(escapeControls).join('\n')
}

function prettyLines(payload: string): string[] {
  try {
    return indent(parseExactJson(payload))
  } catch {
    // Shown as it is stored: whatever it is, it is not JSON.
    return [payload]
  }
}

/** `JSON.stringify` with an indent would change the digits of long numbers. */
function indent(value: unknown): string[] {
  const isList = Array.isArray(value)
  const isPlain =
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  if (!isList && !isPlain) return [stringifyExactJson(value)]
  const members = isList
    ? (value as readonly unknown[]).map((item) => ['', item] as const)
    : Object.entries(value).map(
        ([name, member]) => [`${JSON.stringify(name)}: `, member as unknown] as const,
      )
  const [open, close] = isList ? ['[', ']'] : ['{', '}']
  if (members.length === 0) return [`${open}${close}`]
  const inner = members.flatMap(([label, member], index) => {
    const [first = '', ...rest] = indent(member)
    const lines = [`  ${label}${first}`, ...rest.map((line) => `  ${line}`)]
    const isLast = index === members.length - 1
    return isLast ? lines : [...lines.slice(0, -1), `${lines.at(-1) ?? ''},`]
  })
  return [open, ...inner, close]
}
