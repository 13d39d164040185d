import { basename } from 'node:path'
import { readTextFile } from '../../../base/text-file.js'
import type { ImportReport } from '../questions/csv-file.js'
import type { RulesFile } from '../questions/free-time-rules.js'
import { argument, declare, flag, group } from '../../../commands/declare-command.js'
import { printAnswer } from '../output/print-answer.js'

const FILE = argument('<file>', 'CSV file of rules or of holidays; its header says which.')

/** A hundred thousand lines of an invoice. */
const LARGEST_TABLE_BYTES = 32 * 1024 * 1024

/** The text of a CSV file. Throws ConfigError as `readTextFile` does. */
export function readCsvText(path: string): string {
  return readTextFile(path, { mostBytes: LARGEST_TABLE_BYTES })
}

async function readRulesFile(path: string): Promise<RulesFile> {
  const { parseRulesFile } = await import('../questions/free-time-rules.js')
  return parseRulesFile(basename(path), readCsvText(path))
}

const check = declare({
  name: 'check',
  help: 'Say whether a file can be imported, line by line. Needs no database.',
  common: [],
  takes: { file: FILE },
  run: async (_, { file }) => {
    const read = await readRulesFile(file)
    const counts =
      read.kind === 'rules'
        ? { rules: read.rules.length, tiers: read.tiers.length }
        : { holidays: read.holidays.length }
    const said = Object.entries(counts).map(([what, count]) => `${count} ${what}`)
    const text = [`${basename(file)} can be imported: ${said.join(', ')}.`]
    if (read.kind === 'rules' && read.rules.length === 0) {
      text.push(toNote('it has only a header; importing it deletes every rule'))
    }
    return { data: counts, text }
  },
})

const load = declare({
  name: 'import',
  help:
    'Put a file of free-time rules in place of the rules that there are, ' +
    'or holidays in place of those of the same calendars. Whole or not at all.',
  settings: ['migrate'],
  takes: { file: FILE },
  run: async (app, { file }) => {
    const read = await readRulesFile(file)
    const { storeRulesFile } = await import('../questions/free-time-rules.js')
    const warehouse = await app.openWarehouse({ isWriting: true })
    const report = await warehouse.transaction('import the rules', (session) =>
      storeRulesFile(session, read),
    )
    return { data: report, text: describeImport(report) }
  },
})

/** The result of an import, in lines for people. */
export function describeImport({
  kind,
  total,
  added,
  changed,
  removed,
  warnings,
}: ImportReport): string[] {
  return [
    `${total} ${kind}: ${added} added, ${changed} changed, ${removed} removed.`,
    ...warnings.map(toNote),
  ]
}

/** A note on a line that was accepted and deserves a look. */
export function toNote(warning: string): string {
  return `Note: ${warning}.`
}

const unload = declare({
  name: 'export',
  help: 'Print the rules as CSV that can be imported again.',
  json: false,
  settings: ['migrate'],
  takes: { isOfHolidays: flag('--holidays', 'The holidays instead of the rules.') },
  run: async (app, { isOfHolidays }, io) => {
    const { exportRules } = await import('../questions/free-time-rules.js')
    const { streamTable } = await import('../read-answer.js')
    const warehouse = await app.openWarehouse({ isOfRows: true })
    const statement = exportRules(isOfHolidays ? 'holidays' : 'rules')
    const pieces = streamTable(warehouse, 'export the rules', statement)
    await printAnswer(pieces, 'csv', io.process.stdout)
  },
})

export const rules = group(
  'rules',
  'Free-time rules: what storage, demurrage and detention cost (see `query charge_days`).',
  [check, load, unload],
)
