import type { Command } from 'commander'
import { ConfigError } from '../base/errors.js'
import { EXIT_CODES } from '../base/exit-code.js'
import type {
  QuarantineEntry,
  QuarantineSelection,
} from '../warehouse/bookkeeping/quarantined-records.js'
import type { Warehouse } from '../warehouse/connection/warehouse.js'
import { addSettingFlags, settingFlagsOf, type CommandIo } from './command-io.js'
import { formatTable } from './output/print-table.js'
import type { Terminal } from './output/terminal.js'
import { formatEntry } from './output/print-quarantine-entry.js'
import { formatReport, SERVICE_SETTINGS, withRunDependencies } from './sync.js'
import { wholeNumber } from './output/whole-number.js'

const quarantineId = wholeNumber(1, Number.MAX_SAFE_INTEGER)

function quarantineIds(text: string, before: readonly number[]): readonly number[] {
  return [...before, quarantineId(text)]
}

interface SelectionOptions extends Record<string, unknown> {
  readonly all?: boolean
  readonly stream?: string
  readonly json?: boolean
}

interface ListOptions extends SelectionOptions {
  readonly limit: number
}

export function addQuarantineCommands(program: Command, io: CommandIo): void {
  const group = program
    .command('quarantine')
    .description('Records that were set aside: list, show, retry or drop them.')
  addList(group, io)
  addShow(group, io)
  addRetry(group, io)
  addDrop(group, io)
}

function addList(group: Command, io: CommandIo): void {
  const command = group
    .command('list')
    .description('What is set aside, the last seen first.')
    .option('--stream <name>', 'Only records of this stream.')
    .option('--limit <count>', 'Show at most this many.', wholeNumber(1, 1_000_000), 50)
    .option('--json', 'Print as JSON.')
  addSettingFlags(command).action(async ({ stream, limit, ...options }: ListOptions) => {
    await io.withApp(settingFlagsOf(options), async (app) => {
      const { loadQuarantine } = await import('../warehouse/bookkeeping/quarantined-records.js')
      const entries = await loadQuarantine(await app.openWarehouse(), { stream, limit })
      if (options.json === true) io.printJson(entries)
      else io.print(formatList(entries, io.terminal))
      return EXIT_CODES.complete
    })
  })
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

function addShow(group: Command, io: CommandIo): void {
  const command = group
    .command('show')
    .description('One record with its reason and payload.')
    .argument('<id>', 'Number of the entry, from `quarantine list`.', quarantineId)
    .option('--json', 'Print as JSON.')
  addSettingFlags(command).action(async (id: number, options: SelectionOptions) => {
    await io.withApp(settingFlagsOf(options), async (app) => {
      const { loadQuarantine } = await import('../warehouse/bookkeeping/quarantined-records.js')
      const [entry] = await loadQuarantine(await app.openWarehouse(), { ids: [id] })
      if (entry === undefined) throw unknownEntries([id])
      if (options.json === true) io.printJson(entry)
      else io.print(formatEntry(entry))
      return EXIT_CODES.complete
    })
  })
}

function addRetry(group: Command, io: CommandIo): void {
  const command = group
    .command('retry')
    .description(
      'Read the records again by id, or take them as they were set aside, and write what can be written now. Exit code 6 when some remain.',
    )
    .argument('[ids...]', 'Numbers of entries.', quarantineIds, [])
    .option('--all', 'Every entry.')
    .option('--stream <name>', 'With --all: only records of this stream.')
    .option('--json', 'Print the report as JSON.')
  addSettingFlags(command, SERVICE_SETTINGS).action(
    async (ids: readonly number[], options: SelectionOptions) => {
      await io.withApp(settingFlagsOf(options), async (app) => {
        const selection = readSelection(ids, options)
        const report = await withRunDependencies(app, io, options, async (dependencies) => {
          await checkIds(dependencies.warehouse, selection)
          const { retryQuarantined } = await import('../sync/retry-quarantined.js')
          return retryQuarantined(selection, dependencies)
        })
        if (options.json === true) io.printJson(report)
        else {
          const remaining = report.remaining.map((entry) => [entry.quarantineId, entry.why])
          io.print(formatReport(report, io.terminal))
          io.print(`${report.landed.length} landed, ${remaining.length} remain.`)
          if (remaining.length > 0) io.print(formatTable(['id', 'why'], remaining, io.terminal))
        }
        return report.exitCode
      })
    },
  )
}

function addDrop(group: Command, io: CommandIo): void {
  const command = group
    .command('drop')
    .description('Give records up: their payload is deleted, and nothing remembers them.')
    .argument('[ids...]', 'Numbers of entries.', quarantineIds, [])
    .option('--all', 'Every entry.')
    .option('--stream <name>', 'With --all: only records of this stream.')
    .option('--json', 'Print as JSON.')
  addSettingFlags(command).action(async (ids: readonly number[], options: SelectionOptions) => {
    await io.withApp(settingFlagsOf(options), async (app) => {
      const { dropQuarantine, loadQuarantine } =
        await import('../warehouse/bookkeeping/quarantined-records.js')
      const selection = readSelection(ids, options)
      const warehouse = await app.openWarehouse({ isWriting: true })
      await checkIds(warehouse, selection)
      const entries = await loadQuarantine(warehouse, selection)
      const dropped = await dropQuarantine(
        warehouse,
        entries.map((entry) => entry.quarantineId),
      )
      if (options.json === true) io.printJson({ dropped })
      else io.print(`${dropped.length} ${dropped.length === 1 ? 'record' : 'records'} dropped.`)
      return EXIT_CODES.complete
    })
  })
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
      ? 'takes every entry, so it takes no numbers beside it'
      : stream === undefined
        ? 'are missing: give those that `quarantine list` shows, or --all'
        : 'goes with --all only'
  const setting = all === true ? '--all' : stream === undefined ? 'numbers of entries' : '--stream'
  throw new ConfigError([{ setting, problem }])
}

async function checkIds(warehouse: Warehouse, { ids }: QuarantineSelection): Promise<void> {
  if (ids === undefined) return
  const { loadQuarantine } = await import('../warehouse/bookkeeping/quarantined-records.js')
  const found = (await loadQuarantine(warehouse, { ids })).map((entry) => entry.quarantineId)
  const unknown = ids.filter((id) => !found.includes(id))
  if (unknown.length > 0) throw unknownEntries(unknown)
}

function unknownEntries(ids: readonly number[]): ConfigError {
  const problem = 'is not in quarantine; `quarantine list` shows what is'
  return new ConfigError(ids.map((id) => ({ setting: `entry ${id}`, problem })))
}
