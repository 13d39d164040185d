export interface CsvOptions {
  /** Put `'` before texts that a spreadsheet would take for a formula. The file is then for spreadsheets only. */
  readonly isSpreadsheetSafe?: boolean
}

/**
 * Comma-separated values as RFC 4180 has them, with a header line and every line ended alike; null is an empty field, an empty
 * text is `""`.
 */
export function formatCsv(
  columns: readonly string[],
  rows: readonly (readonly unknown[])[],
  options: CsvOptions = {},
): string {
  return formatCsvLines([columns, ...rows], options)
}

/** Lines without a header, for an answer that is written in pieces. */
export function formatCsvLines(
  rows: readonly (readonly unknown[])[],
  { isSpreadsheetSafe = false }: CsvOptions = {},
): string {
  const cell = isSpreadsheetSafe ? (value: unknown) => field(disarm(value)) : field
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('')
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
