import Table from 'cli-table3'

/** Values as people read them: null as nothing, lists joined, objects as JSON. */
function cellText(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.map(cellText).join(', ')
  return escapeControls(typeof value === 'string' ? value : JSON.stringify(value))
}

/** Text from outside must not move the cursor or change colours. */
function escapeControls(text: string): string {
  return text.replace(/\p{Cc}/gu, (control) => JSON.stringify(control).slice(1, -1))
}

const BORDERLESS = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
} as const

/** Rows as a plain table with a header line; numbers to the right. No colour: it must read the same in a log. */
export function formatTable(
  columns: readonly string[],
  rows: readonly (readonly unknown[])[],
): string {
  const isNumeric = columns.map((_, index) => {
    const values = rows.map((row) => row[index]).filter((value) => value !== null)
    return values.length > 0 && values.every((value) => typeof value === 'number')
  })
  const cells = rows.map((row) => row.map(cellText))
  const rules = columns.map((column, index) => {
    const widths = cells.map((row) => row[index]?.length ?? 0)
    return '-'.repeat(Math.max(column.length, ...widths))
  })
  const table = new Table({
    head: [...columns],
    chars: BORDERLESS,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    colAligns: isNumeric.map((isRight) => (isRight ? 'right' : 'left')),
  })
  table.push(rules, ...cells)
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
}
