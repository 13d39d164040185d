import { escapeHtml } from '../answers/output/html.js'
import { formatFrame, formatSearch, formatText, type Frame } from './page-frame.js'
import { formatPanel } from './page.js'
import {
  addressOfContainer,
  asText,
  describeDaysLeft,
  formatMoney,
  formatTable,
  showDay,
  toObjects,
} from './page-tables.js'
import type { PanelRow } from './picture-options.js'
import type { AnsweredPanel } from './read-panels.js'
import { stationsOf, type Station } from './stations.js'

export interface ContainerParts {
  readonly id: string
  readonly journey: AnsweredPanel
  readonly stops: AnsweredPanel
  readonly journeys: AnsweredPanel
  readonly stays: AnsweredPanel
  readonly costs: AnsweredPanel
  readonly matters: AnsweredPanel
  readonly evidence: AnsweredPanel
  readonly moves: AnsweredPanel
  readonly timeline: AnsweredPanel
  /** Its page at the service. */
  readonly page: string | undefined
  readonly readAt: string
}

/** One container on one page, and on one sheet. */
export function formatContainerPage(frame: Frame, parts: ContainerParts): string {
  const { id, journey, stops, matters, evidence, moves, timeline, readAt } = parts
  const [row] = rowsOf(journey)
  const query = `?container=${encodeURIComponent(id)}`
  if (row === undefined) {
    return formatFrame(frame, [
      `<h1>${escapeHtml(frame.name ?? '')}</h1>`,
      `<p class="problem">${escapeHtml(journey.problem ?? 'Nothing is known of it yet.')}</p>`,
    ])
  }
  const stations = stationsOf(row, rowsOf(stops))
  return formatFrame(frame, [
    `<article class="container">`,
    formatTitle(row, parts),
    formatMatters(matters),
    formatFacts(row, parts),
    `<section aria-labelledby="stations"><h2 id="stations">Journey</h2>
<ol class="stations" tabindex="0" aria-label="Journey">
${stations.map((station, index) => formatStation(station, row, stations[index + 1])).join('\n')}
</ol></section>`,
    `<div class="panels">
${formatPanel(moves, frame, query)}
${formatPanel(evidence, frame, query)}
</div>`,
    formatCosts(parts.costs),
    formatTimeline(timeline, query),
    `</article>
<footer><p>Read at ${escapeHtml(readAt)}. Times are wall times at the place.</p></footer>`,
  ])
}

/** The page for a number that nobody tracks. */
export function formatUnknown(frame: Frame, wanted: string): string {
  return formatFrame(frame, [
    `<h1>Not found</h1>`,
    `<p>The warehouse has no container ${escapeHtml(JSON.stringify(wanted))}.</p>`,
    formatSearch(wanted, 'q2'),
  ])
}

function rowsOf({ answer }: AnsweredPanel): PanelRow[] {
  return answer === undefined ? [] : toObjects(answer)
}

function formatTitle(row: PanelRow, { journeys, id, page }: ContainerParts): string {
  const size = [asText(row.equipment_length), asText(row.equipment_type)]
  const quiet = [
    asText(row.line),
    asText(row.bill_of_lading_number) && `B/L ${asText(row.bill_of_lading_number)}`,
    size[0] === '' ? size[1] : `${size[0] ?? ''} ft ${size[1] ?? ''}`,
    asText(row.customer_name),
    asText(row.ref_numbers_text),
  ].filter((text) => text !== undefined && text.trim() !== '')
  const others = rowsOf(journeys).filter((other) => other.container_id !== id)
  const links = others.map((other) => {
    const address = addressOfContainer(asText(other.number), asText(other.container_id))
    const where = [other.origin, other.port].map(asText).filter((text) => text !== '')
    const day = asText(other.arrives_on)
    const text = `${where.join(' → ')}${day === '' ? '' : `, ${showDay(day)}`}` || 'another journey'
    return `<a href="${escapeHtml(address)}">${escapeHtml(text)}</a>`
  })
  const also =
    links.length === 0
      ? ''
      : `<p class="also">Other journeys of this number: ${links.join(' · ')}</p>`
  const status = asText(row.current_status).replaceAll('_', ' ')
  const badge = status === '' ? '' : ` <span class="badge calm">${escapeHtml(status)}</span>`
  return `<div class="title"><h1>${escapeHtml(asText(row.container_number) || id)}${badge}</h1></div>
<p class="quiet">${[...quiet.map((text) => escapeHtml(text ?? '')), ...formatLink(page)].join(' · ')}</p>
${also}`
}

function formatLink(page: string | undefined): string[] {
  return page === undefined
    ? []
    : [`<a class="service" href="${escapeHtml(page)}" rel="noreferrer">at the service</a>`]
}

function formatMatters(matters: AnsweredPanel): string {
  const rows = rowsOf(matters)
  if (matters.problem !== undefined) return `<p class="quiet">${escapeHtml(matters.problem)}</p>`
  if (rows.length === 0) return ''
  const tones: Readonly<Record<string, string>> = { high: 'bad', medium: 'middling' }
  const items = rows.map(
    (row) =>
      `<li><span class="badge ${tones[asText(row.severity)] ?? 'calm'}">${escapeHtml(asText(row.severity))}</span> ${escapeHtml(asText(row.sentence))}</li>`,
  )
  return `<ul class="matters" aria-label="Needs attention">
${items.join('\n')}
</ul>`
}

interface Fact {
  readonly term: string
  /** HTML; a dash where it is not known. */
  readonly value: string
  readonly note?: string
}

function formatFacts(row: PanelRow, parts: ContainerParts): string {
  const facts = [
    {
      term: 'From → to',
      value: escapeHtml([row.origin, row.port].map(asText).filter(Boolean).join(' → ')),
      note: escapeHtml(
        asText(row.ramp) === '' && asText(row.destination) === ''
          ? asText(row.terminal)
          : `then ${asText(row.ramp) || asText(row.destination)}`,
      ),
    },
    {
      term: 'Ship',
      value: escapeHtml(asText(row.vessel)),
      note: asText(row.voyage) === '' ? '' : `voyage ${escapeHtml(asText(row.voyage))}`,
    },
    arrivalOf(row),
    lastFreeDayOf(parts.stays),
    ...returnOf(parts.costs),
    holdsOf(parts.evidence),
    ...costsOf(parts.costs),
  ]
  return `<dl class="facts">
${facts.map(formatFact).join('\n')}
</dl>`
}

function formatFact({ term, value, note = '' }: Fact): string {
  const shown = value === '' ? '<span class="quiet">not known</span>' : value
  return `<div><dt>${term}</dt><dd>${shown}${note === '' ? '' : `<small>${note}</small>`}</dd></div>`
}

const DAY_MS = 86_400_000

function arrivalOf(row: PanelRow): Fact {
  const [arrived, expected, first] = ['pod_arrived_at', 'pod_eta_at', 'pod_original_eta_at'].map(
    (column) => asText(row[column]),
  )
  const hasArrived = arrived !== ''
  const local = asText(hasArrived ? row.pod_arrived_local : row.pod_eta_local)
  const at = Date.parse((hasArrived ? arrived : expected) ?? '')
  const days = Math.round((at - Date.parse(first ?? '')) / DAY_MS)
  const moved =
    Number.isNaN(days) || first === ''
      ? ''
      : days === 0
        ? 'on the day first told'
        : `${Math.abs(days)} ${Math.abs(days) === 1 ? 'day' : 'days'} ${days > 0 ? 'later' : 'earlier'} than first told`
  return {
    term: hasArrived ? 'Arrived' : 'ETA',
    value: local === '' ? '' : formatLocal(local),
    note: moved,
  }
}

function lastFreeDayOf(stays: AnsweredPanel): Fact {
  const rows = rowsOf(stays)
  const stay = rows.find((row) => asText(row.binding_on) !== '')
  const term = 'Last free day'
  if (stays.problem !== undefined) return { term, value: '', note: escapeHtml(stays.problem) }
  if (stay === undefined) return { term, value: '' }
  const left = asText(stay.days_left)
  const over = Number(asText(stay.days_over) || 0)
  const isOut = ['out_in_time', 'out_late'].includes(asText(stay.state))
  const { tone, words } = describeDaysLeft(Number(left))
  const badge = left === '' ? '' : ` <span class="badge ${tone}">${words}</span>`
  const ended = isOut ? (over > 0 ? `, out ${over} days late` : ', out in time') : ''
  return {
    term,
    value: `${escapeHtml(showDay(asText(stay.binding_on)))}${badge}`,
    note: escapeHtml(
      `told by ${wordsOf(asText(stay.binding_source))}, at the ${asText(stay.place)}${ended}`,
    ),
  }
}

/** The day by which the empty must be back, while it is out and a rule says one. */
function returnOf(costs: AnsweredPanel): Fact[] {
  const out = rowsOf(costs).find(
    ({ place, days_left: left }) => place === 'out' && asText(left) !== '',
  )
  if (out === undefined) return []
  const { tone, words } = describeDaysLeft(Number(asText(out.days_left)))
  return [
    {
      term: 'Empty back by',
      value: `${escapeHtml(showDay(asText(out.last_free_on)))} <span class="badge ${tone}">${words}</span>`,
      note: escapeHtml(asText(out.rule_name)),
    },
  ]
}

/** The source of a last free day, in words. */
function wordsOf(source: string): string {
  const words: Readonly<Record<string, string>> = {
    terminal: 'the terminal',
    line: 'the line',
    rail: 'the railway',
    service: 'the service',
    rule: 'your rule',
  }
  return words[source] ?? source
}

function holdsOf(evidence: AnsweredPanel): Fact {
  const open = rowsOf(evidence).filter(({ kind, is_open }) => kind === 'hold' && is_open === true)
  const names = [...new Set(open.map((row) => asText(row.name).replace(/^hold: /, '')))]
  if (evidence.problem !== undefined) {
    return { term: 'Holds', value: '', note: escapeHtml(evidence.problem) }
  }
  return {
    term: 'Holds',
    value:
      names.length === 0
        ? 'none'
        : `<span class="badge bad">${escapeHtml(names.join(', '))}</span>`,
    note: escapeHtml([...new Set(open.map((row) => asText(row.value)))].slice(0, 2).join('; ')),
  }
}

/** By currency; an amount that nobody knows is empty. */
function costsOf(costs: AnsweredPanel): Fact[] {
  const rows = rowsOf(costs)
  if (costs.problem !== undefined) {
    return [{ term: 'Cost so far', value: '', note: escapeHtml(costs.problem) }]
  }
  if (rows.length === 0) return [{ term: 'Cost so far', value: 'none' }]
  const sumOf = (column: string): string =>
    [...new Set(rows.map(({ currency_code: currency }) => asText(currency)))]
      .flatMap((currency) => {
        const amounts = rows
          .filter((row) => asText(row.currency_code) === currency)
          .map((row) => asText(row[column]))
          .filter((text) => text !== '')
        const sum = amounts.reduce((total, text) => total + Number(text), 0)
        return amounts.length === 0 ? [] : [formatMoney(sum.toFixed(2), currency)]
      })
      .join(' + ')
  const tomorrow = sumOf('next_day_amount')
  return [
    {
      term: 'Cost so far',
      value: sumOf('cost_amount'),
      note: tomorrow === '' ? 'one more day: not known' : `${tomorrow} more tomorrow`,
    },
  ]
}

function formatLocal(local: string): string {
  return `${escapeHtml(showDay(local))} <span class="clock">${escapeHtml(local.slice(11, 16))}</span>`
}

function formatStation(station: Station, row: PanelRow, next: Station | undefined): string {
  const { role, place, state, milestones, isLeft } = station
  const words = { done: 'done', now: 'here now', expected: 'expected' } as const
  const isUnderWay = isLeft && next?.state === 'expected'
  const items = milestones.map(
    ({ text, at, isExpected }) =>
      `<li${isExpected === true ? ' class="expected"' : ''}><span>${text}</span> <time>${formatLocal(at)}</time></li>`,
  )
  const ship = role === 'Port of lading' ? asText(row.vessel) : ''
  const way = isUnderWay
    ? `<p class="way">under way${ship === '' ? '' : ` on ${escapeHtml(ship)}`}</p>`
    : ''
  return `<li class="station ${state}${isUnderWay ? ' under-way' : ''}">
<p class="role">${role} <span class="state">${words[state]}</span></p>
<h3>${escapeHtml(place)}</h3>
<ul>${items.join('\n')}</ul>
${way}</li>`
}

function formatCosts(costs: AnsweredPanel): string {
  const rows = rowsOf(costs)
  if (rows.length === 0) return ''
  const cells = rows.map((row) => {
    const currency = asText(row.currency_code)
    const money = (column: string): string => {
      const amount = asText(row[column])
      return amount === '' ? '' : formatMoney(amount, currency)
    }
    const over = asText(row.days_over)
    return [
      escapeHtml(asText(row.charge)),
      escapeHtml(asText(row.place)),
      escapeHtml(asText(row.state).replaceAll('_', ' ')),
      over === '' || over === '0' ? '' : `${over} days over`,
      money('cost_amount'),
      money('next_day_amount'),
      escapeHtml(asText(row.rule_name) || asText(row.source)),
    ]
  })
  const columns = ['Charge', 'Place', 'State', 'Over', 'So far', 'A day more', 'By']
  return `<section class="card" aria-labelledby="costs"><h2 id="costs">Costs</h2>
${formatTable('Costs', columns, cells)}
</section>`
}

function formatTimeline(timeline: AnsweredPanel, query: string): string {
  const { panel, problem } = timeline
  const rows = rowsOf(timeline)
  const cells = rows.map((row) => [
    formatLocal(asText(row.occurred_local) || asText(row.occurred_at)),
    ...[row.kind, row.what, row.place, row.told_by].map((value) => escapeHtml(asText(value))),
  ])
  const columns = ['When, local', 'Kind', 'Event', 'Place', 'Told by']
  const body =
    problem !== undefined
      ? `<p class="problem">${escapeHtml(problem)}</p>`
      : rows.length === 0
        ? `<p class="empty">${formatText(panel.empty)}</p>`
        : `<details><summary>${escapeHtml(panel.title)}: ${rows.length} rows</summary>
${formatTable(panel.title, columns, cells)}
</details>`
  return `<figure id="${panel.id}"><figcaption><h2>Evidence</h2>
<p>${formatText(panel.meaning)}</p></figcaption>
${body}
<p class="links"><a href="/panels/timeline.csv${query}">Events as CSV</a>
<a href="/panels/evidence.csv${query}">Holds, fees and last free days as CSV</a></p>
</figure>`
}
