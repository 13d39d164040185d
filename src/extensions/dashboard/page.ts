import { escapeHtml } from '../answers/output/html.js'
import type { StatusSection } from '../../status/describe-status.js'
import type { TableAnswer } from '../answers/read-answer.js'
import type { Panel } from './panels.js'
import { coloursOf, drawPicture, type PanelRow } from './pictures.js'
import type { AnsweredPanel } from './read-panels.js'
import type { Light } from './light.js'

/** The parts of the page that do not depend on the search. */
export interface PageParts {
  readonly title: string
  readonly light: Light
  /** The alerts, a sentence each. */
  readonly alerts: readonly string[]
  /** The instant at which the panels were read, as shown. */
  readonly readAt: string
  /** Empty before the first run. */
  readonly panels: readonly AnsweredPanel[]
  /** The sections of `status`, as tables. */
  readonly sections: readonly StatusSection[]
}

/** The search and its result. */
export interface Search {
  readonly wanted: string
  /** The matching containers; the timeline shows a single one. */
  readonly found: AnsweredPanel
  readonly timeline: AnsweredPanel | undefined
}

/** Widths in CSS pixels at which each picture is drawn: the style sheet shows the one that fits. */
const WIDE = 580
const NARROW = 330

const ROWS_IN_TABLE = 60

const GROUPS = { business: 'Containers', operations: 'Operations' } as const

/** The whole dashboard, without scripts and external files. */
export function formatDashboard(parts: PageParts, search: Search | undefined): string {
  const { title, light, alerts, readAt, panels, sections } = parts
  return formatDocument(title, [
    formatLight(light),
    formatAlerts(alerts),
    ...(panels.length === 0
      ? [`<p>${formatText(START)}</p>`]
      : [formatSearch(search), formatGroup('business', panels), formatGroup('operations', panels)]),
    `<details>
<summary>Every stream, run and queue</summary>
${sections.map(formatSection).join('\n')}
</details>
<footer><p>Read at ${escapeHtml(readAt)}. <a href="/">Read again</a>.</p></footer>`,
  ])
}

const START = 'Start with `tracking-sync backfill`. Then this page shows the warehouse.'

/** Replaces the dashboard if the warehouse cannot be read. */
export function formatNotice(title: string, light: Light, advice: string): string {
  return formatDocument(title, [formatLight(light), `<p>${formatText(advice)}</p>`])
}

function formatGroup(group: Panel['group'], panels: readonly AnsweredPanel[]): string {
  const own = panels.filter(({ panel }) => panel.group === group)
  return `<section aria-labelledby="${group}">
<h2 id="${group}">${GROUPS[group]}</h2>
<div class="panels">
${own.map((answered) => formatPanel(answered)).join('\n')}
</div>
</section>`
}

function formatDocument(title: string, main: readonly string[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="/dashboard.css">
</head>
<body>
<header><h1>${escapeHtml(title)}</h1></header>
<main>
${main.join('\n')}
</main>
</body>
</html>
`
}

function formatLight({ colour, sentence }: Light): string {
  return `<p class="light ${colour}"><span aria-hidden="true"></span>${escapeHtml(sentence)}</p>`
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

function formatSearch(search: Search | undefined): string {
  const wanted = escapeHtml(search?.wanted ?? '')
  return `<section class="search" aria-labelledby="container">
<h2 id="container">One container</h2>
<form action="/" method="get">
<label for="q">Container, bill of lading or reference</label>
<input id="q" name="container" value="${wanted}" autocomplete="off" maxlength="100">
<button>Show</button>
</form>
${search === undefined ? '' : formatFound(search)}
</section>`
}

function formatFound({ wanted, found, timeline }: Search): string {
  const { answer } = found
  if (answer === undefined) return formatAnswer(found)
  const { rows } = answer
  if (rows.length === 0) {
    const quoted = escapeHtml(JSON.stringify(wanted))
    return `<p>The warehouse has no container, bill of lading or reference ${quoted}.</p>`
  }
  if (timeline === undefined) return formatList(found.panel, answer)
  const [id, ...rest] = rows[0] ?? []
  const title = rest.filter((one) => typeof one === 'string').join(', ')
  return formatPanel(timeline, `?container=${encodeURIComponent(String(id))}`, title)
}

function formatPanel(answered: AnsweredPanel, query = '', title?: string): string {
  const { panel } = answered
  const paths = ['csv', 'sql'].map((kind) => `/panels/${panel.id}.${kind}${query}`)
  const [csv = '', sql = ''] = paths
  return `<figure id="${panel.id}">
<figcaption>
<h3>${escapeHtml(title ?? panel.title)}</h3>
<p>${formatText(panel.meaning)}</p>
</figcaption>
${formatAnswer(answered)}
<p class="links"><a href="${csv}">CSV<span class="unseen"> of ${escapeHtml(panel.title)}</span></a>
<a href="${sql}">SQL<span class="unseen"> of ${escapeHtml(panel.title)}</span></a></p>
</figure>`
}

function formatAnswer({ panel, answer, problem }: AnsweredPanel): string {
  if (problem !== undefined || answer === undefined) {
    return `<p class="problem">${escapeHtml(problem ?? '')}</p>`
  }
  if (answer.rows.length === 0) return `<p class="empty">${formatText(panel.empty)}</p>`
  const { picture } = panel
  if (picture.shape === 'list') return formatList(panel, answer)
  const rows = answer.rows.map((row) => toObject(answer.columns, row))
  const label = `${panel.title}: the rows are in the table below and in the CSV.`
  const draw = (width: number): string =>
    drawPicture(picture, rows, { width, unit: panel.unit, label, now: new Date() })
  return `${formatLegend(panel, rows)}
<div class="wide">${draw(WIDE)}</div>
<div class="narrow">${draw(NARROW)}</div>
${formatRows(panel, answer)}`
}

function formatList({ title }: Panel, { columns, rows }: TableAnswer): string {
  const [, ...shown] = columns
  const cells = rows.map(([id, name, ...rest]) => [
    `<a href="/?container=${encodeURIComponent(String(id))}">${cellOf(name ?? id)}</a>`,
    ...rest.map(cellOf),
  ])
  return formatTable(title, shown, cells)
}

function toObject(columns: readonly string[], row: readonly unknown[]): PanelRow {
  return Object.fromEntries(columns.map((name, at) => [name, row[at]]))
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

function formatRows({ title }: Panel, { columns, rows }: TableAnswer): string {
  const shown = rows.slice(0, ROWS_IN_TABLE)
  const more = rows.length - shown.length
  return `<details>
<summary>As a table<span class="unseen">: ${escapeHtml(title)}</span></summary>
${formatTable(title, columns, toCells(shown))}${more > 0 ? `\n<p>and ${more} more rows, in the CSV</p>` : ''}
</details>`
}

function formatSection({ title, columns, rows, empty, note }: StatusSection): string {
  if (rows.length === 0 && empty === '') return ''
  const content =
    rows.length === 0 ? `<p>${formatText(empty)}</p>` : formatTable(title, columns, toCells(rows))
  return `<h3>${escapeHtml(title)}</h3>
${content}${note === undefined ? '' : `\n<p>${formatText(note)}</p>`}`
}

/** Cells are HTML. A table wider than the page scrolls by itself, also by keys. */
function formatTable(
  title: string,
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const head = columns
    .map((name) => `<th scope="col">${escapeHtml(name.replaceAll('_', ' '))}</th>`)
    .join('')
  const body = rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`)
  return `<div class="scrolled" tabindex="0" role="region" aria-label="${escapeHtml(title)} as a table">
<table>
<thead><tr>${head}</tr></thead>
<tbody>
${body.join('\n')}
</tbody>
</table>
</div>`
}

function toCells(rows: readonly (readonly unknown[])[]): string[][] {
  return rows.map((row) => row.map(cellOf))
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  return escapeHtml(typeof value === 'string' ? value : JSON.stringify(value))
}

/** Our own sentences: text between backticks is code. */
function formatText(sentence: string): string {
  return escapeHtml(sentence).replace(/`([^`]+)`/g, '<code>$1</code>')
}
