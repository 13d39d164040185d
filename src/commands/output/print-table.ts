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

/**
 * Lines and tables below each other. Nothing in them can move the cursor of a terminal.
 *
 * Libraries for tables take all rows, measure them and return one text: ten thousand rows took a
 * minute, and the first came last. Here an answer is a stream: widths come from its first rows, and
 * the columns are chosen by what fits.
 */
export function formatParts(parts: readonly Part[], terminal: Terminal = NO_TERMINAL): string {
  const texts = parts.map((part) => {
    if (typeof part === 'string') return formatText(part, terminal)
    return 'rows' in part
      ? formatTable(part.columns, part.rows, terminal)
      : formatCheck(part, terminal)
  })
  return texts.join('\n')
}

/** After a space, but not within a command in backticks, which people copy. */
const AT_SPACES_BETWEEN_COMMANDS = /(?<= )(?=[^`]*(?:`[^`]*`[^`]*)*$)/

/** A sentence breaks between its words; a line that is indented stays as it is, to be copied. */
function formatText(part: string, { width }: Terminal): string {
  const text = escapeControls(part)
  if (width === undefined || text.startsWith(' ')) return text
  return wrapText(text, width, AT_SPACES_BETWEEN_COMMANDS).join('\n')
}

/** Values as people read them: null as nothing, lists joined, objects as JSON. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.map(cellText).join(', ')
  return escapeControls(typeof value === 'string' ? value : JSON.stringify(value))
}

/**
 * Text from outside must not move the cursor, change colours, break a line or turn the direction of
 * writing. Replaces all such signs by JSON's escapes.
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
  // Beside a name of several lines a short name is at the bottom, on the rule.
  const cells = wrapped.map((lines) => [...Array<string>(height - lines.length).fill(''), ...lines])
  return `${layRow(columns, cells)}\n${layRule(columns)}`
}

export function layRule(columns: readonly Column[]): string {
  return layRow(
    columns,
    columns.map(({ width }) => ['-'.repeat(width)]),
  )
}

/** A column is not made narrower than this while another is wider. */
const NARROWEST = 6

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
 * Rows as a table with a header line; numbers to the right. On a terminal the table fits its width:
 * columns of zeros are left out, and long cells continue in the lines below. For tables of a few
 * rows; answers are streamed (`print-answer.ts`).
 */
export function formatTable(
  allNames: readonly string[],
  allRows: readonly (readonly unknown[])[],
  terminal: Terminal = NO_TERMINAL,
): string {
  const { width: most = Infinity } = terminal
  const allTexts = allRows.map((row) => row.map(cellText))
  const allWidths = allNames.map((name, index) =>
    allTexts.reduce(
      (widest, row) => Math.max(widest, widthOf(row[index] ?? '')),
      widthOf(escapeControls(name)),
    ),
  )
  const hasRoom = totalWidth(allWidths) <= most || allRows.length === 0
  const isShown = (_: unknown, index: number): boolean =>
    hasRoom || allRows.some((row) => row[index] !== 0)
  const rows = allRows.map((row) => row.filter(isShown))
  const head = allNames.filter(isShown).map(escapeControls)
  const cells = allTexts.map((row) => row.filter(isShown))
  const widths = fitWidths(allWidths.filter(isShown), terminal.width)
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
  const start = `      ${name.padEnd(9)} `
  const room = (terminal.width ?? Infinity) - start.length
  const lines = wrapText(escapeControls(detail), room, AT_SPACES_BETWEEN_COMMANDS)
  return `${verdict}${start.slice(4)}${lines.join(`\n${' '.repeat(start.length)}`)}`
}

/** The terminal for tables. Undefined: unlimited. */
export interface Terminal {
  readonly width?: number | undefined
  readonly height?: number | undefined
  readonly isColoured?: boolean
}

/** A file, a pipe or a log: of any width and length, in one colour. */
export const NO_TERMINAL: Terminal = {}

const NARROWEST_TERMINAL = 20

/** Colours as Node knows them: none for NO_COLOR and for terminals that show none. */
export function terminalOf(stream: NodeJS.WriteStream): Terminal {
  if (!stream.isTTY) return NO_TERMINAL
  const { columns, rows } = stream
  return {
    width: columns > 0 ? Math.max(NARROWEST_TERMINAL, columns) : undefined,
    height: rows > 0 ? rows : undefined,
    isColoured: typeof stream.hasColors === 'function' && stream.hasColors(),
  }
}

export type Tone = 'good' | 'bad'

const CODES = { good: '\u001b[32m', bad: '\u001b[31m' } as const
const PLAIN = '\u001b[39m'

/** Green or red where the terminal shows it. */
export function paint(text: string, tone: Tone | undefined, { isColoured }: Terminal): string {
  return isColoured === true && tone !== undefined ? `${CODES[tone]}${text}${PLAIN}` : text
}

const ZERO = /[\p{M}\p{Cf}]/u
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u
const NARROW = /^[\x20-\x7e]*$/

/** Columns that a text takes on a terminal. */
export function widthOf(text: string): number {
  if (NARROW.test(text)) return text.length
  let width = 0
  for (const sign of text) width += signWidth(sign)
  return width
}

function signWidth(sign: string): number {
  if (ZERO.test(sign)) return 0
  return WIDE.test(sign) ? 2 : 1
}

/** The beginning of a text in at most so many columns; `…` in place of the rest. */
export function cutText(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  return `${takeColumns(text, width - 1)}…`
}

function takeColumns(text: string, width: number): string {
  let taken = ''
  let used = 0
  for (const sign of text) {
    used += signWidth(sign)
    if (used > width) break
    taken += sign
  }
  return taken
}

/** After a space or, in names, an underscore. */
const AT_WORDS = /(?<=[ _])/
export const AT_SPACES = /(?<= )/

/** Lines of at most so many columns, broken between words if possible. */
export function wrapText(text: string, width: number, breaks = AT_WORDS): string[] {
  if (widthOf(text) <= width) return [text]
  const lines: string[] = []
  let line = ''
  for (let piece of text.split(breaks)) {
    if (widthOf((line + piece).trimEnd()) > width) {
      if (line !== '') lines.push(line.trimEnd())
      line = ''
    }
    while (widthOf(piece.trimEnd()) > width) {
      // Take a sign that is wider than the column too, or this would never end.
      const start = takeColumns(piece, width) || String.fromCodePoint(piece.codePointAt(0) ?? 32)
      lines.push(start)
      piece = piece.slice(start.length)
    }
    line += piece
  }
  return line.trim() === '' ? lines : [...lines, line.trimEnd()]
}

/** `text` padded to so many columns; a longer text stays as it is. */
export function padText(text: string, width: number, isRight: boolean): string {
  const space = ' '.repeat(Math.max(0, width - widthOf(text)))
  return isRight ? space + text : text + space
}
