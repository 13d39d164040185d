import { randomInt } from 'node:crypto'
import { EXIT_CODES } from '../../../base/exit-code.js'
import { countOf } from '../../../base/phrases.js'
import { requireService } from '../../../config/needed-settings.js'
import type { VerifyReport } from '../verify/verify-report.js'
import { declare, value, wholeNumber } from '../../../commands/declare-command.js'
import { runSettingsOf } from '../../../commands/sync.js'
import type { Part } from '../../../commands/output/print-table.js'

const LARGEST_SEED = 2 ** 31 - 1
const SHOWN_DIFFERENCES = 50

export const verify = declare({
  name: 'verify',
  help:
    'Compare the warehouse with the service: counts, records of some pages, and a random ' +
    'sample of rows of every table, field by field; and histories with their rows. Says how many ' +
    'rows of each table it compared, and which tables it did not. Changes no row. ' +
    'Exit code 6 when they differ.',
  settings: [
    'service',
    'apiUrl',
    'rateLimitPerMinute',
    'vesselPositions',
    'rawEvents',
    'sensitiveFields',
    'migrate',
    'allowInsecureApiUrl',
  ],
  takes: {
    sample: value(
      '--sample <count>',
      'Shipments to compare, and as many containers with their transport events: about three ' +
        'requests each; and as many tracking requests, custom fields, places and vessels of each kind.',
      wholeNumber(1, 100_000),
      50,
    ),
    seed: value(
      '--seed <number>',
      'The same seed takes the same sample. Default: a random one, which is printed.',
      wholeNumber(0, LARGEST_SEED),
    ),
  },
  run: async (app, { sample, seed = randomInt(LARGEST_SEED) }) => {
    const { verifySource } = await import('../verify/verify-warehouse.js')
    requireService(app.config)
    await app.openWarehouse({ isOfRows: true })
    const { service } = await app.openService()
    const report = await verifySource({
      service,
      warehouse: await app.connect({ isReadOnly: true }),
      settings: runSettingsOf(app.config),
      signal: app.signal,
      sample,
      seed,
    })
    const exitCode = report.isEqual ? EXIT_CODES.complete : EXIT_CODES.incomplete
    return { data: report, text: describeVerification(report), exitCode }
  },
})

function describeVerification(report: VerifyReport): Part[] {
  const counts = report.counts.map((count) => [
    count.stream,
    count.service ?? 'unknown',
    count.warehouse,
    count.difference,
    count.tolerance,
    count.isWithin ? 'yes' : 'NO',
  ])
  const streams = report.streams.map((stream) => [
    stream.stream,
    stream.rows,
    stream.compared,
    stream.values,
    stream.equal,
    stream.differing,
    stream.missingAtSource,
    stream.changing,
  ])
  const differences = report.differences
    .slice(0, SHOWN_DIFFERENCES)
    .map(({ stream, record, column, warehouse, service }) => [
      stream,
      record,
      column,
      ...showDifference(warehouse, service),
    ])
  const more = report.differences.length - differences.length
  const sum = (part: 'compared' | 'values'): number =>
    report.streams.reduce((total, stream) => total + stream[part], 0)
  const what = `${countOf(sum('compared'), 'row')} with ${countOf(sum('values'), 'value')}`
  const verdict = report.isEqual
    ? `The warehouse equals the service in all compared rows: ${what}`
    : 'The warehouse DIFFERS from the service ' +
      `(last complete read: ${describeAge(report.wholeHoursAgo)})`
  return [
    {
      columns: ['list', 'service', 'warehouse', 'difference', 'tolerated', 'within'],
      rows: counts,
    },
    '',
    {
      columns: [
        'table',
        'rows',
        'compared',
        'values',
        'equal',
        'differing',
        'missing at source',
        'changing now',
      ],
      rows: streams,
    },
    ...(differences.length === 0
      ? []
      : [
          '',
          { columns: ['stream', 'record', 'column', 'warehouse', 'service'], rows: differences },
        ]),
    ...(more > 0 ? [`… and ${more} more: see --json`] : []),
    ...(report.unlistedEvents === 0
      ? []
      : ['', `Live transport events that no container lists: ${report.unlistedEvents}`]),
    '',
    ...report.notCompared.map((name) => `Not compared: ${name}.`),
    '',
    `${verdict} ` +
      `(sample ${report.sample}, seed ${report.seed}, ${countOf(report.requests, 'request')}).`,
    ...(report.isEqual
      ? []
      : [
          'To mend it, run in this order, then verify again:',
          ...report.advice.map((one, at, all) => `  ${one}${one === all[at - 1] ? TWICE : ''}`),
        ]),
  ]
}

function describeAge(hours: number | null): string {
  if (hours === null) return 'never'
  return hours < 1 ? 'less than an hour ago' : `${Math.round(hours)} hours ago`
}

/** In the way of a shell, so that the line can be copied. */
const TWICE = '  # once more: a row is marked as gone when two passes miss it'
const SHOWN_BEFORE = 20
const SHOWN_VALUE = 60

/** Both values; long ones from shortly before their first difference. */
export function showDifference(
  warehouse: string | null,
  service: string | null,
): [string | null, string | null] {
  if (warehouse === null || service === null) return [excerpt(warehouse, 0), excerpt(service, 0)]
  let equal = 0
  while (equal < warehouse.length && warehouse[equal] === service[equal]) equal += 1
  const isShort = Math.max(warehouse.length, service.length) <= SHOWN_VALUE
  const from = isShort ? 0 : Math.max(0, equal - SHOWN_BEFORE)
  return [excerpt(warehouse, from), excerpt(service, from)]
}

function excerpt(value: string | null, from: number): string | null {
  if (value === null) return null
  const end = from + SHOWN_VALUE
  return `${from > 0 ? '…' : ''}${value.slice(from, end)}${end < value.length ? '…' : ''}`
}
