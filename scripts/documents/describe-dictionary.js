const INTRODUCTION = `# Data dictionary

Every schema, table, view and column with its meaning, from the comments in the database: \`\\d+\`
in psql and most BI tools show the same. Written by \`npm run db:dump\`; do not edit. The schema
names are those of the default setting \`TRACKING_SCHEMA=tracking\`.

Times are UTC unless a column says otherwise. Columns that begin with \`_\` are the connector's own.`

/**
 * The text of `docs/dictionary.md`: the comments of the database (`readCatalog`) as a page. A test
 * compares the two.
 */
export function describeDictionary(schemas, names) {
  const parts = [INTRODUCTION]
  for (const { name, comment, relations } of schemas) {
    parts.push(`## Schema \`${name}\``, comment ?? '')
    // Views of the analytics schema as of an instant, and stored ones with one more column.
    if (name === names.asOf || name === names.stored) continue
    const explained = relations.filter((relation) => !relation.name.startsWith('rows_of_'))
    for (const relation of explained) parts.push(...formatRelation(relation))
  }
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

function formatRelation({ name, kind, comment, columns }) {
  if (isFormerName(comment)) return [`### \`${name}\` (view)`, comment]
  const rows = columns.map(
    (column) =>
      `| \`${column.name}\` | ${shortType(column.type)} | ${escapeCell(column.comment)} |`,
  )
  return [
    `### \`${name}\`${kind === 'table' ? '' : ` (${kind})`}`,
    comment ?? '',
    ['| column | type | meaning |', '|---|---|---|', ...rows].join('\n'),
  ]
}

/** Whether a view is another under its former name, where its columns are explained. */
export function isFormerName(comment) {
  return comment?.startsWith('Former name of') === true
}

function shortType(type) {
  return type
    .replace('timestamp with time zone', 'timestamptz')
    .replace('timestamp without time zone', 'timestamp')
}

function escapeCell(text) {
  return (text ?? '').replaceAll('|', '\\|').replaceAll('\n', ' ')
}

/**
 * The picture of the references in `docs/tables.md`. Histories have those of their tables, and
 * would only fill it.
 */
export function describeReferences(schemas, names) {
  const relations = schemas.find(({ name }) => name === names.data)?.relations ?? []
  const tables = relations.filter(({ name }) => !name.endsWith('_history'))
  const known = tables.map(({ name }) => name)
  const arrows = tables.flatMap((table) => arrowsOf(table, known))
  const lines = arrows.map(({ from, column, to }) => `    ${to} ||--o{ ${from} : ${column}`)
  return ['```mermaid', 'erDiagram', ...lines, '```'].join('\n')
}

/**
 * Reads references from the comment of an `_id` column: "Place; ports or metro_areas by
 * location_type."
 */
function arrowsOf({ name: from, columns }, names) {
  return columns.flatMap(({ name: column, comment }) => {
    if (!column.endsWith('_id')) return []
    const [sentence = ''] = (comment ?? '').split('. ')
    const words = sentence.split(/[^a-z_]+/)
    return names
      .filter((to) => words.includes(to) && to !== from)
      .map((to) => ({ from, column, to }))
  })
}
