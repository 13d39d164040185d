import { basename } from 'node:path'
import { countOf } from '../../../base/phrases.js'
import { readTextFile } from '../../../base/text-file.js'
import type { ImportReport } from '../questions/csv-file.js'
import type { RulesFile } from '../questions/rules-file.js'
import { argument, declare, flag, group } from '../../../commands/declare-command.js'
import { printAnswer } from '../output/print-answer.js'

const FILE = argument(
  '<file>',
  'CSV file of rules, of holidays or of working calendars; its header says which.',
)

/** A hundred thousand lines of an invoice. */
const LARGEST_TABLE_BYTES = 32 * 1024 * 1024

/** The text of a CSV file. Throws ConfigError as `readTextFile` does. */
export function readCsvText(path: string): string {
  return readTextFile(path, { mostBytes: LARGEST_TABLE_BYTES })
}

async function readRulesFile(path: string): Promise<RulesFile> {
  const { parseRulesFile } = await import('../questions/rules-file.js')
  return parseRulesFile(basename(path), readCsvText(path))
}

const check = declare({
  name: 'check',
  help: 'Say whether a file can be imported, and what each rule says. Needs no database.',
  common: [],
  takes: { file: FILE },
  run: async (_, { file }) => {
    const read = await readRulesFile(file)
    if (read.kind === 'rules') return describeRules(basename(file), read)
    const count = read.kind === 'holidays' ? read.holidays.length : read.calendars.length
    return {
      data: { [read.kind]: count },
      text: [`${basename(file)} can be imported: ${count} ${read.kind}.`],
    }
  },
})

async function describeRules(
  file: string,
  { rules, tiers }: Extract<RulesFile, { kind: 'rules' }>,
) {
  const { describeRule } = await import('../questions/rule-sentence.js')
  const { findDoubts, groupTiers } = await import('../questions/rules-file.js')
  const groups = groupTiers(tiers)
  const sentences = Object.fromEntries(
    rules.map((rule) => [rule.rule_name, describeRule(rule, groups.get(rule.rule_name) ?? [])]),
  )
  const notes = findDoubts(rules, tiers)
  if (rules.length === 0) notes.push('it has only a header; importing it deletes every rule')
  return {
    data: { rules: rules.length, tiers: tiers.length, sentences, notes },
    text: [
      `${file} can be imported: ${countOf(rules.length, 'rule')}, ${countOf(tiers.length, 'tier')}.`,
      ...Object.entries(sentences).map(([name, said]) => `${name}: ${said}.`),
      ...sayNotes(notes),
    ],
  }
}

const load = declare({
  name: 'import',
  help:
    'Put a file of free-time rules in place of the rules that there are, ' +
    'or holidays or working calendars in place of those of the same calendars. Whole or not at all.',
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
    ...sayNotes(warnings),
  ]
}

const MOST_NOTES = 20

/** The first twenty notes, each on a line, and how many more there are. */
function sayNotes(notes: readonly string[]): string[] {
  const rest = notes.length - MOST_NOTES
  return [
    ...notes.slice(0, MOST_NOTES).map(toNote),
    ...(rest > 0 ? [`${rest} more notes; --json has all.`] : []),
  ]
}

/** A note on a line that was accepted and deserves a look. */
export function toNote(warning: string): string {
  return `Note: ${warning}.`
}

const compare = declare({
  name: 'compare',
  help:
    'Compare the last free days by each rule with the reported ones, and say how the others would ' +
    'agree. The view rule_comparisons has each.',
  settings: ['migrate'],
  run: async (app) => {
    const { compareRules, sayComparison } = await import('../questions/compare-rules.js')
    const warehouse = await app.openWarehouse({ isOfRows: true })
    const compared = await compareRules(warehouse)
    return {
      data: { rules: compared },
      text:
        compared.length === 0
          ? ['No rule with free days holds for a container whose last free day is reported.']
          : compared.map(sayComparison),
    }
  },
})

const unload = declare({
  name: 'export',
  help: 'Print the rules as CSV that can be imported again.',
  json: false,
  settings: ['migrate'],
  takes: {
    isOfHolidays: flag('--holidays', 'The holidays instead of the rules.'),
    isOfCalendars: flag('--calendars', 'The working calendars instead of the rules.'),
  },
  run: async (app, { isOfHolidays, isOfCalendars }, io) => {
    const { exportRules } = await import('../questions/free-time-rules.js')
    const { streamTable } = await import('../read-answer.js')
    const warehouse = await app.openWarehouse({ isOfRows: true })
    const kind = isOfCalendars ? 'calendars' : isOfHolidays ? 'holidays' : 'rules'
    const statement = exportRules(kind)
    const pieces = streamTable(warehouse, 'export the rules', statement)
    await printAnswer(pieces, 'csv', io.process.stdout)
  },
})

export const rules = group(
  'rules',
  'Free-time rules: what storage, demurrage and detention cost (see `query charged_days`).',
  [check, load, compare, unload],
)
