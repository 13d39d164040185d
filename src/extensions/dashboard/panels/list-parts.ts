import type { ListColumn } from './panels.js'

/** Rows of a list at most: its pages are cut from one answer. */
export const MOST_ROWS = 2_000

export const CONTAINER: ListColumn = { name: 'container', title: 'Container', cell: 'container' }
export const CUSTOMER: ListColumn = {
  name: 'customer',
  title: 'Customer',
  cell: 'customer',
  also: 'customer',
}
export const LINE: ListColumn = {
  name: 'line',
  title: 'Line',
  cell: 'line',
  also: 'shipping_line_scac',
  isExtra: true,
}
export const TERMINAL: ListColumn = {
  name: 'terminal',
  title: 'Terminal',
  cell: 'terminal',
  also: 'pod_terminal_id',
}

/**
 * Puts the name of the line of these rows into a statement: `{{line}}` is the name, and `{{lines}}`
 * the join that it needs.
 */
export function withLine(rows: string, sqlText: string): string {
  return sqlText
    .replace(
      '{{line}}',
      `coalesce(line.short_name, line.shipping_line_name, ${rows}.shipping_line_scac)`,
    )
    .replace(
      '{{lines}}',
      `left join {{analytics}}.shipping_lines as line
    on line.shipping_line_scac = ${rows}.shipping_line_scac`,
    )
}
