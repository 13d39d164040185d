import { escapeHtml } from './html.js'
import type { EvidenceTable, Journey } from '../questions/container-evidence.js'

export interface EvidencePage {
  readonly journey: Journey
  /** In the form of `Date`: UTC, to the millisecond. */
  readonly asOf: string
  readonly tables: readonly EvidenceTable[]
  /** SHA-256 of each file beside the page, by its name. */
  readonly digests: ReadonlyMap<string, string>
  readonly programVersion: string
}

/**
 * One self-contained page of HTML, without scripts, pictures or external files. In print, tables
 * break between rows and repeat their headings.
 */
export function formatEvidencePage(page: EvidencePage): string {
  const { journey, asOf, tables, digests, programVersion } = page
  const title = `Container ${journey.number ?? journey.containerId}: what was known`
  const facts: readonly (readonly [string, string | null])[] = [
    ['Container', journey.number],
    ['Bill of lading', journey.billOfLading],
    ['Shipping line', journey.shippingLine],
    ['Customer', journey.customer],
    ['Port of discharge', journey.portOfDischarge],
    ['Discharged', journey.dischargedAt === null ? null : instant(journey.dischargedAt)],
    ['Id of the container', journey.containerId],
    ['As known at', `${asOf.replace('T', ' ').replace('Z', '')} UTC`],
    ['Made by', `tracking-sync ${programVersion}`],
  ]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
<style>
${STYLE}
</style>
</head>
<body>
<h1>${escapeHtml(title)}</h1>
<dl class="facts">
${facts.map(([name, value]) => term(name, value ?? 'not known')).join('\n')}
</dl>
${tables.map(section).join('\n')}
<h2>Columns</h2>
${tables.map(columns).join('\n')}
<h2>Files beside this page</h2>
<p>Each table above is a CSV file with all of its columns. SHA256SUMS has the digest of every
file: <code>sha256sum --check SHA256SUMS</code> says whether one was changed.</p>
<table>
<thead><tr><th>file</th><th>SHA-256</th></tr></thead>
<tbody>
${[...digests].map(([name, digest]) => `<tr><td>${escapeHtml(name)}</td><td class="digest">${digest}</td></tr>`).join('\n')}
</tbody>
</table>
</body>
</html>
`
}

const STYLE = `@page { size: A4 landscape; margin: 12mm }
body { font: 13px/1.45 system-ui, sans-serif; margin: 2rem; color: #1a1a1a; background: #fff }
h1 { font-size: 1.5rem; margin: 0 0 1rem }
h2 { font-size: 1.1rem; margin: 2rem 0 .3rem; break-after: avoid }
h3 { font-size: 1rem; margin: 1rem 0 .2rem; break-after: avoid }
p { margin: 0 0 .5rem; max-width: 60rem; break-after: avoid }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: 0 }
dt { color: #555 } dd { margin: 0 }
.table { overflow-x: auto }
table { border-collapse: collapse; font-size: 12px }
thead { display: table-header-group }
tr { break-inside: avoid }
th, td { text-align: left; vertical-align: top; padding: .2rem .7rem .2rem 0 }
th { border-bottom: 1px solid #777; font-weight: 600 }
td { border-bottom: 1px solid #ddd; min-width: 3.5rem }
.number { text-align: right; font-variant-numeric: tabular-nums }
.digest { font: 10px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; min-width: 14rem }
@media print { body { margin: 0 } table { font-size: 9px } .digest { font-size: 7px } }`

function term(name: string, value: string): string {
  return `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd>`
}

function section({ name, title, note, empty, answer, shown }: EvidenceTable): string {
  const start = `<h2>${escapeHtml(title)}</h2>`
  if (answer.rows.length === 0) return `${start}\n<p>${escapeHtml(empty)}</p>`
  const places = shown.map((column) => answer.columns.indexOf(column.name))
  const classes = places.map((place, index) => {
    if (shown[index]?.name.endsWith('sha256') === true) return ' class="digest"'
    return NUMBERS.has(answer.types[place] ?? 0) ? ' class="number"' : ''
  })
  const head = shown.map(
    (column, index) => `<th${classes[index] ?? ''}>${escapeHtml(heading(column.name))}</th>`,
  )
  const rows = answer.rows.map((row) => {
    const cells = places.map(
      (place, index) =>
        `<td${classes[index] ?? ''}>${escapeHtml(cell(row[place], answer.types[place]))}</td>`,
    )
    return `<tr>${cells.join('')}</tr>`
  })
  return `${start}
<p>${escapeHtml(note)} All columns: ${escapeHtml(name)}.csv.</p>
<div class="table" tabindex="0" role="region" aria-label="${escapeHtml(title)}">
<table>
<thead><tr>${head.join('')}</tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>
</div>`
}

function columns({ title, answer, shown }: EvidenceTable): string {
  if (answer.rows.length === 0) return ''
  const terms = shown.map(({ name, meaning }) => term(heading(name), meaning))
  return `<h3>${escapeHtml(title)}</h3>\n<dl class="facts">\n${terms.join('\n')}\n</dl>`
}

function heading(name: string): string {
  return name.replaceAll('_', ' ')
}

/** Object ids of PostgreSQL's bigint, smallint, integer, double precision and numeric. */
const NUMBERS = new Set([20, 21, 23, 701, 1700])
/** Object ids of `timestamptz` and `timestamp`. */
const INSTANT = 1184
const WALL_TIME = 1114

function cell(value: unknown, type: number | undefined): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.map((one) => cell(one, undefined)).join('; ')
  if (typeof value !== 'string') return JSON.stringify(value)
  if (type === INSTANT) return instant(value)
  return type === WALL_TIME ? toMinute(value) : value
}

function instant(text: string): string {
  return `${toMinute(text)} UTC`
}

function toMinute(text: string): string {
  return text.replace(/^(\d{4,}-\d\d-\d\d \d\d:\d\d).*$/, '$1')
}
