import { escapeControls } from './print-table.js'
import { paint, type Terminal } from './terminal.js'

/** One line of a check: `ok    database  PostgreSQL 16`, or `FAIL  …`. */
export function formatCheck(
  {
    name,
    isOk,
    detail,
  }: { readonly name: string; readonly isOk: boolean; readonly detail: string },
  terminal: Terminal,
): string {
  const verdict = isOk ? paint('ok  ', 'good', terminal) : paint('FAIL', 'bad', terminal)
  return `${verdict}  ${name.padEnd(9)} ${escapeControls(detail)}`
}
