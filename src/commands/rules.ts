import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { ConfigError } from '../base/errors.js'
import type { ImportReport } from '../warehouse/questions/csv-file.js'
import type { RulesFile } from '../warehouse/questions/free-time-rules.js'
import { argument, declare, flag, group } from './declare-command.js'
import { printAnswer } from './output/print-answer.js'

const FILE = argument('<file>', 'CSV file of rules or of holidays; its header says which.')

/** Throws ConfigError for a file that cannot be read or is not UTF-8. */
export async function readText(path: string): Promise<string> {
  const refuse = (problem: string): never => {
    throw new ConfigError([{ setting: path, problem }])
  }
  const bytes = await readFile(path).catch((thrown: unknown) => {
    const { code } = thrown as NodeJS.ErrnoException
    return refuse(`cannot be read (${code ?? 'no reason'})`)
  })
  // Else each umlaut of another encoding would be stored as a question mark.
  return isUtf8(bytes) ? bytes.toString('utf8') : refuse('is not UTF-8: save it as "CSV UTF-8"')
}

async function readRulesFile(path: string): Promise<RulesFile> {
  const { parseRulesFile } = await import('../warehouse/questions/free-time-rules.js')
  return parseRulesFile(basename(path), await readText(path))
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
    return { data: counts, text: [`${basename(file)} can be imported: ${said.join(', ')}.`] }
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
    const { storeRulesFile } = await import('../warehouse/questions/free-time-rules.js')
    const warehouse = await app.openWarehouse({ isWriting: true })
    const report = await warehouse.transaction('import the rules', (session) =>
      storeRulesFile(session, read),
    )
    return { data: report, text: describeImport(report) }
  },
})

/** What an import did, in lines for people. */
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
    ...warnings.map((warning) => `Note: ${warning}.`),
  ]
}

const unload = declare({
  name: 'export',
  help: 'Print the rules as CSV that can be imported again.',
  json: false,
  settings: ['migrate'],
  takes: { isOfHolidays: flag('--holidays', 'The holidays instead of the rules.') },
  run: async (app, { isOfHolidays }, io) => {
    const { exportSql } = await import('../warehouse/questions/free-time-rules.js')
    const warehouse = await app.openWarehouse()
    const sqlText = exportSql(warehouse, isOfHolidays ? 'holidays' : 'rules')
    await printAnswer(warehouse.streamTable('export the rules', sqlText), 'csv', io.process.stdout)
  },
})

export const rules = group(
  'rules',
  'Free-time rules: what storage, demurrage and detention cost (see `query charge_days`).',
  [check, load, unload],
)
