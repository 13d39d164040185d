import { escapeHtml } from '../answers/output/html.js'
import { addressOf, type Filters } from './filters.js'
import { formatLight, formatText, type Frame } from './page-frame.js'
import { asText, showAmount, toObjects } from './page-tables.js'
import type { PanelRow } from './picture-options.js'
import type { AnsweredPanel } from './read-panels.js'

/** The answers behind the figures. */
export interface FigureAnswers {
  readonly overdue: AnsweredPanel
  readonly due: AnsweredPanel
  readonly arriving: AnsweredPanel
}

interface Figure {
  readonly id: string
  readonly label: string
  /** HTML; empty where it is not known. */
  readonly value: string
  /** HTML. */
  readonly note: string
  readonly path: string
  readonly tone?: 'bad' | 'middling' | 'good'
}

/** The five figures of today, each a way to the rows behind it. */
export function formatFigures(answers: FigureAnswers, { filters, light }: Frame): string {
  const { overdue, due, arriving } = answers
  const figures = [
    ...ofOverdue(overdue),
    ofCount(due, {
      id: 'figure-due',
      label: 'Due within two days',
      path: '/due',
      tone: 'middling',
      noteOf: (row) => `${asText(row.today)} of them today`,
    }),
    ofCount(arriving, {
      id: 'figure-arriving',
      label: 'Arriving within seven days',
      path: '/arriving',
      noteOf: (row) => `${asText(row.late)} a day or more late`,
    }),
  ]
  return `<section class="figures" aria-label="Today in five figures">
${figures.map((figure) => formatFigure(figure, filters)).join('\n')}
<div class="figure" id="figure-fresh">
<p class="label"><a href="/operations">Data</a></p>
<p class="value ${TONES[light.colour]}">${escapeHtml(light.short)}</p>
${formatLight(light)}
</div>
</section>`
}

const TONES = { green: 'good', yellow: 'middling', red: 'bad' } as const

function formatFigure(figure: Figure, filters: Filters): string {
  const { id, label, value, note, path, tone } = figure
  const address = escapeHtml(addressOf(path, filters))
  return `<div class="figure" id="${id}">
<p class="label"><a href="${address}">${escapeHtml(label)}</a></p>
<p class="value${tone === undefined ? '' : ` ${tone}`}">${value}</p>
<p class="note">${note}</p>
</div>`
}

/** The containers, and their money by currency: unknown money is empty. */
function ofOverdue({ answer, problem }: AnsweredPanel): Figure[] {
  const rows = answer === undefined ? [] : toObjects(answer)
  const [all, ...currencies] = rows
  const count = asText(all?.containers)
  const paid = currencies.filter(({ cost, currency }) => cost !== null && currency !== null)
  const [first, ...others] = paid
  const rising = currencies.filter(
    ({ next_day: next, currency }) => asText(next) !== '' && currency !== null,
  )
  const isNone = count === '0'
  const late = problem === undefined ? '' : formatText(problem)
  const perDay = rising
    .map((row) => `${formatAmount(row, 'next_day', 'figure-next')} more each day`)
    .join(', ')
  const besides = others.map((row) => formatAmount(row, 'cost', 'figure-cost')).join(', ')
  const tone = isNone ? {} : { tone: 'bad' as const }
  return [
    {
      id: 'figure-overdue',
      label: 'Overdue',
      value: count === '' ? '' : formatCount(count),
      note: late === '' ? 'past their last free day' : late,
      path: '/overdue',
      ...tone,
    },
    {
      id: 'figure-cost',
      label: 'Cost so far',
      value: first === undefined ? '' : formatAmount(first, 'cost', 'figure-cost'),
      note:
        [besides === '' ? '' : `and ${besides}`, perDay]
          .filter((text) => text !== '')
          .join('<br>') || (late === '' ? (isNone ? 'nothing is overdue' : 'not known') : late),
      path: '/overdue',
      ...tone,
    },
  ]
}

interface CountFigure extends Pick<Figure, 'id' | 'label' | 'path' | 'tone'> {
  readonly noteOf: (row: PanelRow) => string
}

function ofCount({ answer, problem }: AnsweredPanel, options: CountFigure): Figure {
  const { noteOf, tone, ...figure } = options
  const [row] = answer === undefined ? [] : toObjects(answer)
  const count = asText(row?.containers)
  return {
    ...figure,
    value: count === '' ? '' : formatCount(count),
    note: row === undefined ? formatText(problem ?? '') : escapeHtml(noteOf(row)),
    ...(tone === undefined || count === '0' ? {} : { tone }),
  }
}

function formatCount(count: string): string {
  return `<data value="${escapeHtml(count)}">${Number(count).toLocaleString('en-US')}</data>`
}

/** In whole units from a hundred on: the list has the rest. */
function formatAmount(row: PanelRow, column: string, name: string): string {
  const amount = asText(row[column])
  const number = Number(amount)
  const shown = Math.abs(number) >= 100 ? String(Math.round(number)) : amount
  const currency = escapeHtml(asText(row.currency))
  return `<span class="unit">${currency}</span>&nbsp;<data class="${name}" value="${escapeHtml(amount)}">${showAmount(shown)}</data>`
}
