import { escapeHtml } from '../base/html.js'
import { ConnectorError } from '../base/errors.js'
import type { Logger } from '../base/logger.js'
import type { JobState } from '../base/schedule.js'
import { answerText } from '../http/answer.js'
import type { Route } from '../http/http-server.js'
import { findAlerts, type AlertFacts } from '../status/describe-status.js'
import { describeStatus, type StatusSection } from '../status/describe-status.js'
import { readStatus, type WarehouseStatus } from '../status/read-status.js'
import type { Warehouse } from '../warehouse/connection/warehouse.js'
import { keepFor } from './in-time.js'

/** What the page says of this process. */
export interface ServingStatus extends AlertFacts {
  readonly programVersion: string
  readonly startedAt: Date
  /** `receiver`, `processor`, `scheduler`: what runs here. */
  readonly parts: readonly string[]
  readonly requestLimit: number
  readonly jobs: readonly JobState[]
}

const AWAY: StatusSection = {
  title: 'Database',
  columns: [],
  rows: [],
  empty: 'The database does not answer. This page asks again every 30 seconds.',
}

/** Counting rows takes seconds on a large account; readers within this time share one answer. */
const KEPT_MS = 15_000

/**
 * The route `/`: what the command `status` prints, and this process. No payloads, no secrets. 503
 * while the database is away.
 */
export function createStatusRoute(options: {
  readonly warehouse: Warehouse
  readonly serving: () => ServingStatus
  readonly logger: Logger
}): Route {
  const { warehouse, logger } = options
  const title = `tracking-sync: ${warehouse.names.data}`
  const page = keepFor(KEPT_MS, async () =>
    formatStatusPage(title, describeServing(await readStatus(warehouse), options.serving())),
  )
  return {
    methods: ['GET', 'HEAD'],
    handle: async (_request, response) => {
      const { status, text } = await page().then(
        (html) => ({ status: 200, text: html }),
        (error: unknown) => {
          if (!(error instanceof ConnectorError)) throw error
          logger.warn('the status page could not be made', { error })
          return { status: 503, text: formatStatusPage(title, [AWAY]) }
        },
      )
      answerText(response, {
        status,
        text,
        type: 'text/html; charset=utf-8',
        headers: {
          'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
          'x-content-type-options': 'nosniff',
        },
      })
    },
  }
}

/** Everything on the page, alerts first. */
export function describeServing(status: WarehouseStatus, serving: ServingStatus): StatusSection[] {
  const { programVersion, startedAt, parts, jobs } = serving
  return [
    {
      title: 'Alerts',
      columns: ['what needs attention'],
      rows: findAlerts(status, serving).map((alert) => [alert]),
      empty: 'none',
    },
    ...describeStatus(status, serving.requestLimit),
    {
      title: 'This process',
      columns: ['version', 'since', 'runs', 'last complete sync began'],
      rows: [
        [
          programVersion,
          startedAt.toISOString(),
          parts.join(', '),
          status.freshness.beganAt ?? 'never',
        ],
      ],
      empty: '',
    },
    {
      title: 'Jobs of this process',
      columns: ['job', 'runs now', 'last success', 'last failure', 'failures'],
      rows: jobs.map(({ name, isRunning, lastSuccessAt, lastFailureAt, failures }) => [
        name,
        isRunning ? 'yes' : 'no',
        lastSuccessAt?.toISOString() ?? 'none yet',
        lastFailureAt?.toISOString(),
        failures,
      ]),
      empty: 'none',
    },
  ]
}

/** A page without scripts that reloads itself every half minute. */
export function formatStatusPage(title: string, sections: readonly StatusSection[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="refresh" content="30">
<title>${escapeHtml(title)}</title>
<style>
body { font: 14px/1.5 system-ui, sans-serif; margin: 2rem; color: #222; background: #fff }
table { border-collapse: collapse; margin-bottom: 1.5rem }
th, td {
  text-align: left; vertical-align: top;
  padding: .2rem .8rem .2rem 0; border-bottom: 1px solid #ddd
}
</style>
</head>
<body>
<h1>${escapeHtml(title)}</h1>
${sections.map(formatSection).join('\n')}
</body>
</html>
`
}

function formatSection({ title, columns, rows, empty, note }: StatusSection): string {
  if (rows.length === 0 && empty === '') return ''
  const head = columns.map((column) => `<th>${escapeHtml(column)}</th>`).join('')
  const body = rows.map(
    (row) => `<tr>${row.map((cell) => `<td>${cellHtml(cell)}</td>`).join('')}</tr>`,
  )
  const content =
    rows.length === 0
      ? `<p>${escapeHtml(empty)}</p>`
      : `<table>\n<tr>${head}</tr>\n${body.join('\n')}\n</table>`
  const below = note === undefined ? '' : `\n<p>${escapeHtml(note)}</p>`
  return `<h2>${escapeHtml(title)}</h2>\n${content}${below}`
}

function cellHtml(value: unknown): string {
  if (value === null || value === undefined) return ''
  return escapeHtml(typeof value === 'string' ? value : JSON.stringify(value))
}
