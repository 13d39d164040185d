/**
 * Comma-separated values as RFC 4180 has them, with a header line and every line ended alike; null is an empty field, an empty
 * text is `""`.
 */
export function formatCsv(
  columns: readonly string[],
  rows: readonly (readonly unknown[])[],
): string {
  return [columns, ...rows].map((row) => `${row.map(field).join(',')}\r\n`).join('')
}

function field(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
