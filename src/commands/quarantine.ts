import type { Command } from 'commander'
import { ConfigError } from '../base/errors.js'
import { countOf } from '../base/phrases.js'
import { parseExactJson, stringifyExactJson } from '../jsonapi/exact-json.js'
import type {
  QuarantineEntry,
  QuarantineSelection,
} from '../warehouse/bookkeeping/quarantined-records.js'
import type { Warehouse } from '../warehouse/connection/warehouse.js'
import type { CommandIo } from './command-io.js'
import { declare } from './declare-command.js'
import { escapeControls, formatTable } from './output/print-table.js'
import type { Terminal } from './output/terminal.js'
import { wholeNumber } from './parse-arguments.js'
import { formatReport, SERVICE_SETTINGS, withRunDependencies } from './sync.js'

const quarantineId = wholeNumber(1, Number.MAX_SAFE_INTEGER)

interface SelectionOptions {
  readonly all?: boolean
  readonly stream?: string
}

const store = () => import('../warehouse/bookkeeping/quarantined-records.js')

export function addQuarantineCommands(program: Command, io: CommandIo): void {
  const group = program
    .command('quarantine')
    .description('Records that were set aside: list, show, retry or drop them.')
  declare<{ readonly stream?: string; readonly limit: number }>(group, io, {
    name: 'list',
    help: 'List what is set aside, the last seen first.',
    define: (command) =>
      command
        .option('--stream <name>', 'Only records of this stream.')
        .option('--limit <count>', 'Show at most this many.', wholeNumber(1, 1_000_000), 50),
    run: async (app, options) => {
      const { stream, limit } = options
      const { loadQuarantine } = await store()
      const entries = await loadQuarantine(await app.openWarehouse(), { stream, limit })
      io.show(options, entries, () => formatList(entries, io.terminal))
    },
  })
  declare<object, [number]>(group, io, {
    name: 'show',
    help: 'Show one record with its reason and payload.',
    define: (command) =>
      command.argument('<id>', 'Number of the entry, from `quarantine list`.', quarantineId),
    run: async (app, options, id) => {
      const { loadQuarantine } = await store()
      const [entry] = await loadQuarantine(await app.openWarehouse(), { ids: [id] })
      if (entry === undefined) throw unknownEntries([id])
      io.show(options, entry, () => formatEntry(entry))
    },
  })
  addRetry(group, io)
  addDrop(group, io)
}

function formatList(entries: readonly QuarantineEntry[], terminal: Terminal): string {
  if (entries.length === 0) return 'Nothing is set aside.'
  const rows = entries.map((entry) => [
    entry.quarantineId,
    entry.stream,
    entry.recordId,
    entry.reason,
    entry.pointer,
    entry.sightings,
    entry.lastSeenAt,
  ])
  return formatTable(
    ['id', 'stream', 'record', 'reason', 'pointer', 'sightings', 'last seen'],
    rows,
    terminal,
  )
}

/** Its facts, then its payload with one member per line. Nothing can move a terminal's cursor. */
function formatEntry(entry: QuarantineEntry): string {
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
    // Not JSON: shown as it is stored.
    return [payload]
  }
}

/** With an indent, `JSON.stringify` would change the digits of long numbers. */
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

function addRetry(group: Command, io: CommandIo): void {
  declare<SelectionOptions, [readonly number[]]>(group, io, {
    name: 'retry',
    help:
      'Refetch the records by id, or take them as they were set aside, and write what can be ' +
      'written now. Exit code 6 when some remain.',
    json: 'Print the report as JSON.',
    settings: SERVICE_SETTINGS,
    define: addSelection,
    run: async (app, options, ids) => {
      const selection = readSelection(ids, options)
      const report = await withRunDependencies(app, io, options, async (dependencies) => {
        await checkIds(dependencies.warehouse, selection)
        const { retryQuarantined } = await import('../sync/retry-quarantined.js')
        return retryQuarantined(selection, dependencies)
      })
      io.show(options, report, () => {
        const remaining = report.remaining.map((entry) => [entry.quarantineId, entry.why])
        return [
          formatReport(report, io.terminal),
          `${report.landed.length} written, ${remaining.length} remain.`,
          ...(remaining.length > 0 ? [formatTable(['id', 'why'], remaining, io.terminal)] : []),
        ].join('\n')
      })
      return report.exitCode
    },
  })
}

function addDrop(group: Command, io: CommandIo): void {
  declare<SelectionOptions, [readonly number[]]>(group, io, {
    name: 'drop',
    help: 'Give records up: delete them from the quarantine for good.',
    define: addSelection,
    run: async (app, options, ids) => {
      const { dropQuarantine, loadQuarantine } = await store()
      const selection = readSelection(ids, options)
      const warehouse = await app.openWarehouse({ isWriting: true })
      await checkIds(warehouse, selection)
      const entries = await loadQuarantine(warehouse, selection)
      const dropped = await dropQuarantine(
        warehouse,
        entries.map((entry) => entry.quarantineId),
      )
      io.show(options, { dropped }, () => `${countOf(dropped.length, 'record')} dropped.`)
    },
  })
}

function addSelection(command: Command): Command {
  return command
    .argument(
      '[ids...]',
      'Numbers of entries.',
      (text: string, before: readonly number[]) => [...before, quarantineId(text)],
      [],
    )
    .option('--all', 'Every entry.')
    .option('--stream <name>', 'With --all: only records of this stream.')
}

/** Throws ConfigError unless either ids or --all is given. */
function readSelection(
  ids: readonly number[],
  { all, stream }: SelectionOptions,
): QuarantineSelection {
  if (all === true && ids.length === 0) return { stream }
  if (all !== true && ids.length > 0 && stream === undefined) return { ids }
  const problem =
    all === true
      ? 'already takes every entry; leave out the numbers'
      : stream === undefined
        ? 'are missing: give those that `quarantine list` shows, or --all'
        : 'works only with --all'
  const setting = all === true ? '--all' : stream === undefined ? 'numbers of entries' : '--stream'
  throw new ConfigError([{ setting, problem }])
}

async function checkIds(warehouse: Warehouse, { ids }: QuarantineSelection): Promise<void> {
  if (ids === undefined) return
  const { loadQuarantine } = await store()
  const found = (await loadQuarantine(warehouse, { ids })).map((entry) => entry.quarantineId)
  const unknown = ids.filter((id) => !found.includes(id))
  if (unknown.length > 0) throw unknownEntries(unknown)
}

function unknownEntries(ids: readonly number[]): ConfigError {
  const problem = 'is not in quarantine; `quarantine list` shows what is'
  return new ConfigError(ids.map((id) => ({ setting: `entry ${id}`, problem })))
}
