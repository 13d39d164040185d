import { FRAME, HISTORIES } from './snapshot-history.js'
import type { Row, TableSnapshot } from './snapshot-tables.js'
import { canonical, instant } from './snapshot-values.js'

/** Values by history and key, each in one text. */
export type Known = ReadonlyMap<string, string>

type Tables = ReadonlyMap<string, TableSnapshot>

/**
 * Present rows of shipments, containers, deadlines, holds and fees, without deleted ones.
 */
export function knownNow(tables: Tables): Known {
  return collect(
    tables,
    (tableOf) => tableOf.standing,
    (row) => (row._deleted_at ?? null) === null,
  )
}

/** Rows known at an instant (microseconds since 1970), from the histories. */
export function knownAt(tables: Tables, at: bigint): Known {
  const isKnown = ({ valid_from, valid_to }: Row): boolean => {
    const from = instant(valid_from as string) ?? 0n
    const to = valid_to === null ? undefined : instant(valid_to as string)
    return from <= at && (to === undefined || at < to)
  }
  return collect(tables, (tableOf) => tableOf.history, isKnown)
}

function collect(
  tables: Tables,
  tableOf: (spec: (typeof HISTORIES)[number]) => string,
  isTaken: (row: Row) => boolean,
): Known {
  const known = new Map<string, string>()
  for (const spec of HISTORIES) {
    const types = tables.get(spec.history)?.types ?? new Map<string, string>()
    const columns = [...types.keys()].filter((name) => !FRAME.has(name))
    for (const row of tables.get(tableOf(spec))?.rows ?? []) {
      if (!isTaken(row)) continue
      const key = `${spec.history} ${spec.key.map((name) => String(row[name])).join(' ')}`
      // Two rows of one key would be two answers to one question.
      if (known.has(key)) throw new Error(`${key} stands twice`)
      known.set(
        key,
        columns
          .map((name) => `${name} ${canonical(types.get(name) ?? '', row[name]) ?? 'null'}`)
          .join(', '),
      )
    }
  }
  return known
}
