import Table from 'cli-table3'

/** Values as people read them: null as nothing, lists joined, objects as JSON. */
function cellText(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.map(cellText).join(', ')
  return escapeControls(typeof value === 'string' ? value : JSON.stringify(value))
}

/**
 * Text from outside must not move the cursor, change colours, break a line or turn the direction of writing. JSON's escapes, for
 * all of the signs that do.
 */
export function escapeControls(text: string): string {
  return text.replace(
    /[\p{Cc}\u2028\u2029\p{Bidi_Control}]/gu,
    (control) =>
      SHORT_ESCAPES[control] ?? `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

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
  const head = columns.map(escapeControls)
  const cells = rows.map((row) => row.map(cellText))
  const rules = head.map((column, index) => {
    const longest = cells.reduce((width, row) => Math.max(width, row[index]?.length ?? 0), 0)
    return '-'.repeat(Math.max(column.length, longest))
  })
  const table = new Table({
    head,
    chars: BORDERLESS,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    colAligns: isNumeric.map((isRight) => (isRight ? 'right' : 'left')),
  })
  table.push(rules)
  for (const row of cells) table.push(row)
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
}
