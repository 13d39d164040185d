import { nearest } from '../../../base/phrases.js'
import type { Warehouse } from '../../../warehouse/connection/warehouse.js'
import type { UnknownValue } from '../questions/explain-empty.js'
import { QUERY_PARAMETERS, type QueryParameter } from '../questions/query-parameters.js'
import type { ShippedQuery } from '../questions/shipped-queries.js'
import { instant } from '../../../commands/declare-command.js'
import type { AnswerFile } from '../output/answer-file.js'
import type { AnswerFormat } from '../output/print-answer.js'

export const PARAMETERS = Object.keys(QUERY_PARAMETERS) as QueryParameter[]

export interface QueryOptions extends Partial<Record<QueryParameter, string | undefined>> {
  readonly format: AnswerFormat
  /** Standard output by default. */
  readonly file: AnswerFile | undefined
  readonly isSpreadsheetSafe: boolean
  readonly isForExcel: boolean
  readonly columns: readonly string[] | undefined
  readonly isWide: boolean
  readonly isVertical: boolean
  readonly isAll: boolean
  readonly asOf: string | undefined
  readonly against: string | undefined
  readonly timeout: number
}

export function givenValues(
  options: QueryOptions,
  parameters: readonly QueryParameter[],
): Partial<Record<QueryParameter, string>> {
  return Object.fromEntries(
    parameters.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  )
}

/** Notes on answers as of an instant that readers may not expect. */
export async function explainAsOf(
  warehouse: Warehouse,
  option: string,
  text: string | undefined,
): Promise<string[]> {
  if (text === undefined) return []
  const asked = instant(text)
  if (asked.getTime() > Date.now()) {
    return [`${option} ${text} is in the future: what is known now, with days counted to then`]
  }
  const { readFirstLoad } = await import('../questions/explain-empty.js')
  const first = await readFirstLoad(warehouse, asked)
  if (first === undefined) return []
  return [`${option} ${text} is before the first load (${first}): nothing was known then`]
}

export function explainEffectless(options: QueryOptions): string[] {
  const { format, columns, isWide, isVertical, isAll, isSpreadsheetSafe, isForExcel } = options
  const given: readonly (readonly [string, boolean, AnswerFormat])[] = [
    ['--wide', isWide, 'table'],
    ['--vertical', isVertical, 'table'],
    ['--all', isAll, 'table'],
    ['--spreadsheet-safe', isSpreadsheetSafe, 'csv'],
    ['--excel', isForExcel, 'csv'],
  ]
  const isPicked = columns !== undefined && format === 'ics'
  return [
    ...given
      .filter(([, isGiven, takes]) => isGiven && format !== takes)
      .map(([option, , takes]) => `${option} has no effect on ${format}; it is for ${takes}`),
    ...(isPicked ? ['--columns has no effect on ics; an event has columns of its own'] : []),
  ]
}

/** The reason for an empty answer of a shipped question: an unknown value, or missing data. */
export async function explainEmpty(
  warehouse: Warehouse,
  { name, needs, parameters }: ShippedQuery,
  options: QueryOptions,
): Promise<string[]> {
  const values = givenValues(options, parameters)
  const unknown = await explainUnknown(warehouse, values)
  if (unknown.length > 0) return unknown
  const flags = Object.keys(values).flatMap((one) => (one === 'limit' ? [] : [`--${one}`]))
  const narrowed = flags.length > 0 ? ` match ${flags.join(', ')}` : ''
  return [`no rows${narrowed}: ${name} needs ${needs}`]
}

/** Notes on each value that the warehouse does not know, with the known ones. */
export async function explainUnknown(
  warehouse: Warehouse,
  values: Partial<Record<QueryParameter, string>>,
): Promise<string[]> {
  const { findUnknownValues } = await import('../questions/explain-empty.js')
  return (await findUnknownValues(warehouse, values)).map(describeUnknown)
}

const CANDIDATES_SHOWN = 8

function describeUnknown({ parameter, value, candidates }: UnknownValue): string {
  const byName = new Map(candidates.map(({ taken }) => [taken, taken]))
  for (const { taken, name } of candidates) if (name !== null) byName.set(name, taken)
  const name = nearest(value, [...byName.keys()])
  const start = `the warehouse has no ${parameter} ${JSON.stringify(value)}`
  if (name !== undefined) {
    const taken = byName.get(name) ?? name
    return `${start}; did you mean ${taken === name ? taken : `${taken} (${name})`}?`
  }
  if (candidates.length === 0) return start
  const shown = candidates.slice(0, CANDIDATES_SHOWN).map(({ taken }) => taken)
  const more = candidates.length - shown.length
  return `${start}; there are ${shown.join(', ')}${more > 0 ? `, and ${more} more` : ''}`
}
