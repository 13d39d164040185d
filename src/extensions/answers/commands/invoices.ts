import { basename } from 'node:path'
import type { InvoiceLine } from '../questions/dd-invoices.js'
import { argument, declare, group } from '../../../commands/declare-command.js'
import { printAnswer } from '../output/print-answer.js'
import { describeImport, readCsvText, toNote } from './rules.js'

const FILE = argument('<file>', 'CSV file of invoice lines.')

async function readInvoices(path: string): Promise<InvoiceLine[]> {
  const { parseInvoices } = await import('../questions/dd-invoices.js')
  return parseInvoices(basename(path), readCsvText(path))
}

const check = declare({
  name: 'check',
  help: 'Say whether a file can be imported, line by line. Needs no database.',
  common: [],
  takes: { file: FILE },
  run: async (_, { file }) => {
    const { notesOf } = await import('../questions/dd-invoices.js')
    const lines = await readInvoices(file)
    const notes = notesOf(lines)
    return {
      data: { lines: lines.length, warnings: notes },
      text: [`${basename(file)} can be imported: ${lines.length} lines.`, ...notes.map(toNote)],
    }
  },
})

const load = declare({
  name: 'import',
  help:
    'Put the invoices of a file in place of those with the same issuer and number. ' +
    'Whole or not at all.',
  settings: ['migrate'],
  takes: { file: FILE },
  run: async (app, { file }) => {
    const lines = await readInvoices(file)
    const { storeInvoices } = await import('../questions/dd-invoices.js')
    const warehouse = await app.openWarehouse({ isWriting: true })
    const report = await warehouse.transaction('import invoices', (session) =>
      storeInvoices(session, lines),
    )
    return { data: report, text: describeImport(report) }
  },
})

const unload = declare({
  name: 'export',
  help: 'Print the invoices as CSV that can be imported again.',
  json: false,
  settings: ['migrate'],
  run: async (app, _, io) => {
    const { exportInvoices } = await import('../questions/dd-invoices.js')
    const { streamTable } = await import('../read-answer.js')
    const warehouse = await app.openWarehouse({ isOfRows: true })
    const pieces = streamTable(warehouse, 'export the invoices', exportInvoices())
    await printAnswer(pieces, 'csv', io.process.stdout)
  },
})

export const invoices = group(
  'invoices',
  'Demurrage, storage and detention invoices, to be audited (see `query invoices`).',
  [check, load, unload],
)
