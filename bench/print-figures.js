import { formatTable } from '../dist/commands/output/print-table.js'

const COLUMNS = ['', 'figure', 'measured', 'reach', 'then', '', 'beside it', 'ratio', 'min…max']

/** Figures as a table, with what a reader must know of each below it. */
export function formatFigures(figures) {
  const rows = figures.map((figure) => [
    figure.id.split(' ')[0],
    figure.what,
    withUnit(figure, figure.value),
    bound(figure, figure.reach),
    bound(figure, figure.then),
    figure.isReached ? 'reached' : 'not',
    figure.beside === undefined ? '' : `${figure.beside.what} ${figure.beside.value}`,
    figure.ratio ?? '',
    spread(figure),
  ])
  const notes = figures.flatMap(({ id, note }) => (note === undefined ? [] : [`${id}: ${note}`]))
  return [formatTable(COLUMNS, rows), '', ...notes].join('\n')
}

export function formatMachine(machine, size) {
  if (machine === undefined) return 'nothing was measured'
  const { cores, processor, memoryGiB, node, postgresql, load } = machine
  return `size ${size}; ${cores} cores (${processor}), ${memoryGiB} GiB, Node ${node}, PostgreSQL ${postgresql}, load ${load} at the end`
}

function withUnit({ unit = '' }, value) {
  return unit === '×' || unit === '/s' || unit === '' ? `${value}${unit}` : `${value} ${unit}`
}

function bound({ isMoreBetter, ...figure }, value) {
  return `${isMoreBetter ? '≥' : '≤'} ${withUnit(figure, value)}`
}

function spread({ spread: of }) {
  return of === undefined ? '' : `${of.min}…${of.max} of ${of.runs}`
}
