import { sql } from 'kysely'
import type { Session } from './warehouse.js'

/** A clock of the machine is compared with the database's no more often than this. */
const COMPARE_EVERY_MS = 60_000

/**
 * The database's clock, for those who cannot ask it each time: asked once a minute, and carried on
 * by a clock that nobody sets. While the database does not answer it is carried on.
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
