import { sql } from 'kysely'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { ConnectorError } from '../../base/errors.js'
import { keepFor, unlessLate, within } from '../../base/in-time.js'
import type { Logger } from '../../base/logger.js'
import { answerText } from '../../http/answer.js'
import type { Route } from '../../http/http-server.js'
import {
  findAlerts,
  sentencesOf,
  type AlertFacts,
  type StatusSection,
} from '../../status/describe-status.js'
import type { WarehouseStatus } from '../../status/read-status.js'
import { readVitals } from '../../status/read-vitals.js'
import type { TableAnswer } from '../answers/read-answer.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { AWAY, lightOf, NOT_LAID_OUT, STILL_READ, UNREAD } from './light.js'
import type { PageParts, Search } from './page.js'
import { BUSINESS_PANELS, SEARCH, TIMELINE } from './business-panels.js'
import { OPERATIONS_PANELS } from './operations-panels.js'
import type { Panel } from './panels.js'
import { createPanelReader, explain, sqlFor, stillRead } from './read-panels.js'
import type { AnsweredPanel, PanelReader } from './read-panels.js'
import { STYLE_SHEET } from './style-sheet.js'
import { tableRef } from '../../warehouse/connection/typed-database.js'

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
 * The panels in their order. Each is one SQL statement that a reader of the warehouse may also run.
 * Large accounts are read from the stored views, others from the views themselves.
 */
export const PANELS: readonly Panel[] = [...BUSINESS_PANELS, ...OPERATIONS_PANELS]

/** Readers within this time share one read of the state of the warehouse. */
const KEPT_MS = 15_000
/** The same for the check whether the database answers. */
const KNOWN_MS = 1_000
/** The page is sent after this time with the finished panels, because a reader waits. */
const ANSWER_MS = 1_500
/** Seconds until a page with missing panels reloads. */
const REST_SECONDS = '3'

const HTML = 'text/html; charset=utf-8'
/** The page runs no script, loads nothing external, and must not be framed. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}

/** The page at `/`, its style sheet, and the rows as CSV and the SQL of each panel. */
export function createDashboardRoutes(options: DashboardOptions): Record<string, Route> {
  const { warehouse } = options
  const sources: Sources = {
    panels: createPanelReader(warehouse),
    areTablesThere: keepFor(KNOWN_MS, () => areTablesThere(warehouse)),
    overview: keepFor(KEPT_MS, () => readOverview(options)),
    sections: keepFor(KEPT_MS, () => readSections(options)),
  }
  const page = route(async (request, response) => {
    const text = await makePage(warehouse, sources, containerOf(request))
    answerText(response, { type: HTML, ...text, headers: { ...HEADERS, ...text.headers } })
  })
  const style = route((_request, response) => {
    answerText(response, { type: 'text/css; charset=utf-8', text: STYLE_SHEET, headers: HEADERS })
  })
  const ofPanels = [...PANELS, TIMELINE].flatMap((panel) => [
    [`/panels/${panel.id}.csv`, csvRoute(options, sources.panels, panel)] as const,
    [`/panels/${panel.id}.sql`, sqlRoute(warehouse, panel)] as const,
  ])
  return { '/': page, '/dashboard.css': style, ...Object.fromEntries(ofPanels) }
}

function route(handle: Route['handle']): Route {
  return { methods: ['GET', 'HEAD'], handle }
}

type Text = Pick<Parameters<typeof answerText>[1], 'text' | 'status' | 'headers'>

/** The parts of a page; all clients share one read. */
interface Sources {
  readonly panels: PanelReader
  readonly areTablesThere: () => Promise<boolean>
  readonly overview: () => Promise<Overview>
  readonly sections: () => Promise<readonly StatusSection[]>
}

interface Overview extends Pick<PageParts, 'light' | 'alerts'> {
  readonly hasRuns: boolean
}

/** A slow part shows a notice in its place, and the page reloads itself. */
async function makePage(
  warehouse: Warehouse,
  sources: Sources,
  wanted: string | undefined,
): Promise<Text> {
  const { formatDashboard, formatNotice } = await import('./page.js')
  const title = titleOf(warehouse)
  const until = performance.now() + ANSWER_MS
  const inTime = <Result>(work: Promise<Result>) => unlessLate(until - performance.now(), work)
  const isLaidOut = await within(ANSWER_MS, sources.areTablesThere())
  if (isLaidOut === undefined) {
    const advice = 'Check that PostgreSQL runs and that DATABASE_URL is right.'
    // A header, not the page: a page that reloads itself makes a reader lose the place.
    return { status: 503, headers: { refresh: '5' }, text: formatNotice(title, AWAY, advice) }
  }
  if (!isLaidOut) {
    const advice = 'Run `tracking-sync migrate`, then `tracking-sync backfill`.'
    return { text: formatNotice(title, NOT_LAID_OUT, advice) }
  }
  const [search, overview, sections, panels] = await Promise.all([
    wanted === undefined ? undefined : find(wanted),
    inTime(sources.overview()),
    inTime(sources.sections()),
    Promise.all(PANELS.map(readInTime)),
  ])
  const { light, alerts, hasRuns } = overview ?? { light: STILL_READ, alerts: [], hasRuns: true }
  const shown = hasRuns ? panels : []
  const asked = [...shown, search?.found, search?.timeline]
  const isWhole = overview && sections && !asked.some((answered) => answered?.isLate)
  const text = formatDashboard(
    {
      title,
      light,
      alerts,
      readAt: oldestOf(shown),
      panels: shown,
      sections: sections ?? [noSections('Still being read.')],
    },
    search,
  )
  return { text, ...(isWhole ? {} : { headers: { refresh: REST_SECONDS } }) }

  async function readInTime(panel: Panel): Promise<AnsweredPanel> {
    const read = await inTime(sources.panels.read(panel))
    return read ?? sources.panels.last(panel) ?? stillRead(panel)
  }

  async function find(text: string): Promise<Search> {
    const found = (await inTime(sources.panels.read(SEARCH, [text]))) ?? stillRead(SEARCH)
    const [row, second] = found.answer?.rows ?? []
    const isOne = row !== undefined && second === undefined
    const timeline = isOne ? sources.panels.read(TIMELINE, [String(row[0])]) : undefined
    return {
      wanted: text,
      found,
      timeline: timeline && ((await inTime(timeline)) ?? stillRead(TIMELINE)),
    }
  }
}

/** The time that the page shows: the oldest read of its panels. */
function oldestOf(panels: readonly AnsweredPanel[]): string {
  const oldest = Math.min(Date.now(), ...panels.map(({ readAt }) => readAt.getTime()))
  return `${new Date(oldest).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

function titleOf({ names }: Warehouse): string {
  return `tracking-sync: ${names.data}`
}

async function areTablesThere(warehouse: Warehouse): Promise<boolean> {
  const [row] = await warehouse.query(
    'look for the tables',
    sql<{
      is_there: boolean
    }>`select to_regclass(${warehouse.names.table('sync_runs')}) is not null as is_there`,
  )
  return row?.is_there === true
}

/** Takes milliseconds. A failure costs only its own part of the page. */
async function readOverview({ warehouse, facts, logger }: DashboardOptions): Promise<Overview> {
  try {
    const vitals = await readVitals(warehouse)
    const own = await facts()
    const alerts = sentencesOf(findAlerts(vitals, own))
    const light = lightOf(vitals, own, alerts, new Date())
    return { light, alerts, hasRuns: await hasRuns(warehouse) }
  } catch (thrown) {
    if (!(thrown instanceof ConnectorError)) throw thrown
    logger.warn('the dashboard could not read the state of the warehouse', { error: thrown })
    return { light: UNREAD, alerts: [explain(thrown)], hasRuns: true }
  }
}

async function hasRuns(warehouse: Warehouse): Promise<boolean> {
  const [row] = await warehouse.query(
    'look for a run',
    sql<{
      is_there: boolean
    }>`select exists (select from ${tableRef('sync.sync_runs')}) as is_there`,
  )
  return row?.is_there === true
}

/** Counts every row, and so may take longer than a panel. */
async function readSections({
  readStatus,
  describe,
  logger,
}: DashboardOptions): Promise<readonly StatusSection[]> {
  try {
    return describe(await readStatus())
  } catch (thrown) {
    if (!(thrown instanceof ConnectorError)) throw thrown
    logger.warn('the dashboard could not count the rows', { error: thrown })
    return [noSections(explain(thrown))]
  }
}

function noSections(why: string): StatusSection {
  return { title: 'Streams', columns: [], rows: [], empty: why }
}

function csvRoute({ formatCsv }: DashboardOptions, panels: PanelReader, panel: Panel): Route {
  return route(async (request, response) => {
    const parameters = panel === TIMELINE ? [containerOf(request) ?? ''] : undefined
    const { answer, problem } = await panels.read(panel, parameters)
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

function sqlRoute(warehouse: Warehouse, panel: Panel): Route {
  return route(async (_request: IncomingMessage, response: ServerResponse) => {
    const text = `${await sqlFor(warehouse, panel.sqlText)};\n`
    answerText(response, { type: PLAIN, text, headers: HEADERS })
  })
}

/** The container in the query, cut to the length of the box; undefined without one. */
function containerOf({ url = '' }: IncomingMessage): string | undefined {
  const text = new URLSearchParams(url.split('?')[1]).get('container')?.slice(0, 100).trim()
  return text === undefined || text === '' ? undefined : text
}
