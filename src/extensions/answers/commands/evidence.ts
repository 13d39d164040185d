import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { ConfigError } from '../../../base/errors.js'
import type { TableAnswer } from '../read-answer.js'
import {
  argument,
  declare,
  instant,
  instantText,
  requiredValue,
  value,
} from '../../../commands/declare-command.js'
import { explainAsOf } from '../ask/explain-answer.js'
import type { EvidenceTable, Journey } from '../questions/container-evidence.js'
import { formatEvidencePage } from '../output/evidence-page.js'
import { asCsv, asPieces } from '../output/print-answer.js'

export const evidence = declare({
  name: 'evidence',
  help:
    'Write what was known of a container, to send with a dispute: ' +
    'a page that prints, a CSV file for each of its tables, and their digests.',
  json: 'Print the names and digests of the files as JSON.',
  takes: {
    container: argument('<container>', 'Number or id of a container.'),
    out: requiredValue('--out <folder>', 'Folder to make; it may exist if it is empty.'),
    asOf: value('--as-of <instant>', 'What was known at this instant; else now.', instantText),
    invoice: value('--invoice <number>', 'Of invoices only this one: others are not shown.'),
  },
  run: async (app, { container, out, asOf: asked, invoice }, io) => {
    const folder = resolve(io.process.cwd(), out)
    await requireFree(folder, out)
    const asOf = (asked === undefined ? new Date() : instant(asked)).toISOString()
    if (Date.parse(asOf) > Date.now()) {
      throw refuse('--as-of', `${asked} is in the future; name an instant that has passed`)
    }
    const { readEvidence } = await import('../questions/container-evidence.js')
    const { findJourney } = await import('../ask/find-journey.js')
    await app.openWarehouse({ isOfRows: true })
    const warehouse = await app.connect({ isReadOnly: true })
    for (const note of await explainAsOf(warehouse, '--as-of', asked)) io.printNote(note)
    const journey = await findJourney(warehouse, container, asOf, {
      container: '<container>',
      asOf: '--as-of',
    })
    const tables = await readEvidence(warehouse, journey.containerId, asOf, invoice)
    if (invoice !== undefined) requireLine(tables, journey, invoice)
    const files = new Map<string, string>()
    for (const { name, answer } of tables) files.set(`${name}.csv`, await csvOf(answer))
    const page = { journey, asOf, tables, digests: digestsOf(files) }
    files.set('index.html', formatEvidencePage({ ...page, programVersion: io.programVersion }))
    const digests = digestsOf(files)
    const sums = [...digests].map(([name, digest]) => `${digest}  ${name}\n`).join('')
    await writeWhole(folder, out, new Map([...files, ['SHA256SUMS', sums]]))
    return {
      data: {
        containerId: journey.containerId,
        asOf,
        folder,
        files: Object.fromEntries(digests),
      },
      text: [
        `What was known of ${journey.number ?? journey.containerId} at ${asOf} is in ${out}:`,
        `  index.html, to read and to print`,
        `  ${tables.length} CSV files with every column, and SHA256SUMS with their digests`,
      ],
    }
  },
})

/** Throws ConfigError if no line of the invoice is for the container: nobody means such evidence. */
function requireLine(
  tables: readonly EvidenceTable[],
  { number, containerId }: Journey,
  invoice: string,
) {
  const lines = tables.find(({ name }) => name === 'invoices')
  if (lines !== undefined && lines.answer.rows.length > 0) return
  const problem =
    `no line of the invoice ${invoice} is for ${number ?? containerId}; ` +
    '`tracking-sync query invoices` lists all'
  throw refuse('--invoice', problem)
}

function refuse(setting: string, problem: string): ConfigError {
  return new ConfigError([{ setting, problem }])
}

/** Throws ConfigError if the folder has contents that would be overwritten or mixed in. */
async function requireFree(folder: string, out: string): Promise<void> {
  if (!existsSync(dirname(folder))) {
    throw refuse('--out', `${out} is in a folder that does not exist; make that first`)
  }
  const found = await readdir(folder).catch((thrown: unknown) => {
    const code = codeOf(thrown)
    if (code === 'ENOENT') return []
    throw refuse('--out', `${out} cannot be used (${code}); name a folder that is new or empty`)
  })
  if (found.length === 0) return
  throw refuse('--out', `${out} has files in it; name a folder that is new or empty`)
}

function codeOf(thrown: unknown): string {
  return (thrown as NodeJS.ErrnoException).code ?? 'no reason'
}

async function csvOf(answer: TableAnswer): Promise<string> {
  let text = ''
  for await (const piece of asCsv(asPieces(answer), {})) text += piece
  return text
}

function digestsOf(files: ReadonlyMap<string, string>): Map<string, string> {
  return new Map(
    [...files].map(([name, text]) => [name, createHash('sha256').update(text).digest('hex')]),
  )
}

/** Writes all files or none: into a folder beside the target, which is then put in its place. */
async function writeWhole(
  folder: string,
  out: string,
  files: ReadonlyMap<string, string>,
): Promise<void> {
  const beside = join(dirname(folder), `.${basename(folder)}-${randomUUID()}`)
  try {
    // Not recursive: in a place such as /proc, where no folder can be made, Node would try for
    // ever.
    await mkdir(beside)
    for (const [name, text] of files) await writeFile(join(beside, name), text)
    // The rename replaces an empty folder and fails on one that was filled meanwhile.
    await rename(beside, folder)
  } catch (thrown) {
    await rm(beside, { recursive: true, force: true })
    throw refuse('--out', `${out} cannot be written (${codeOf(thrown)}); name another folder`)
  }
}
