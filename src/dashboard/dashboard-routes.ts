import type { IncomingMessage, ServerResponse } from 'node:http'
import { keepFor, within } from '../base/in-time.js'
import type { Logger } from '../base/logger.js'
import { WarehouseUnavailableError } from '../base/errors.js'
import { answerText } from '../http/answer.js'
import type { Route } from '../http/http-server.js'
import {
  findAlerts,
  sentencesOf,
  type AlertFacts,
  type StatusSection,
} from '../status/describe-status.js'
import type { WarehouseStatus } from '../status/read-status.js'
import type { TableAnswer } from '../warehouse/connection/read-answer.js'
import { withSchemaNames } from '../warehouse/connection/schema-names.js'
import type { Warehouse } from '../warehouse/connection/warehouse.js'
import { AWAY, lightOf, NOT_LAID_OUT } from './light.js'
import type { PageParts, Search } from './page.js'
import { BUSINESS_PANELS, SEARCH, TIMELINE } from './business-panels.js'
import { OPERATIONS_PANELS } from './operations-panels.js'
import type { Panel } from './panels.js'
import { readPanel, readPanels } from './read-panels.js'
import { STYLE_SHEET } from './style-sheet.js'

export interface DashboardOptions {
  /** Its time limit bounds each panel. */
  readonly warehouse: Warehouse
  /** Counts every row: on a large account it takes longer than a panel may. */
  readonly readStatus: () => Promise<WarehouseStatus>
  readonly logger: Logger
  readonly facts: () => Promise<AlertFacts>
  /** The tables at the end of the page. */
  readonly describe: (status: WarehouseStatus) => readonly StatusSection[]
  readonly formatCsv: (answer: TableAnswer) => Promise<string>
}

/**
 * In their order. Each is one SQL statement that a reader of the warehouse may run too. Large
 * accounts are asked from the stored views, which are the views themselves where nothing is stored.
 */
export const PANELS: readonly Panel[] = [...BUSINESS_PANELS, ...OPERATIONS_PANELS]

/** Readers within this time share one reading of the panels. */
const KEPT_MS = 15_000
/** Somebody waits: longer, and the database counts as away. */
const ANSWER_MS = 1_500

const HTML = 'text/html; charset=utf-8'
/** Nothing runs, nothing comes from elsewhere, and nobody may frame it. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}

/** The page at `/`, its style sheet, and of each panel its rows as CSV and its SQL. */
export function createDashboardRoutes(options: DashboardOptions): Record<string, Route> {
  const parts = keepFor(KEPT_MS, () => readParts(options))
  const page = route(async (request, response) => {
    const text = await makePage(options, parts, containerOf(request))
    answerText(response, { type: HTML, ...text, headers: { ...HEADERS, ...text.headers } })
  })
  const style = route((_request, response) => {
    answerText(response, { type: 'text/css; charset=utf-8', text: STYLE_SHEET, headers: HEADERS })
  })
  const ofPanels = [...PANELS, TIMELINE].flatMap((panel) => [
    [`/panels/${panel.id}.csv`, csvRoute(options, panel)] as const,
    [`/panels/${panel.id}.sql`, sqlRoute(options, panel)] as const,
  ])
  return { '/': page, '/dashboard.css': style, ...Object.fromEntries(ofPanels) }
}

function route(handle: Route['handle']): Route {
  return { methods: ['GET', 'HEAD'], handle }
}

type Text = Pick<Parameters<typeof answerText>[1], 'text' | 'status' | 'headers'>

async function makePage(
  options: DashboardOptions,
  readParts: () => Promise<PageParts>,
  wanted: string | undefined,
): Promise<Text> {
  const { warehouse, logger } = options
  const { formatDashboard, formatNotice } = await import('./page.js')
  const title = titleOf(warehouse)
  const isLaidOut = await within(ANSWER_MS, areTablesThere(warehouse))
  if (isLaidOut === undefined) return away(formatNotice)
  if (!isLaidOut) {
    const advice = 'Run `tracking-sync migrate`, then `tracking-sync backfill`.'
    return { text: formatNotice(title, NOT_LAID_OUT, advice) }
  }
  try {
    const parts = await readParts()
    return { text: formatDashboard(parts, wanted === undefined ? undefined : await find(wanted)) }
  } catch (error) {
    if (!(error instanceof WarehouseUnavailableError)) throw error
    logger.warn('the dashboard could not be made', { error })
    return away(formatNotice)
  }

  function away(format: typeof formatNotice): Text {
    const advice = 'Check that PostgreSQL runs and that DATABASE_URL is right.'
    // Not in the page: a page that reloads itself takes the place from a reader.
    return { status: 503, headers: { refresh: '5' }, text: format(title, AWAY, advice) }
  }

  async function find(text: string): Promise<Search> {
    const found = await readPanel(warehouse, SEARCH, [text])
    const [row, second] = found.answer?.rows ?? []
    const isOne = row !== undefined && second === undefined
    return {
      wanted: text,
      found,
      timeline: isOne ? await readPanel(warehouse, TIMELINE, [String(row[0])]) : undefined,
    }
  }
}

function titleOf({ names }: Warehouse): string {
  return `tracking-sync: ${names.data}`
}

async function areTablesThere(warehouse: Warehouse): Promise<boolean> {
  const [row] = await warehouse.query<{ is_there: boolean }>(
    'look for the tables',
    'select to_regclass($1) is not null as is_there',
    [warehouse.names.table('sync_runs')],
  )
  return row?.is_there === true
}

async function readParts(options: DashboardOptions): Promise<PageParts> {
  const { warehouse, describe } = options
  const status = await options.readStatus()
  const own = await options.facts()
  const alerts = sentencesOf(findAlerts(status, own))
  const now = new Date()
  return {
    title: titleOf(warehouse),
    light: lightOf(status.freshness, own, alerts, now),
    alerts,
    readAt: `${now.toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    panels: status.runs.length === 0 ? [] : await readPanels(warehouse, PANELS),
    sections: describe(status),
  }
}

function csvRoute({ warehouse, formatCsv }: DashboardOptions, panel: Panel): Route {
  return route(async (request, response) => {
    const parameters = panel === TIMELINE ? [containerOf(request) ?? ''] : []
    const { answer, problem } = await readPanel(warehouse, panel, parameters).catch(unavailable)
    if (answer === undefined) {
      answerText(response, { status: 503, type: PLAIN, text: `${problem}\n`, headers: HEADERS })
      return
    }
    answerText(response, {
      type: 'text/csv; charset=utf-8',
      text: await formatCsv(answer),
      headers: {
        ...HEADERS,
        'content-disposition': `attachment; filename="${panel.id}.csv"`,
      },
    })
  })
}

const PLAIN = 'text/plain; charset=utf-8'

function unavailable(thrown: unknown): { answer: undefined; problem: string } {
  if (thrown instanceof WarehouseUnavailableError) {
    return { answer: undefined, problem: 'The database does not answer.' }
  }
  throw thrown
}

function sqlRoute({ warehouse }: DashboardOptions, panel: Panel): Route {
  return route((_request: IncomingMessage, response: ServerResponse) => {
    const text = `${withSchemaNames(panel.sqlText, warehouse.names)};\n`
    answerText(response, { type: PLAIN, text, headers: HEADERS })
  })
}

/** What was asked for, at most as long as the box takes; undefined where nothing was. */
function containerOf({ url = '' }: IncomingMessage): string | undefined {
  const text = new URLSearchParams(url.split('?')[1]).get('container')?.slice(0, 100).trim()
  return text === undefined || text === '' ? undefined : text
}
