import {
  NO_TERMINAL,
  padText,
  paint,
  widthOf,
  wrapText,
  type Terminal,
  type Tone,
} from './terminal.js'

/** A line of text, a table, or the outcome of a check. */
export type Part = string | Table | Check

export interface Check {
  readonly name: string
  readonly isOk: boolean
  readonly detail: string
}

export interface Table {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
}

/** Lines and tables below each other. Nothing in them can move the cursor of a terminal. */
export function formatParts(parts: readonly Part[], terminal: Terminal = NO_TERMINAL): string {
  const texts = parts.map((part) => {
    if (typeof part === 'string') return escapeControls(part)
    return 'rows' in part
      ? formatTable(part.columns, part.rows, terminal)
      : formatCheck(part, terminal)
  })
  return texts.join('\n')
}

/** Values as people read them: null as nothing, lists joined, objects as JSON. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.map(cellText).join(', ')
  return escapeControls(typeof value === 'string' ? value : JSON.stringify(value))
}

/**
 * Text from outside must not move the cursor, change colours, break a line or turn the direction of
 * writing. JSON's escapes, for all of the signs that do.
 */
export function escapeControls(text: string): string {
  return text.replace(
    /[\p{Cc}\u2028\u2029\p{Bidi_Control}]/gu,
    (control) =>
      SHORT_ESCAPES[control] ?? `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

export interface Column {
  readonly width: number
  readonly isRight: boolean
}

const GAP = '  '

/** Columns between the columns included. */
export function totalWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, GAP.length * Math.max(0, widths.length - 1))
}

/** One row as its lines: as many as its longest cell has. `tones` colours whole cells. */
export function layRow(
  columns: readonly Column[],
  cells: readonly (readonly string[])[],
  terminal: Terminal = NO_TERMINAL,
  tones: readonly (Tone | undefined)[] = [],
): string {
  const height = cells.reduce((most, lines) => Math.max(most, lines.length), 1)
  const lines = Array.from({ length: height }, (_, line) =>
    columns
      .map(({ width, isRight }, index) => {
        const padded = padText(cells[index]?.[line] ?? '', width, isRight)
        return paint(padded, tones[index], terminal)
      })
      .join(GAP)
      .trimEnd(),
  )
  return lines.join('\n')
}

/** Names, wrapped to the width of their columns, and a rule below them. */
export function layHead(columns: readonly Column[], names: readonly string[]): string {
  const wrapped = columns.map(({ width }, index) => wrapText(names[index] ?? '', width))
  const height = wrapped.reduce((most, lines) => Math.max(most, lines.length), 1)
  // Beside a name of several lines a short one stands on the rule.
  const cells = wrapped.map((lines) => [...Array<string>(height - lines.length).fill(''), ...lines])
  const rule = columns.map(({ width }) => ['-'.repeat(width)])
  return `${layRow(columns, cells)}\n${layRow(columns, rule)}`
}

/** A column is not made narrower than this while another is wider. */
const NARROWEST = 6

/** Takes from the widest columns what is too much. */
function fitWidths(natural: readonly number[], width: number | undefined): number[] {
  const widths = [...natural]
  if (width === undefined) return widths
  for (let over = totalWidth(widths) - width; over > 0; over -= 1) {
    const widest = widths.indexOf(Math.max(...widths))
    if (widths[widest] === undefined || widths[widest] <= NARROWEST) break
    widths[widest] -= 1
  }
  return widths
}

/**
 * Rows as a table with a header line; numbers to the right. On a terminal no wider than it: long
 * cells go on in the lines below. For tables of a few rows; answers are streamed
 * (`print-answer.ts`).
 */
export function formatTable(
  names: readonly string[],
  rows: readonly (readonly unknown[])[],
  terminal: Terminal = NO_TERMINAL,
): string {
  const head = names.map(escapeControls)
  const cells = rows.map((row) => row.map(cellText))
  const natural = head.map((name, index) =>
    cells.reduce((most, row) => Math.max(most, widthOf(row[index] ?? '')), widthOf(name)),
  )
  const widths = fitWidths(natural, terminal.width)
  const columns = widths.map((width, index) => {
    const values = rows.map((row) => row[index]).filter((value) => value !== null)
    return { width, isRight: values.length > 0 && values.every((one) => typeof one === 'number') }
  })
  const lines = cells.map((row) =>
    layRow(
      columns,
      columns.map(({ width }, index) => wrapText(row[index] ?? '', width)),
    ),
  )
  return [layHead(columns, head), ...lines].join('\n')
}

/** `ok    database  PostgreSQL 16`, or `FAIL  …`. */
function formatCheck({ name, isOk, detail }: Check, terminal: Terminal): string {
  const verdict = isOk ? paint('ok  ', 'good', terminal) : paint('FAIL', 'bad', terminal)
  return `${verdict}  ${name.padEnd(9)} ${escapeControls(detail)}`
}
