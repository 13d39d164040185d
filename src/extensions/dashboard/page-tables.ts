import { escapeHtml } from '../answers/output/html.js'
import type { TableAnswer } from '../answers/read-answer.js'
import { addressOf, type FilterName, type Filters } from './filters.js'
import type { Cell, ListColumn } from './panels/panels.js'
import type { PanelRow } from './picture-options.js'

/** Where a table is shown, for the links of its cells. */
export interface Place {
  readonly path: string
  readonly filters: Filters
}

/** The order of a table: the name of a column, with `-` before it for the greatest first. */
export type Order = string | undefined

export function toObjects({ columns, rows }: TableAnswer): PanelRow[] {
  return rows.map((row) => Object.fromEntries(columns.map((name, at) => [name, row[at]])))
}

/** The rows in this order; empty values come last in both directions. */
export function inOrder(answer: TableAnswer, order: Order): TableAnswer {
  const name = order?.replace(/^-/, '') ?? ''
  const at = answer.columns.indexOf(name)
  if (at < 0) return answer
  const sign = order?.startsWith('-') === true ? -1 : 1
  const rows = [...answer.rows].sort((one, other) => {
    const [a, b] = [one[at] ?? null, other[at] ?? null]
    if (a === null || b === null) return Number(a === null) - Number(b === null)
    return sign * compare(asText(a), asText(b))
  })
  return { ...answer, rows }
}

function compare(a: string, b: string): number {
  const [x, y] = [Number(a), Number(b)]
  return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y
}

export interface ListOptions extends Place {
  readonly title: string
  readonly columns: readonly ListColumn[]
  /** The headings are links that sort; absent: they are not. */
  readonly order?: Order
  readonly isSortable?: boolean
}

export function formatList(rows: readonly PanelRow[], options: ListOptions): string {
  const { title, columns } = options
  const head = columns.map((column) => formatHeading(column, options))
  const body = rows.map((row) => {
    const cells = columns.map((column) => {
      const html = formatCell(row, column, options)
      const hint = column.cell === 'sentence' ? ` title="${html}"` : ''
      return `<td${classOf(column)}${hint}>${html}</td>`
    })
    return `<tr>${cells.join('')}</tr>`
  })
  return `<div class="scrolled" tabindex="0" role="region" aria-label="${escapeHtml(title)} as a table">
<table class="list">
<thead><tr>${head.join('')}</tr></thead>
<tbody>
${body.join('\n')}
</tbody>
</table>
</div>`
}

const CLASSES: Readonly<Partial<Record<Cell, string>>> = { money: 'right', sentence: 'sentence' }

function classOf({ cell, isExtra }: ListColumn): string {
  const names = [CLASSES[cell] ?? [], isExtra === true ? 'extra' : []].flat()
  return names.length === 0 ? '' : ` class="${names.join(' ')}"`
}

function formatHeading(column: ListColumn, options: ListOptions): string {
  const { name, title } = column
  const { order, path, filters } = options
  const text = escapeHtml(title)
  if (options.isSortable !== true) return `<th scope="col"${classOf(column)}>${text}</th>`
  const isUp = order === name
  const isDown = order === `-${name}`
  const next = isDown ? name : isUp ? `-${name}` : column.cell === 'money' ? `-${name}` : name
  const sorted = isUp ? ' aria-sort="ascending"' : isDown ? ' aria-sort="descending"' : ''
  const address = addressOf(path, { ...filters, sort: next })
  const arrow = isUp ? ' ↑' : isDown ? ' ↓' : ''
  return `<th scope="col"${sorted}${classOf(column)}><a href="${escapeHtml(address)}">${text}${arrow}</a></th>`
}

const NARROWING: ReadonlySet<string> = new Set(['customer', 'line', 'terminal', 'port'])

function formatCell(row: PanelRow, { name, cell, also = '' }: ListColumn, place: Place): string {
  const value = row[name]
  const text = asText(value)
  if (cell === 'container') return formatContainer(text, asText(row.container_id))
  if (cell === 'days-left') return formatDaysLeft(value)
  if (text === '') return ''
  if (cell === 'money') return formatMoney(text, asText(row[also]))
  if (cell === 'day') return formatDay(text)
  if (cell === 'severity') {
    return `<span class="badge ${SEVERITY[text] ?? ''}">${escapeHtml(text)}</span>`
  }
  if (cell === 'state') return escapeHtml(text.replaceAll('_', ' '))
  const wanted = asText(row[also])
  if (!NARROWING.has(cell) || wanted === '' || place.filters[cell as FilterName] === wanted) {
    return escapeHtml(text)
  }
  const address = addressOf(place.path, { ...place.filters, [cell]: wanted })
  return `<a class="narrows" href="${escapeHtml(address)}">${escapeHtml(text)}</a>`
}

/** By number, which people read; the id says which journey of the number is meant. */
export function addressOfContainer(number: string, id: string): string {
  const path = `/containers/${encodeURIComponent(number === '' ? id : number)}`
  return addressOf(path, { id: number === '' ? undefined : id })
}

function formatContainer(number: string, id: string): string {
  const shown = escapeHtml(number === '' ? id : number)
  return `<a class="number" href="${escapeHtml(addressOfContainer(number, id))}">${shown}</a>`
}

const SEVERITY: Readonly<Record<string, string>> = { high: 'bad', medium: 'middling', low: 'calm' }

/** A colour and words with the same meaning. */
export function describeDaysLeft(left: number): { readonly tone: string; readonly words: string } {
  if (left < 0) return { tone: 'bad', words: `${-left} ${left === -1 ? 'day' : 'days'} over` }
  if (left === 0) return { tone: 'middling', words: 'due today' }
  const words = left === 1 ? 'due tomorrow' : `${left} days left`
  return { tone: left <= 2 ? 'middling' : 'calm', words }
}

function formatDaysLeft(value: unknown): string {
  if (value === null || value === undefined) return '<span class="quiet">no day told</span>'
  const { tone, words } = describeDaysLeft(Number(value))
  return `<span class="badge ${tone}">${words}</span>`
}

/** With the digits that it has: an amount of a tariff may have none after the point. */
export function formatMoney(amount: string, currency: string): string {
  const unit = currency === '' ? '' : `<span class="unit">${escapeHtml(currency)}</span> `
  return `${unit}<data value="${escapeHtml(amount)}">${showAmount(amount)}</data>`
}

export function showAmount(amount: string): string {
  const number = Number(amount)
  const digits = Number.isInteger(number) ? 0 : 2
  return number.toLocaleString('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
}

/** Of a day or a wall time: `Sat 28 Nov`, with the year where it is another. */
export function showDay(text: string): string {
  const date = new Date(`${text.slice(0, 10)}T00:00:00Z`)
  if (Number.isNaN(date.getTime())) return text
  const isThisYear = date.getUTCFullYear() === new Date().getUTCFullYear()
  const part = (options: Intl.DateTimeFormatOptions): string =>
    date.toLocaleDateString('en-GB', { timeZone: 'UTC', ...options })
  const day = `${part({ weekday: 'short' })} ${part({ day: 'numeric' })} ${part({ month: 'short' })}`
  return isThisYear ? day : `${day} ${date.getUTCFullYear()}`
}

function formatDay(text: string): string {
  return `<time datetime="${escapeHtml(text.slice(0, 10))}">${escapeHtml(showDay(text))}</time>`
}

export function formatTable(
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

export function toCells(rows: readonly (readonly unknown[])[]): string[][] {
  return rows.map((row) => row.map((value) => escapeHtml(asText(value))))
}

/** Empty for null. */
export function asText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}
