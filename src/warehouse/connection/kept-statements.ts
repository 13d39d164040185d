import { CompiledQuery, sql, type Kysely, type RawBuilder } from 'kysely'
import type { Database, Statement } from './typed-database.js'

interface Kept {
  readonly sql: string
  /** By parameter of the text, the index of its value. */
  readonly places: readonly number[]
}

/** Placeholder for a value while a text is made. */
class Place {
  readonly at: number
  constructor(at: number) {
    this.at = at
  }
}

const keptBy = new WeakMap<Kysely<Database>, Map<string, Kept>>()

/** A bound on memory: texts depend on the attributes that records carry. */
const MOST_KEPT = 2000

/**
 * A wide statement that is built once for each `key` and warehouse, and only gets new values later:
 * building one of sixty columns takes as long as running it. `key` must contain everything that the
 * text depends on; `build` gets one fragment for each value and may use it any number of times.
 */
export function keptStatement<Row>(
  key: string,
  values: readonly unknown[],
  build: (values: readonly RawBuilder<unknown>[]) => RawBuilder<Row>,
): Statement<Row> {
  return {
    compile(db) {
      const { sql: text, places } = textOf(db, key, () =>
        build(values.map((_, at) => sql`${new Place(at)}`)),
      )
      return CompiledQuery.raw(
        text,
        places.map((at) => values[at]),
      )
    },
  }
}

function textOf(db: Kysely<Database>, key: string, build: () => RawBuilder<unknown>): Kept {
  const kept = keptBy.get(db) ?? new Map<string, Kept>()
  keptBy.set(db, kept)
  const found = kept.get(key)
  if (found !== undefined) return found
  const { sql: text, parameters } = build().compile(db)
  const places = parameters.map((value) => {
    if (!(value instanceof Place)) throw new Error(`a value is fixed in the statement ${key}`)
    return value.at
  })
  if (kept.size >= MOST_KEPT) kept.clear()
  const made = { sql: text, places }
  kept.set(key, made)
  return made
}
