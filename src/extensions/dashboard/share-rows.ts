import type { TableAnswer } from '../answers/read-answer.js'
import type { Panel } from './panels/panels.js'

/** The first column of each panel in a statement for several. */
const NTH = 'nth_of_panel'

const PART = `(
select row_number() over () as nth_of_panel, answer.*
from (
{{part}}
) as answer
)`

const WHOLE = `with shared as materialized (
{{rows}}
)

select *
from {{joined}}
order by {{order}}`

/**
 * One statement for panels of the same rows, which are read once. Each panel has its columns there,
 * and they are empty beside the rows of the others.
 */
export function joinPanels(panels: readonly Panel[]): string {
  const rows = panels[0]?.rows ?? ''
  const parts = panels.map(({ sqlText }) =>
    PART.replace('{{part}}', () => sqlText.replace(rows, 'select * from shared')),
  )
  const joined = parts.map((part, at) => `${part} as part${at}${at === 0 ? '' : ' on false'}`)
  const order = panels.map((_panel, at) => `part${at}.${NTH}`)
  return WHOLE.replace('{{rows}}', () => rows)
    .replace('{{joined}}', () => joined.join('\nfull join '))
    .replace('{{order}}', order.join(', '))
}

/** The answers of the panels, in their order. */
export function partAnswer({ columns, types, rows }: TableAnswer): TableAnswer[] {
  const starts = columns.flatMap((name, at) => (name === NTH ? [at] : []))
  return starts.map((start, at) => {
    const own = <Value>(values: readonly Value[]): Value[] =>
      values.slice(start + 1, starts[at + 1])
    return {
      columns: own(columns),
      types: own(types),
      rows: rows.filter((row) => row[start] !== null).map(own),
    }
  })
}
