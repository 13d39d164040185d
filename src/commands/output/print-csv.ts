export interface CsvOptions {
  /**
   * Put `'` before texts that a spreadsheet would take for a formula. The file is then for
   * spreadsheets only.
   */
  readonly isSpreadsheetSafe?: boolean
  /**
   * As Excel and its kin read a file: instants as UTC without an offset, lists joined, formulas
   * disarmed, and a byte order mark, by which they know UTF-8.
   */
  readonly isForExcel?: boolean
}

/**
 * Comma-separated values as RFC 4180 has them, with a header line and every line ended alike; null
 * is an empty field, an empty text is `""`.
 */
export function formatCsv(
  columns: readonly string[],
  rows: readonly (readonly unknown[])[],
  options: CsvOptions = {},
  types: readonly number[] = [],
): string {
  const mark = options.isForExcel === true ? '\ufeff' : ''
  return mark + formatCsvLines([columns], options) + formatCsvLines(rows, options, types)
}

/** Lines without a header, for an answer that is written in pieces. */
export function formatCsvLines(
  rows: readonly (readonly unknown[])[],
  { isSpreadsheetSafe = false, isForExcel = false }: CsvOptions = {},
  types: readonly number[] = [],
): string {
  const safe = isSpreadsheetSafe || isForExcel ? disarm : (value: unknown) => value
  const shown = isForExcel ? forExcel : (value: unknown) => value
  const line = (row: readonly unknown[]): string =>
    row.map((value, index) => field(safe(shown(value, types[index])))).join(',')
  return rows.map((row) => `${line(row)}\r\n`).join('')
}

/** Object ids of PostgreSQL's `timestamp` and `timestamptz`. */
const INSTANTS = new Set([1114, 1184])

function forExcel(value: unknown, type?: number): unknown {
  if (Array.isArray(value)) return value.map(asText).join('; ')
  if (type === undefined || !INSTANTS.has(type) || typeof value !== 'string') return value
  return value.replace(/^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?:\.\d+)?(?:\+00)?$/, '$1')
}

function field(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = asText(value)
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** What begins a formula in spreadsheet programs. A plain number may begin with a sign. */
const FORMULA = /^[=+\-@\t\r]/
const NUMBER = /^[+-]?\d+(?:\.\d+)?$/

function disarm(value: unknown): unknown {
  if (value === null || value === undefined) return value
  const text = asText(value)
  return FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text
}
