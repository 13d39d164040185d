/**
 * The table and the chart of docs/performance.md, from the figures that runs of the benches kept
 * (`npm run bench -- B3 --size full --keep`) and the targets of bench/figures.js.
 */
const BEGIN = '<!-- The table is made by `npm run docs` from bench/kept-figures.json. -->'
const END = '<!-- End of the table. -->'

/** The page with a new table between its marks. */
export function withTable(page, targets, kept) {
  const [before, rest] = page.split(BEGIN)
  const after = rest?.split(END)[1]
  if (after === undefined) throw new Error(`docs/performance.md: no "${BEGIN}" … "${END}"`)
  return [before, BEGIN, '\n\n', performanceTable(targets, kept), '\n\n', END, after].join('')
}

export function performanceTable(targets, kept) {
  const rows = readRows(targets, kept).map(({ name, what, reach, then, measured, said, on }) =>
    [name, what, reach, then, measured, said, on].join(' | '),
  )
  const head = ['', 'figure', 'to reach', 'then', 'measured', 'how', 'on'].join(' | ')
  return [head, '--- | --- | --- | --- | --- | --- | ---', ...rows]
    .map((row) => `| ${row} |`)
    .join('\n')
}

function readRows(targets, kept) {
  return Object.entries(targets).map(([id, target]) => {
    const { value, said, on } = kept[id] ?? {}
    const { what, reach, then, isMoreBetter = false } = target
    const sign = isMoreBetter ? '≥' : '≤'
    const isReached = isMoreBetter ? value >= reach : value <= reach
    const shown = value === undefined ? 'not yet' : withUnit(target, value)
    return {
      id,
      target,
      value,
      isReached,
      name: id.split(' ')[0],
      what,
      reach: `${sign} ${withUnit(target, reach)}`,
      then: `${sign} ${withUnit(target, then)}`,
      measured: value === undefined || isReached ? shown : `**${shown}**`,
      said: said ?? '',
      on: on ?? '',
    }
  })
}

function withUnit({ unit = '' }, value) {
  const number = value.toLocaleString('en-US')
  return unit === '/s' ? `${number}${unit}` : `${number} ${unit}`.trim()
}

const ROW = 22
const LEFT = 430
const WIDTH = 1000
const RIGHT = 120
/** A figure ten times its target, or a tenth of it, ends the axis. */
const MOST_TIMES = 10
const REACHED = '#0072b2'
const MISSED = '#d55e00'

/** How far each figure is from its target, to the right of the line beyond it: an SVG document. */
export function performanceChart(targets, kept) {
  const rows = readRows(targets, kept).filter(({ value }) => value !== undefined)
  const middle = LEFT + (WIDTH - LEFT - RIGHT) / 2
  const reach = (WIDTH - LEFT - RIGHT) / 2
  const height = ROW * (rows.length + 2)
  const bars = rows.flatMap(({ id, target, value, isReached, measured }, at) => {
    const times = target.isMoreBetter ? target.reach / value : value / target.reach
    // A target of 0 that is reached has no quotient.
    const share = clamp(Math.log(Number.isNaN(times) ? 1 : times) / Math.log(MOST_TIMES))
    const [from, to] = [middle, middle + share * reach].toSorted((one, two) => one - two)
    const y = ROW * (at + 1)
    const color = isReached ? REACHED : MISSED
    const text = measured.replaceAll('*', '')
    return [
      `<text x="${LEFT - 8}" y="${y + 15}" text-anchor="end">${escapeXml(`${id.split(' ')[0]} ${target.what}`)}</text>`,
      `<rect x="${from.toFixed(1)}" y="${y + 4}" width="${Math.max(2, to - from).toFixed(1)}" height="${ROW - 8}" fill="${color}"/>`,
      `<text x="${WIDTH - RIGHT + 8}" y="${y + 15}" fill="${color}">${escapeXml(text)}</text>`,
    ]
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">`,
    '<title>Each figure beside its target, on a logarithmic axis</title>',
    `<rect width="${WIDTH}" height="${height}" fill="white"/>`,
    `<text x="${middle - 8}" y="16" text-anchor="end" fill="${REACHED}">better than its target</text>`,
    `<text x="${middle + 8}" y="16" fill="${MISSED}">not reached</text>`,
    ...[2, 5, 10].flatMap((times) => {
      const x = middle + clamp(Math.log(times) / Math.log(MOST_TIMES)) * reach
      return [
        `<line x1="${x}" y1="${ROW}" x2="${x}" y2="${height - ROW}" stroke="#ddd"/>`,
        `<text x="${x}" y="${height - 8}" text-anchor="middle" fill="#333">${times} ×</text>`,
      ]
    }),
    ...bars,
    `<line x1="${middle}" y1="${ROW}" x2="${middle}" y2="${height - ROW / 2}" stroke="#333"/>`,
    '</svg>',
    '',
  ].join('\n')
}

function clamp(share) {
  return Math.max(-1, Math.min(1, share))
}

function escapeXml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
