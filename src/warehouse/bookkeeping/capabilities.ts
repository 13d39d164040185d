import { sql } from 'kysely'
import type { Session } from '../connection/warehouse.js'

/** What the service was found to understand, for example the includes of a list. */
export interface Capability {
  readonly capability: string
  readonly isSupported: boolean
  readonly detail: Readonly<Record<string, unknown>>
}

/** Remembers a finding in place of the last one. */
export async function saveCapability(session: Session, found: Capability): Promise<void> {
  const values = {
    is_supported: found.isSupported,
    detail: JSON.stringify(found.detail),
    checked_at: sql<string>`now()`,
  }
  await session.sync
    .insertInto('source_capabilities')
    .values({ capability: found.capability, ...values })
    .onConflict((conflict) => conflict.column('capability').doUpdateSet(values))
    .execute()
}

export interface FoundCapability extends Capability {
  /** Older than a day: time to try again. */
  readonly isStale: boolean
}

export async function loadCapability(
  session: Session,
  capability: string,
): Promise<FoundCapability | undefined> {
  const row = await session.sync
    .selectFrom('source_capabilities')
    .select(['capability', 'is_supported', 'detail'])
    .select(sql<boolean>`checked_at < now() - interval '1 day'`.as('is_stale'))
    .where('capability', '=', capability)
    .executeTakeFirst()
  if (row === undefined) return undefined
  return {
    capability: row.capability,
    isSupported: row.is_supported,
    detail: row.detail ?? {},
    isStale: row.is_stale,
  }
}
