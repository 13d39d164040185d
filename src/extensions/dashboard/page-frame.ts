import { escapeHtml } from '../answers/output/html.js'
import { addressOf, FILTER_NAMES, type Filters } from './filters.js'
import type { Light } from './light.js'
import type { AnsweredPanel } from './read-panels.js'

/** The parts around the contents of each page. */
export interface Frame {
  /** The name of the account, or a plain title. */
  readonly title: string
  readonly hasLogo: boolean
  /** Before the title in the tab of the browser. */
  readonly name?: string
  readonly path: string
  readonly light: Light
  readonly filters: Filters
  /** The values that the filters offer; without them the page cannot be narrowed. */
  readonly choices?: AnsweredPanel
  readonly sought?: string
}

const PAGES = [
  ['/', 'Overview'],
  ['/overdue', 'Overdue'],
  ['/due', 'Last free days'],
  ['/pickups', 'Pickups'],
  ['/arriving', 'Arriving'],
  ['/attention', 'Attention'],
  ['/operations', 'Operations'],
] as const

/** A whole page with these contents, HTML each. */
export function formatFrame(frame: Frame, main: readonly string[]): string {
  const { title, name, path, light, filters } = frame
  const links = PAGES.map(([address, text]) => {
    const here = address === path ? ' aria-current="page"' : ''
    return `<a href="${escapeHtml(addressOf(address, filters))}"${here}>${text}</a>`
  })
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(name === undefined ? title : `${name} · ${title}`)}</title>
<link rel="icon" href="/logo.svg">
<link rel="stylesheet" href="/dashboard.css">
<script src="/dashboard.js" defer></script>
<noscript><meta http-equiv="refresh" content="300"></noscript>
</head>
<body>
<header class="top">
<div class="bar">
<p class="brand"><a href="/">${frame.hasLogo ? '<img src="/logo.svg" alt="">' : ''}${escapeHtml(title)}</a></p>
${formatSearch(frame.sought)}
<p class="chip ${light.colour}"><a href="/operations"><span class="dot" aria-hidden="true"></span>${escapeHtml(light.short)}</a></p>
</div>
<nav aria-label="Pages">${links.join('\n')}</nav>
</header>
<main>
${main.join('\n')}
</main>
</body>
</html>
`
}

export function formatSearch(sought = '', id = 'q'): string {
  return `<form class="search" action="/containers" method="get" role="search">
<label class="unseen" for="${id}">Container, bill of lading or reference</label>
<input id="${id}" name="find" type="search" value="${escapeHtml(sought)}" autocomplete="off"
maxlength="100" placeholder="Container, bill of lading, reference">
<button>Find</button>
</form>`
}

const FILTER_TITLES = {
  customer: 'customers',
  line: 'lines',
  terminal: 'terminals',
  port: 'ports',
} as const

/** A form of lists: its values stay in the address, and `more` goes with them. */
export function formatFilters({ choices, filters, path }: Frame): string {
  if (choices === undefined) return ''
  const rows = choices.answer?.rows.map((row) => row.map(String)) ?? []
  const selects = FILTER_NAMES.map((name) => {
    const chosen = filters[name]
    const offered = rows.flatMap(([filter, value = '', text = '']) =>
      filter === name ? [{ value, text }] : [],
    )
    const isOffered = offered.some(({ value }) => value === chosen)
    if (chosen !== undefined && !isOffered) offered.unshift({ value: chosen, text: chosen })
    const options = offered.map(({ value, text }) => {
      const selected = value === chosen ? ' selected' : ''
      return `<option value="${escapeHtml(value)}"${selected}>${escapeHtml(text)}</option>`
    })
    return `<label><span class="unseen">${name}</span><select name="${name}"${chosen === undefined ? '' : ' class="chosen"'}>
<option value="">All ${FILTER_TITLES[name]}</option>
${options.join('\n')}
</select></label>`
  })
  const isNarrowed = FILTER_NAMES.some((name) => filters[name] !== undefined)
  const clear = isNarrowed ? `<a href="${path}">Show all</a>` : ''
  return `<form class="filters" action="${path}" method="get" aria-label="Filters">
${selects.join('\n')}
<button>Apply</button>
${clear}
</form>`
}

export function formatLight({ colour, sentence }: Light): string {
  return `<p class="light ${colour}"><span class="dot" aria-hidden="true"></span>${escapeHtml(sentence)}</p>`
}

/** Our own sentences: text between backticks is code. */
export function formatText(sentence: string): string {
  return escapeHtml(sentence).replace(/`([^`]+)`/g, '<code>$1</code>')
}
