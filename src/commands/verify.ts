import { randomInt } from 'node:crypto'
import type { Command } from 'commander'
import type { SettingName } from '../config.js'
import { requireService } from '../require-service.js'
import { EXIT_CODES } from '../exit-code.js'
import type { VerifyReport } from '../sync/verify.js'
import { addSettingFlags, settingFlagsOf, type CommandIo } from './command-io.js'
import { formatTable } from './print-table.js'
import { wholeNumber } from './whole-number.js'

const SETTINGS: readonly SettingName[] = [
  'apiUrl',
  'rateLimitPerMinute',
  'requestTimeoutSeconds',
  'eventConcurrency',
  'migrate',
  'allowInsecureApiUrl',
]

const LARGEST_SEED = 2 ** 31 - 1
const SHOWN_DIFFERENCES = 50

interface VerifyOptions extends Record<string, unknown> {
  readonly sample: number
  readonly seed?: number
  readonly json?: boolean
}

export function addVerifyCommand(program: Command, io: CommandIo): void {
  const command = program
    .command('verify')
    .description(
      'Compare the warehouse with the service: counts, and a random sample of records, field by field. Changes no row. Exit code 6 when they differ.',
    )
    .option(
      '--sample <count>',
      'Shipments, and as many containers with their transport events: about three requests each.',
      wholeNumber(0, 100_000),
      50,
    )
    .option(
      '--seed <number>',
      'The same seed takes the same sample; random unless told, and printed.',
      wholeNumber(0, LARGEST_SEED),
    )
    .option('--json', 'Print as JSON.')
  addSettingFlags(command, SETTINGS).action(async (options: VerifyOptions) => {
    await io.withApp(settingFlagsOf(options), async (app) => {
      const { verifySource } = await import('../sync/verify.js')
      requireService(app.config)
      // This one is for the shared request budget alone.
      const { service } = await app.openService({ warehouse: await app.openWarehouse() })
      const report = await verifySource({
        service,
        warehouse: await app.openWarehouse({ isMigrating: false, isReadOnly: true }),
        settings: { ...app.config, vesselPositions: false },
        signal: app.signal,
        sample: options.sample,
        seed: options.seed ?? randomInt(LARGEST_SEED),
      })
      if (options.json === true) io.printJson(report)
      else io.print(formatVerifyReport(report))
      return report.isEqual ? EXIT_CODES.complete : EXIT_CODES.incomplete
    })
  })
}

export function formatVerifyReport(report: VerifyReport): string {
  const counts = report.counts.map((count) => [
    count.stream,
    count.service ?? 'not said',
    count.warehouse,
    count.difference,
    count.tolerance,
    count.isWithin ? 'yes' : 'NO',
  ])
  const streams = report.streams.map((stream) => [
    stream.stream,
    stream.compared,
    stream.equal,
    stream.differing,
    stream.missingAtSource,
    stream.changing,
  ])
  const verdict = report.isEqual
    ? 'The warehouse equals the service'
    : 'The warehouse DIFFERS from the service: run `tracking-sync sync`, then verify again'
  return [
    formatTable(['list', 'service', 'warehouse', 'difference', 'tolerated', 'within'], counts),
    '',
    formatTable(
      ['stream', 'compared', 'equal', 'differing', 'missing at source', 'changing now'],
      streams,
    ),
    ...formatDifferences(report),
    ...formatVolatile(report),
    '',
    `${verdict} (sample ${report.sample}, seed ${report.seed}, ${report.requests} requests).`,
  ].join('\n')
}

function formatDifferences({ differences }: VerifyReport): string[] {
  if (differences.length === 0) return []
  const rows = differences
    .slice(0, SHOWN_DIFFERENCES)
    .map(({ stream, record, column, warehouse, service }) => {
      return [stream, record, column, shorten(warehouse), shorten(service)]
    })
  const more = differences.length - rows.length
  return [
    '',
    formatTable(['stream', 'record', 'column', 'warehouse', 'service'], rows),
    ...(more > 0 ? [`… and ${more} more: see --json`] : []),
  ]
}

function formatVolatile({ volatile }: VerifyReport): string[] {
  const columns = Object.entries(volatile).map(([column, rows]) => `${column} (${rows})`)
  if (columns.length === 0) return []
  return ['', `Behind, as such columns are between two runs: ${columns.join(', ')}`]
}

function shorten(value: string | null): string | null {
  return value !== null && value.length > 60 ? `${value.slice(0, 60)}…` : value
}
