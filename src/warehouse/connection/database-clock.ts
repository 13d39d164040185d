import { sql } from 'kysely'
import type { Session } from './warehouse.js'

/** Least time between two comparisons with the database's clock. */
const COMPARE_EVERY_MS = 60_000

/**
 * The database's clock for callers that cannot ask it each time. It is read once a minute; in
 * between, and while the database does not answer, a monotonic clock carries it on.
 */
export function createDatabaseClock(session: Pick<Session, 'query'>): () => Promise<Date> {
  let known: { readonly at: number; readonly ms: number } | undefined
  return async () => {
    const at = performance.now()
    if (known === undefined || at - known.at > COMPARE_EVERY_MS) {
      known = { at, ms: await readClock(session).catch(() => carriedOn(known, at)) }
    }
    return new Date(carriedOn(known, at))
  }
}

function carriedOn(known: { readonly at: number; readonly ms: number } | undefined, at: number) {
  return known === undefined ? Date.now() : known.ms + at - known.at
}

async function readClock(session: Pick<Session, 'query'>): Promise<number> {
  const [row] = await session.query(
    'read the clock',
    sql<{ now: number }>`select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now`,
  )
  return row?.now ?? Date.now()
}
