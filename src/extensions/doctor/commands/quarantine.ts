import { ConfigError } from '../../../base/errors.js'
import { countOf } from '../../../base/phrases.js'
import { parseExactJson, stringifyExactJson } from '../../../source/jsonapi/exact-json.js'
import type { QuarantineEntry } from '../../../warehouse/bookkeeping/quarantined-records.js'
import type { Warehouse } from '../../../warehouse/connection/warehouse.js'
import {
  argument,
  declare,
  flag,
  group,
  list as listOf,
  value,
  wholeNumber,
} from '../../../commands/declare-command.js'
import type { QuarantineSelection } from '../load-quarantine.js'
import { describeReport, SERVICE_SETTINGS, withRunDependencies } from '../../../commands/sync.js'

const quarantineId = wholeNumber(1, Number.MAX_SAFE_INTEGER)

const loader = () => import('../load-quarantine.js')

const list = declare({
  name: 'list',
  help: 'List what is set aside, the last seen first.',
  takes: {
    stream: value('--stream <name>', 'Only records of this stream.'),
    limit: value('--limit <count>', 'Show at most this many.', wholeNumber(1, 1_000_000), 50),
  },
  run: async (app, { stream, limit }) => {
    const { loadQuarantine } = await loader()
    const entries = await loadQuarantine(await app.openWarehouse(), { stream, limit })
    if (entries.length === 0) return { data: entries, text: ['Nothing is set aside.'] }
    const rows = entries.map((entry) => [
      entry.quarantineId,
      entry.stream,
      entry.recordId,
      entry.reason,
      entry.pointer,
      entry.sightings,
      entry.lastSeenAt,
    ])
    const columns = ['id', 'stream', 'record', 'reason', 'pointer', 'sightings', 'last seen']
    return { data: entries, text: [{ columns, rows }] }
  },
})

const show = declare({
  name: 'show',
  help: 'Show one record with its reason and payload.',
  takes: { id: argument('<id>', 'Number of the entry, from `quarantine list`.', quarantineId) },
  run: async (app, { id }) => {
    const { loadQuarantine } = await loader()
    const [entry] = await loadQuarantine(await app.openWarehouse(), { ids: [id] })
    if (entry === undefined) throw unknownEntries([id])
    return { data: entry, text: describeEntry(entry) }
  },
})

/** The facts of an entry, then its payload with one member per line. */
function describeEntry(entry: QuarantineEntry): string[] {
  const facts = {
    entry: entry.quarantineId,
    stream: entry.stream,
    type: entry.resourceType ?? 'none',
    record: entry.recordId ?? 'none',
    reason: entry.reason,
    pointer: entry.pointer === '' ? 'the record as a whole' : entry.pointer,
    source: entry.source,
    sightings: `${entry.sightings}, ${entry.firstSeenAt} to ${entry.lastSeenAt}`,
  }
  const lines = Object.entries(facts).map(([name, fact]) => `${name.padEnd(10)} ${fact}`)
  return [...lines, '', ...prettyLines(entry.payload)]
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

const SELECTION = {
  ids: listOf('[ids...]', 'Numbers of entries.', quarantineId),
  all: flag('--all', 'Every entry.'),
  stream: value('--stream <name>', 'With --all: only records of this stream.'),
}

const retry = declare({
  name: 'retry',
  help:
    'Refetch the records by id, or take them as they were set aside, and write what can be ' +
    'written now. Exit code 6 when some remain.',
  json: 'Print the report as JSON.',
  settings: SERVICE_SETTINGS,
  takes: SELECTION,
  run: async (app, options, io) => {
    const selection = readSelection(options)
    const report = await withRunDependencies(app, io, options, async (dependencies) => {
      await checkIds(dependencies.warehouse, selection)
      const { retryQuarantined } = await import('../retry-quarantined.js')
      return retryQuarantined(selection, dependencies)
    })
    const rows = report.remaining.map((entry) => [entry.quarantineId, entry.why])
    return {
      data: report,
      text: [
        ...describeReport(report),
        `${report.landed.length} written, ${rows.length} remain.`,
        ...(rows.length > 0 ? [{ columns: ['id', 'why'], rows }] : []),
      ],
      exitCode: report.exitCode,
    }
  },
})

const drop = declare({
  name: 'drop',
  help: 'Give records up: delete them from the quarantine for good.',
  takes: SELECTION,
  run: async (app, options) => {
    const { loadQuarantine } = await loader()
    const { dropQuarantine } = await import('../../../warehouse/bookkeeping/quarantined-records.js')
    const selection = readSelection(options)
    const warehouse = await app.openWarehouse({ isWriting: true })
    await checkIds(warehouse, selection)
    const entries = await loadQuarantine(warehouse, selection)
    const ids = entries.map((entry) => entry.quarantineId)
    const dropped = await dropQuarantine(warehouse, ids)
    return { data: { dropped }, text: [`${countOf(dropped.length, 'record')} dropped.`] }
  },
})

export const quarantine = group(
  'quarantine',
  'Records that were set aside: list, show, retry or drop them.',
  [list, show, retry, drop],
)

interface SelectionOptions {
  readonly ids: readonly number[]
  readonly all: boolean
  readonly stream: string | undefined
}

/** Throws ConfigError unless either ids or --all is given. */
function readSelection({ ids, all, stream }: SelectionOptions): QuarantineSelection {
  const refuse = (setting: string, problem: string): ConfigError =>
    new ConfigError([{ setting, problem }])
  if (all && ids.length > 0)
    throw refuse('--all', 'already takes every entry; leave out the numbers')
  if (all) return { stream }
  if (stream !== undefined) throw refuse('--stream', 'works only with --all')
  if (ids.length > 0) return { ids }
  throw refuse(
    'numbers of entries',
    'are missing: give those that `quarantine list` shows, or --all',
  )
}

async function checkIds(warehouse: Warehouse, { ids }: QuarantineSelection): Promise<void> {
  if (ids === undefined) return
  const { loadQuarantine } = await loader()
  const found = (await loadQuarantine(warehouse, { ids })).map((entry) => entry.quarantineId)
  const unknown = ids.filter((id) => !found.includes(id))
  if (unknown.length > 0) throw unknownEntries(unknown)
}

function unknownEntries(ids: readonly number[]): ConfigError {
  const problem = 'is not in quarantine; `quarantine list` shows what is'
  return new ConfigError(ids.map((id) => ({ setting: `entry ${id}`, problem })))
}
