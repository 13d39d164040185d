import type { Schemas } from '../../../warehouse/connection/schema-names.js'
import { readShippedQueries } from './shipped-queries.js'

/** Reads the questions once, for a server: they are a part of the program. */
export function keepShippedQueries(): typeof readShippedQueries {
  const kept = new Map<string, ReturnType<typeof readShippedQueries>>()
  return (names: Schemas, schema?: 'analytics' | 'asOf') => {
    const key = schema ?? 'analytics'
    const read = kept.get(key) ?? readShippedQueries(names, key)
    kept.set(key, read)
    return read
  }
}
