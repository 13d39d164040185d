import { nearest } from '../../../base/phrases.js'
import type { Warehouse } from '../../../warehouse/connection/warehouse.js'
import type { UnknownValue } from '../questions/explain-empty.js'
import type { QueryValues } from '../questions/query-parameters.js'
import type { ShippedQuery } from '../questions/shipped-queries.js'
import { instant } from '../../../commands/declare-command.js'
import type { AskWords } from './ask-words.js'

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

/** The reason for an empty answer of a shipped question: an unknown value, or missing data. */
export async function explainEmpty(
  warehouse: Warehouse,
  { name, needs, parameters }: ShippedQuery,
  given: QueryValues,
  words: AskWords,
): Promise<string[]> {
  const values = Object.fromEntries(
    parameters.flatMap((one) => (given[one] === undefined ? [] : [[one, given[one]]])),
  )
  const unknown = await explainUnknown(warehouse, values)
  if (unknown.length > 0) return unknown
  const { isNeverLoaded } = await import('../questions/explain-empty.js')
  if (await isNeverLoaded(warehouse)) {
    return ['no rows: nothing was loaded into this schema; run `tracking-sync backfill`']
  }
  const flags = Object.keys(values).flatMap((one) => (one === 'limit' ? [] : [words.filter(one)]))
  const narrowed = flags.length > 0 ? ` match ${flags.join(', ')}` : ''
  return [`no rows${narrowed}: ${name} needs ${needs}`]
}

/** Notes on each value that the warehouse does not know, with the known ones. */
export async function explainUnknown(warehouse: Warehouse, values: QueryValues): Promise<string[]> {
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
