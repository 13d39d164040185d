/** Rows that several panels of the overview read, in place of `{{rows}}` in their SQL. */
export const SHARED_ROWS = {
  overdue: `select *
    from {{analytics}}.costs
    where state = 'overdue'
        and {{chosen}}`,
  // A picture counts a stay on its `day`.
  due: `select
        *,
        greatest(binding_on, today_on - 14) as day
    from {{analytics}}.last_free_days
    where state in ('upcoming', 'due_today', 'overdue')
        and binding_on <= today_on + 28
        and {{chosen}}`,
  arriving: `select
        *,
        arrival_on as day
    from {{analytics}}.arrivals
    where state = 'expected'
        and days_until between 0 and 29
        and {{chosen}}`,
  attention: `select *
    from {{stored}}.attention
    where {{chosen}}
        and {{chosen_exception}}`,
} as const

/** A statement with these rows, for a panel. */
export function ofRows(
  name: keyof typeof SHARED_ROWS,
  sqlText: string,
): { readonly rows: string; readonly sqlText: string } {
  const rows = SHARED_ROWS[name]
  return { rows, sqlText: sqlText.replace('{{rows}}', () => rows) }
}
