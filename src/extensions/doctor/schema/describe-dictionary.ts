import type { CatalogReader } from '../../../warehouse/schema/shipped-tables.js'
import { readCatalog, type CatalogRelation } from './describe-schema.js'
import { holdsStoredRows } from '../../../warehouse/schema/shipped-views.js'

const INTRODUCTION = `# Data dictionary

Every schema, table, view and column with its meaning, from the comments in the database: \`\\d+\`
in psql and most BI tools show the same. Written by \`npm run db:dump\`; do not edit. The schema
names are those of the default setting \`TRACKING_SCHEMA=tracking\`.

Times are UTC unless a column says otherwise. Columns that begin with \`_\` are the connector's own.`

/**
 * The text of `docs/dictionary.md`: the comments of the database as a page, and a diagram of its
 * references. A test compares the two.
 */
export async function describeDictionary(reader: CatalogReader): Promise<string> {
  const schemas = await readCatalog(reader)
  const data = schemas.find(({ name }) => name === reader.names.data)?.relations ?? []
  const parts = [INTRODUCTION, '## What points to what', formatDiagram(data)]
  for (const { name, comment, relations } of schemas) {
    parts.push(`## Schema \`${name}\``, comment ?? '')
    // Views of the analytics schema as of an instant, and stored ones with one more column.
    if (name === reader.names.asOf || name === reader.names.stored) continue
    const explained = relations.filter((relation) => !holdsStoredRows(relation.name))
    for (const relation of explained) parts.push(...formatRelation(relation))
  }
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

function formatRelation({ name, kind, comment, columns }: CatalogRelation): string[] {
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

function shortType(type: string): string {
  return type
    .replace('timestamp with time zone', 'timestamptz')
    .replace('timestamp without time zone', 'timestamp')
}

function escapeCell(text: string | null): string {
  return (text ?? '').replaceAll('|', '\\|').replaceAll('\n', ' ')
}

interface Arrow {
  readonly from: string
  readonly column: string
  readonly to: string
}

/** Histories have the references of their tables, and would only fill the picture. */
function formatDiagram(relations: readonly CatalogRelation[]): string {
  const tables = relations.filter(({ name }) => !name.endsWith('_history'))
  const names = tables.map(({ name }) => name)
  const arrows = tables.flatMap((table) => arrowsOf(table, names))
  const lines = arrows.map(({ from, column, to }) => `    ${to} ||--o{ ${from} : ${column}`)
  return ['```mermaid', 'erDiagram', ...lines, '```'].join('\n')
}

/**
 * Reads references from the comment of an `_id` column: "Place; ports or metro_areas by
 * location_type."
 */
function arrowsOf({ name: from, columns }: CatalogRelation, names: readonly string[]): Arrow[] {
  return columns.flatMap(({ name: column, comment }) => {
    if (!column.endsWith('_id')) return []
    const [sentence = ''] = (comment ?? '').split('. ')
    const words = sentence.split(/[^a-z_]+/)
    return names
      .filter((to) => words.includes(to) && to !== from)
      .map((to) => ({ from, column, to }))
  })
}
