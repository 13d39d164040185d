import type { StatusSection } from '../../status/describe-status.js'
import { escapeHtml } from '../answers/output/html.js'
import type { TableAnswer } from '../answers/read-answer.js'
import { formatFigures, type FigureAnswers } from './head-figures.js'
import { addressOf, LIST_FILTER_NAMES, type Filters } from './filters.js'
import { MOST_ROWS } from './panels/list-parts.js'
import {
  formatFilters,
  formatFrame,
  formatLight,
  formatSearch,
  formatText,
  type Frame,
} from './page-frame.js'
import {
  asText,
  formatList,
  formatTable,
  inOrder,
  toCells,
  toObjects,
  type Order,
  type Place,
} from './page-tables.js'
import type { Panel } from './panels/panels.js'
import type { PanelRow } from './picture-options.js'
import { coloursOf, drawPicture } from './pictures.js'
import type { AnsweredPanel } from './read-panels.js'

/**
 * Widths in CSS pixels: each picture is drawn at two, and the style sheet shows the one that fits.
 * The first is that of a panel with the whole width.
 */
const WHOLE = 1180
const WIDE = 580
const NARROW = 330

const ROWS_IN_TABLE = 60
/** Rows of a list on the overview. */
const FIRST_ROWS = 8
/** Columns of a list in half of the width. */
const COLUMNS_IN_HALF = 5
/** Rows on each page of a list. */
const PAGE_ROWS = 50

export interface OverviewParts {
  /** Undefined before the first run. */
  readonly panels: readonly AnsweredPanel[] | undefined
  readonly figures: FigureAnswers
  /** The alerts of the operator, a sentence each. */
  readonly alerts: readonly string[]
  readonly readAt: string
}

const START = 'Start with `tracking-sync backfill`. Then this page shows the warehouse.'

export function formatOverview(frame: Frame, parts: OverviewParts): string {
  const { panels, figures, alerts, readAt } = parts
  if (panels === undefined) {
    const start = `<p>${formatText(START)}</p>`
    return formatFrame(frame, [formatLight(frame.light), start, formatAlerts(alerts)])
  }
  const shown = panels.map((answered) => formatPanel(answered, frame))
  return formatFrame(frame, [
    `<h1 class="unseen">Today</h1>`,
    formatFilters(frame),
    formatFigures(figures, frame),
    `<div class="panels">
${shown.join('\n')}
</div>
${formatAlerts(alerts)}
<footer><p>Read at ${escapeHtml(readAt)}.</p></footer>`,
  ])
}

export interface ListParts {
  readonly answered: AnsweredPanel
  readonly order: Order
  /** The first page is 1. */
  readonly page: number
  readonly filters: Filters
}

const CHIPS = {
  exception: 'Matter',
  day: 'Day',
  slip: 'Change',
  charge: 'Charge',
  currency: 'Currency',
  place: 'Place',
  severity: 'Severity',
  spot: 'Place',
  state: 'State',
} as const satisfies Record<(typeof LIST_FILTER_NAMES)[number], string>

/** A list with all of its columns, which sorts and has pages. */
export function formatListPage(frame: Frame, parts: ListParts): string {
  const { answered, filters, order } = parts
  const { panel, answer } = answered
  const chips = LIST_FILTER_NAMES.flatMap((name) => {
    const value = filters[name]
    if (value === undefined) return []
    const without = addressOf(frame.path, { ...filters, [name]: undefined })
    const text = `${CHIPS[name]}: ${value.replaceAll('_', ' ')}`
    return [
      `<a class="chosen" href="${escapeHtml(without)}">${escapeHtml(text)}<span aria-hidden="true"> ×</span><span class="unseen">, show all</span></a>`,
    ]
  })
  const [csv, xlsx] = ['csv', 'xlsx'].map((kind) =>
    escapeHtml(addressOf(`/panels/${panel.id}.${kind}`, { ...filters, sort: order })),
  )
  return formatFrame(frame, [
    `<div class="title"><h1>${escapeHtml(panel.title)}</h1>
<p class="links"><a href="${csv}">CSV</a> <a href="${xlsx}">Excel</a> <a href="${escapeHtml(addressOf(`/panels/${panel.id}.sql`, filters))}">SQL</a></p></div>
<p class="meaning">${formatText(panel.meaning)}</p>`,
    formatFilters(frame),
    ...(chips.length === 0 ? [] : [`<p class="chips">${chips.join(' ')}</p>`]),
    `<figure id="${panel.id}" class="whole">
${answer === undefined ? formatProblem(answered) : formatPageOf(answer, frame, parts)}
</figure>`,
  ])
}

function formatPageOf(answer: TableAnswer, frame: Frame, parts: ListParts): string {
  const { answered, order, filters } = parts
  const { panel } = answered
  const { picture } = panel
  if (answer.rows.length === 0 || picture.shape !== 'list') return formatEmpty(panel)
  const sorted = toObjects(inOrder(answer, order))
  const count = sorted.length
  const pages = Math.ceil(count / PAGE_ROWS)
  const page = Math.min(Math.max(parts.page, 1), pages)
  const first = (page - 1) * PAGE_ROWS
  const rows = sorted.slice(first, first + PAGE_ROWS)
  const place = { path: frame.path, filters }
  const table = formatList(rows, {
    ...place,
    title: panel.title,
    columns: picture.columns,
    order,
    isSortable: true,
  })
  const link = (to: number, text: string): string => {
    if (to < 1 || to > pages) return ''
    const address = addressOf(frame.path, { ...filters, sort: order, page: String(to) })
    return `<a href="${escapeHtml(address)}">${text}</a>`
  }
  const most = count === MOST_ROWS ? ' These are the first; the command `query` has all.' : ''
  return `${table}
<p class="pages"><span>${first + 1} to ${first + rows.length} of ${count.toLocaleString('en-US')}.${formatText(most)}</span>
${link(page - 1, '← Before')} ${link(page + 1, 'Next →')}</p>`
}

export interface OperationsParts {
  /** The alerts, a sentence each. */
  readonly alerts: readonly string[]
  readonly panels: readonly AnsweredPanel[]
  /** The sections of `status`, as tables. */
  readonly sections: readonly StatusSection[]
  readonly readAt: string
}

export function formatOperations(frame: Frame, parts: OperationsParts): string {
  const { alerts, panels, sections, readAt } = parts
  return formatFrame(frame, [
    `<h1>Operations</h1>`,
    formatLight(frame.light),
    formatAlerts(alerts),
    `<div class="panels">
${panels.map((answered) => formatPanel(answered, frame)).join('\n')}
</div>
<details>
<summary>Every stream, run and queue</summary>
${sections.map(formatSection).join('\n')}
</details>
<footer><p>Read at ${escapeHtml(readAt)}.</p></footer>`,
  ])
}

/** Replaces a page if the warehouse cannot be read. */
export function formatNotice(frame: Frame, advice: string): string {
  return formatFrame(frame, [formatLight(frame.light), `<p>${formatText(advice)}</p>`])
}

/** The containers that match a text, or that none does. */
export function formatFound(frame: Frame, wanted: string, found: AnsweredPanel): string {
  const { panel, answer } = found
  const { picture } = panel
  const quoted = escapeHtml(JSON.stringify(wanted))
  const isNone = answer?.rows.length === 0
  const heading = `<h1>${isNone ? 'Not found' : `Containers for ${quoted}`}</h1>`
  if (isNone) {
    const sentence = `<p>The warehouse has no container, bill of lading or reference ${quoted}.</p>`
    return formatFrame({ ...frame, sought: wanted }, [
      heading,
      sentence,
      formatSearch(wanted, 'q2'),
    ])
  }
  const list =
    answer === undefined || picture.shape !== 'list'
      ? formatProblem(found)
      : formatList(toObjects(answer), {
          title: panel.title,
          columns: picture.columns,
          path: frame.path,
          filters: {},
        })
  return formatFrame({ ...frame, sought: wanted }, [
    heading,
    `<figure id="${panel.id}" class="whole">${list}</figure>`,
  ])
}

function formatAlerts(alerts: readonly string[]): string {
  if (alerts.length === 0) return ''
  const items = alerts.map((alert) => `<li>${escapeHtml(alert)}</li>`).join('\n')
  return `<section class="alerts" aria-labelledby="alerts">
<h2 id="alerts">Alerts</h2>
<ul>
${items}
</ul>
</section>`
}

/** The HTML of kept answers, and the filters in its links: a page that asks again shows most. */
const drawn = new WeakMap<AnsweredPanel, { readonly asked: string; readonly html: string }>()

export function formatPanel(answered: AnsweredPanel, { filters }: Frame, query = ''): string {
  const asked = query === '' ? addressOf('', filters) : query
  const before = drawn.get(answered)
  if (before?.asked === asked) return before.html
  const html = drawPanel(answered, filters, asked)
  drawn.set(answered, { asked, html })
  return html
}

function drawPanel(answered: AnsweredPanel, filters: Filters, asked: string): string {
  const { panel } = answered
  const links = ['csv', 'sql'].map(
    (kind) =>
      `<a href="${escapeHtml(`/panels/${panel.id}.${kind}${asked}`)}">${kind.toUpperCase()}<span class="unseen"> of ${escapeHtml(panel.title)}</span></a>`,
  )
  const all = panel.picture.shape === 'list' ? formatAll(answered, filters) : ''
  return `<figure id="${panel.id}"${panel.isWide === true ? ' class="wide-panel"' : ''}>
<figcaption>
<h2>${escapeHtml(panel.title)}</h2>
<p>${formatText(panel.meaning)}</p>
</figcaption>
${formatAnswer(answered, { path: '/', filters })}
<p class="links">${all}${links.join('\n')}</p>
</figure>`
}

/** The way from the first rows to the whole list. */
function formatAll({ panel, answer }: AnsweredPanel, filters: Filters): string {
  const count = answer?.rows.length ?? 0
  if (count === 0) return ''
  const address = escapeHtml(addressOf(panel.leadsTo?.path ?? `/${panel.id}`, filters))
  return `<a class="all" href="${address}">All ${count.toLocaleString('en-US')}<span class="unseen"> rows of ${escapeHtml(panel.title)}</span> →</a>\n`
}

/** Not red while it is only late. */
function formatProblem({ problem = '', isLate }: AnsweredPanel): string {
  return `<p class="${isLate === true ? 'empty' : 'problem'}">${formatText(problem)}</p>`
}

function formatEmpty(panel: Panel): string {
  return `<p class="empty">${formatText(panel.empty)}</p>`
}

function formatAnswer(answered: AnsweredPanel, place: Place): string {
  const { panel, answer } = answered
  if (answer === undefined) return formatProblem(answered)
  if (answer.rows.length === 0) return formatEmpty(panel)
  const { picture } = panel
  const rows = toObjects(answer)
  if (picture.shape === 'facts') return formatRows(panel, answer, place)
  if (picture.shape === 'list') {
    const columns =
      panel.isWide === true
        ? picture.columns
        : picture.columns.filter(({ isExtra }) => isExtra !== true).slice(0, COLUMNS_IN_HALF)
    return formatList(rows.slice(0, FIRST_ROWS), { ...place, title: panel.title, columns })
  }
  const { leadsTo } = panel
  const linkOf =
    leadsTo === undefined ? undefined : (row: PanelRow) => addressOfMark(leadsTo, row, place)
  const label = `${panel.title}: the rows are in the table below and in the CSV.`
  const draw = (width: number): string =>
    drawPicture(picture, rows, { width, unit: panel.unit, label, now: new Date(), linkOf })
  return `${formatLegend(panel, rows)}
<div class="wide">${draw(panel.isWide === true ? WHOLE : WIDE)}</div>
<div class="narrow">${draw(NARROW)}</div>
${formatRows(panel, answer, place)}`
}

/**
 * The list of the rows behind a mark of a picture; undefined for a mark that lacks a value, as that
 * of several ports: no list has its rows alone. A column that the answer lacks does not narrow.
 */
function addressOfMark(
  { path, by = {} }: NonNullable<Panel['leadsTo']>,
  row: PanelRow,
  { filters }: Place,
): string | undefined {
  const values = Object.entries(by).flatMap(([name, column]) =>
    column in row ? [[name, asText(row[column])] as const] : [],
  )
  if (values.some(([, value]) => value === '')) return undefined
  return addressOf(path, { ...filters, ...Object.fromEntries(values) })
}

function formatLegend(panel: Panel, rows: readonly PanelRow[]): string {
  const colours = [...coloursOf(panel.picture, rows)]
  if (colours.length === 0) return ''
  const items = colours.map(
    ([kind, colour]) =>
      `<li><svg viewBox="0 0 1 1" aria-hidden="true"><rect width="1" height="1" fill="${colour}"/></svg>${escapeHtml(kind)}</li>`,
  )
  return `<ul class="legend">${items.join('')}</ul>`
}

function formatRows(panel: Panel, { columns, rows }: TableAnswer, place: Place): string {
  const { title, leadsTo } = panel
  const shown = rows.slice(0, ROWS_IN_TABLE)
  const more =
    rows.length > shown.length
      ? `<p>The first ${shown.length} of ${rows.length} rows. The CSV has all.</p>`
      : ''
  const cells = toCells(shown)
  if (leadsTo !== undefined) {
    // The marks of the picture are out of the reach of the keyboard: the table has their links.
    const objects = toObjects({ columns, rows: shown, types: [] })
    for (const [at, row] of cells.entries()) {
      const address = addressOfMark(leadsTo, objects[at] ?? {}, place)
      if (address === undefined) continue
      row[0] = `<a href="${escapeHtml(address)}">${row[0] ?? ''}</a>`
    }
  }
  return `<details>
<summary>As a table<span class="unseen">: ${escapeHtml(title)}</span></summary>
${formatTable(title, columns, cells)}
${more}
</details>`
}

function formatSection({ title, columns, rows, empty }: StatusSection): string {
  const body =
    rows.length === 0
      ? `<p>${formatText(empty)}</p>`
      : formatTable(title, columns.length === 0 ? ['name', 'value'] : columns, toCells(rows))
  return `<h2>${escapeHtml(title)}</h2>\n${body}`
}
