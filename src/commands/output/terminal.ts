/** Where tables are printed. Undefined: there is no limit. */
export interface Terminal {
  readonly width?: number | undefined
  readonly height?: number | undefined
  readonly isColoured?: boolean
}

/** A file, a pipe or a log: as wide and as long as it gets, in one colour. */
export const NO_TERMINAL: Terminal = {}

const NARROWEST = 20

/** Colours as Node knows them: none for NO_COLOR and for terminals that show none. */
export function terminalOf(stream: NodeJS.WriteStream): Terminal {
  if (!stream.isTTY) return NO_TERMINAL
  const { columns, rows } = stream
  return {
    width: columns > 0 ? Math.max(NARROWEST, columns) : undefined,
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
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u
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

/** The beginning of a text in no more than so many columns; `…` in place of the rest. */
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

/** Lines of no more than so many columns, broken between words where there are any. */
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

/** `text` in exactly so many columns where it is not longer. */
export function padText(text: string, width: number, isRight: boolean): string {
  const space = ' '.repeat(Math.max(0, width - widthOf(text)))
  return isRight ? space + text : text + space
}
