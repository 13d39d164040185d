/** Parts of a page: a heading and a table. */
export interface StatusSection {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
}

/** The status as a page for people, without scripts; it reads itself again every half minute. */
export function formatStatusPage(title: string, sections: readonly StatusSection[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="refresh" content="30">
<title>${escapeHtml(title)}</title>
<style>
body { font: 14px/1.5 system-ui, sans-serif; margin: 2rem; color: #222; background: #fff }
table { border-collapse: collapse; margin-bottom: 1.5rem }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid #ddd; vertical-align: top }
</style>
</head>
<body>
<h1>${escapeHtml(title)}</h1>
${sections.map(formatSection).join('\n')}
</body>
</html>
`
}

function formatSection({ title, columns, rows }: StatusSection): string {
  const head = columns.map((column) => `<th>${escapeHtml(column)}</th>`).join('')
  const body = rows.map(
    (row) => `<tr>${row.map((cell) => `<td>${cellHtml(cell)}</td>`).join('')}</tr>`,
  )
  const table =
    rows.length === 0 ? '<p>none</p>' : `<table>\n<tr>${head}</tr>\n${body.join('\n')}\n</table>`
  return `<h2>${escapeHtml(title)}</h2>\n${table}`
}

function cellHtml(value: unknown): string {
  if (value === null || value === undefined) return ''
  return escapeHtml(typeof value === 'string' ? value : JSON.stringify(value))
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
