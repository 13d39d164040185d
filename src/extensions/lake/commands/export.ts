import { countOf, listNames } from '../../../base/phrases.js'
import { createSleep } from '../../../base/retry.js'
import type { ExportReport } from '../export-lake.js'
import type { Answer } from '../../../commands/command-io.js'
import { declare, flag, group, list, requiredValue } from '../../../commands/declare-command.js'
import { failpointOf } from '../../../commands/sync.js'

const parquet = declare({
  name: 'parquet',
  help:
    'Write every table and every answer as Parquet into a folder or a bucket: all rows once, ' +
    'then what changed since. Whole or not at all; see docs/lake.md.',
  json: 'Print the report as JSON.',
  settings: ['migrate'],
  takes: {
    out: requiredValue(
      '--out <folder or s3://…>',
      'New, empty, or of an export of this warehouse.',
    ),
    only: list(
      '--only <name>',
      'Only this table or answer, or `tables` or `answers`; may be repeated.',
    ),
    isWhole: flag('--whole', 'Write all rows again, as after rows were deleted by hand.'),
  },
  run: async (app, { out, only, isWhole }, io) => {
    const { requireDuckDB } = await import('../parquet-writer.js')
    const { openStore } = await import('../open-store.js')
    const { readEnvironment } = await import('../../../config/load.js')
    await requireDuckDB()
    const { exportLake } = await import('../export-lake.js')
    const store = await openStore(out, {
      workingDirectory: io.process.cwd(),
      env: io.process.env ?? readEnvironment(),
      signal: app.signal,
      sleep: createSleep(),
    })
    const warehouse = await app.openWarehouse({ isOfRows: true })
    const report = await exportLake(warehouse, {
      store,
      only,
      isWhole,
      signal: app.signal,
      reachFailpoint: failpointOf(app),
      onProgress: createLines(io.process.stderr),
    })
    return describeExport(report, out)
  },
})

/** One line for a large table now and then. */
function createLines(stream: NodeJS.WritableStream) {
  let toldAt = performance.now()
  let told = ''
  return (table: string, rows: number, isDone: boolean): void => {
    const isTold = isDone ? told === table : performance.now() - toldAt > LINE_EVERY_MS
    if (!isTold) return
    toldAt = performance.now()
    told = table
    stream.write(`${table}: ${countOf(rows, 'row')}${isDone ? '' : ' so far'}\n`)
  }
}

const LINE_EVERY_MS = 5_000

function describeExport(report: ExportReport, out: string): Answer {
  const written = report.tables.filter(({ wrote }) => wrote !== 'nothing')
  const sum = (of: (one: ExportReport['tables'][number]) => number): number =>
    written.reduce((total, one) => total + of(one), 0)
  const whole = written.filter(({ wrote }) => wrote === 'all')
  const same = report.tables.length - written.length
  const megabytes = (sum(({ bytes }) => bytes) / 1e6).toFixed(1)
  return {
    data: report,
    text: [
      `Export ${report.export} of ${out} shows the warehouse at ${report.exportedAt}: ` +
        `${countOf(
          sum(({ rows }) => rows),
          'row',
        )} in ` +
        `${countOf(
          sum(({ files }) => files),
          'new file',
        )}, ${megabytes} MB.`,
      `${whole.length} written whole, ${written.length - whole.length} with what changed, ` +
        `${same} unchanged since the export before.`,
      ...describeBeyond(report),
    ],
  }
}

function describeBeyond({ tables }: ExportReport): string[] {
  const columns = tables.flatMap(({ folder, beyondType }) =>
    Object.entries(beyondType).map(([name, count]) => `${folder}.${name} (${count})`),
  )
  if (columns.length === 0) return []
  return [
    `Note: Parquet cannot say some values, which are null there and as texts in _beyond_type: ` +
      `${listNames(columns)}.`,
  ]
}

export const exportGroup = group('export', 'Write the warehouse for other engines.', [parquet])
