import type { IncomingMessage, ServerResponse } from 'node:http'
import { keepFor } from '../../base/in-time.js'
import { answerText } from '../../http/answer.js'
import type { Route } from '../../http/http-server.js'
import type { NumberPage } from '../answers/number-page.js'
import type { TableAnswer } from '../answers/read-answer.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import type { Brand } from './dashboard-settings.js'
import { CONTAINER_PANELS } from './panels/container-panels.js'
import { filtersIn, narrow, type Filters } from './filters.js'
import { FIGURE_PANELS } from './panels/figure-panels.js'
import { LIST_PANELS } from './panels/list-panels.js'
import { CHOICES } from './panels/search-panels.js'
import {
  makeAhead,
  makeContainer,
  makeFound,
  makeList,
  makeOperations,
  makeOverview,
  type Made,
  type Sources,
} from './make-pages.js'
import { OPERATIONS_PANELS } from './panels/operations-panels.js'
import { OVERVIEW_PANELS } from './panels/business-panels.js'
import { PAGE_SCRIPT } from './page-script.js'
import { inOrder } from './page-tables.js'
import type { Panel } from './panels/panels.js'
import { areTablesThere, readOverview, readSections } from './read-overview.js'
import type { OverviewOptions, SectionOptions } from './read-overview.js'
import { createPanelReader, sqlFor } from './read-panels.js'
import { STYLE_SHEET } from './style-sheet.js'

export interface DashboardOptions extends OverviewOptions, SectionOptions, Partial<Brand> {
  /** Page of a container at the service. */
  readonly pageOf?: NumberPage | undefined
  /** Its time limit bounds each panel. */
  readonly warehouse: Warehouse
  readonly formatCsv: (answer: TableAnswer) => Promise<string>
  /**
   * Reads the overview before anybody asks for it, so that a later reader sees figures at once. The
   * signal says that the program ends, which cuts the reading.
   */
  readonly readsAhead?: { readonly until: AbortSignal }
  /** Puts every route behind the question who asks. */
  readonly guard: (routes: Record<string, Route>) => Record<string, Route>
}

/**
 * Every panel about many containers. Each is one SQL statement that a reader of the warehouse may
 * also run. Large accounts are read from the stored views, others from the views themselves.
 */
export const PANELS: readonly Panel[] = [
  ...Object.values(FIGURE_PANELS),
  ...new Set([...OVERVIEW_PANELS, ...LIST_PANELS]),
  ...OPERATIONS_PANELS,
]

/** Readers within this time share one read of the state of the warehouse. */
const KEPT_MS = 15_000
/** The same for the check whether the database answers. */
const KNOWN_MS = 1_000

const TITLE = 'Container tracking'
/** In the tab of a browser: a container. */
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#0b57a4" ' +
  'd="M0 3h16v10H0z"/><path stroke="#fff" d="M3 5v6M6 5v6M10 5v6M13 5v6"/></svg>'
const HTML = 'text/html; charset=utf-8'
const PLAIN = 'text/plain; charset=utf-8'
const WORKBOOK = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
/** The page runs our own script only, loads nothing external, and must not be framed. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; " +
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}

/** The pages, their style sheet and script, and the rows as CSV and the SQL of each panel. */
export function createDashboardRoutes(options: DashboardOptions): Record<string, Route> {
  const { warehouse, title = TITLE, logo } = options
  const sources: Sources = {
    title,
    hasLogo: logo !== undefined,
    pageOf: options.pageOf,
    panels: createPanelReader(warehouse, [...Object.values(FIGURE_PANELS), ...OVERVIEW_PANELS]),
    areTablesThere: keepFor(KNOWN_MS, () => areTablesThere(warehouse)),
    overview: keepFor(KEPT_MS, () => readOverview(options)),
    sections: keepFor(KEPT_MS, () => readSections(options)),
  }
  const { readsAhead } = options
  if (readsAhead !== undefined) {
    makeAhead(sources).catch((error: unknown) => {
      if (readsAhead.until.aborted) return
      options.logger.warn('the dashboard was not read ahead; it is read when asked for', { error })
    })
  }
  const page = (make: (address: URL) => Promise<Made>) =>
    route(async (request, response) => {
      const { text = '', headers, ...made } = await make(addressIn(request))
      answerText(response, { type: HTML, ...made, text, headers: { ...HEADERS, ...headers } })
    })
  const file = (type: string, text: string) =>
    route((_request, response) => {
      answerText(response, { type, text, headers: HEADERS })
    })
  const ofPanels = [CHOICES, ...PANELS, ...CONTAINER_PANELS].flatMap((panel) => [
    [`/panels/${panel.id}.csv`, rowsRoute(options, sources, panel)] as const,
    [`/panels/${panel.id}.xlsx`, rowsRoute(options, sources, panel)] as const,
    [`/panels/${panel.id}.sql`, sqlRoute(warehouse, panel)] as const,
  ])
  const ofLists = LIST_PANELS.map((panel) => [
    `/${panel.id}`,
    page((address) => makeList(sources, panel, address.searchParams)),
  ])
  return options.guard({
    '/': page((address) => makeOverview(sources, address.searchParams)),
    ...(Object.fromEntries(ofLists) as Record<string, Route>),
    '/containers': page((address) => makeFound(sources, address.searchParams)),
    '/containers/*': page((address) => makeContainer(sources, address)),
    '/operations': page(() => makeOperations(sources)),
    '/dashboard.css': file('text/css; charset=utf-8', STYLE_SHEET),
    '/dashboard.js': file('text/javascript; charset=utf-8', PAGE_SCRIPT),
    '/logo.svg': file('image/svg+xml', logo ?? ICON),
    ...Object.fromEntries(ofPanels),
  })
}

function route(handle: Route['handle']): Route {
  return { methods: ['GET', 'HEAD'], handle }
}

/** The path and the query; the rest of an address is that of any server. */
function addressIn({ url = '/' }: IncomingMessage): URL {
  const address = new URL('http://page')
  const [path = '/', query = ''] = url.split('?')
  address.pathname = path
  address.search = query
  return address
}

/** Its rows as CSV, or as a workbook. */
function rowsRoute(
  { formatCsv }: DashboardOptions,
  { panels, pageOf }: Sources,
  panel: Panel,
): Route {
  return route(async (request, response) => {
    const { searchParams, pathname } = addressIn(request)
    const wanted =
      panel.group === 'container'
        ? { subject: cleanText(searchParams.get('container')) }
        : { filters: filtersOf(panel, searchParams) }
    const { answer, problem } = await panels.read(panel, wanted)
    if (answer === undefined) {
      answerText(response, { status: 503, type: PLAIN, text: `${problem}\n`, headers: HEADERS })
      return
    }
    const rows = inOrder(answer, searchParams.get('sort') ?? undefined)
    const isWorkbook = pathname.endsWith('.xlsx')
    const file = pathname.slice(pathname.lastIndexOf('/') + 1)
    answerText(response, {
      type: isWorkbook ? WORKBOOK : 'text/csv; charset=utf-8',
      text: isWorkbook ? await formatWorkbook(rows, panel.id, pageOf) : await formatCsv(rows),
      headers: { ...HEADERS, 'content-disposition': `attachment; filename="${file}"` },
    })
  })
}

async function formatWorkbook(
  answer: TableAnswer,
  name: string,
  pageOf: NumberPage | undefined,
): Promise<Buffer> {
  const { asPieces } = await import('../answers/output/print-answer.js')
  const { asWorkbook } = await import('../answers/output/print-workbook.js')
  const chunks: Uint8Array[] = []
  for await (const chunk of asWorkbook(asPieces(answer), { name, pageOf })) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function filtersOf({ group }: Panel, parameters: URLSearchParams): Filters {
  return filtersIn(parameters, group === 'list')
}

function cleanText(text: string | null): string {
  return (text ?? '').replaceAll('\0', '').slice(0, 200)
}

/** Values stay parameters here too: a comment names them. */
function sqlRoute(warehouse: Warehouse, panel: Panel): Route {
  return route(async (request: IncomingMessage, response: ServerResponse) => {
    const filters = filtersOf(panel, addressIn(request).searchParams)
    const { sqlText, parameters } = narrow(panel.sqlText, filters)
    const values = parameters.map((value, at) => `-- $${at + 1}: ${JSON.stringify(value)}\n`)
    const text = `${values.join('')}${await sqlFor(warehouse, sqlText)};\n`
    answerText(response, { type: PLAIN, text, headers: HEADERS })
  })
}
