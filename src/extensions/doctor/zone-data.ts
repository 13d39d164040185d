import { sql } from 'kysely'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'

/** An instant at which a zone's offset is known, and the change that old zone data lack. */
export interface KnownInstant {
  readonly zone: string
  readonly instant: string
  /** Minutes east of UTC. */
  readonly offset: number
  readonly change: string
}

/** From https://data.iana.org/time-zones/tzdb/NEWS, newest release first. */
const KNOWN_INSTANTS: readonly KnownInstant[] = [
  // 2026: after 8 March British Columbia does not put its clocks back.
  {
    zone: 'America/Vancouver',
    instant: '2026-11-20T12:00:00Z',
    offset: -7 * 60,
    change: 'British Columbia has no winter time from November 2026',
  },
  // 2025a: Paraguay stays at -03 from October 2024.
  {
    zone: 'America/Asuncion',
    instant: '2025-07-01T12:00:00Z',
    offset: -3 * 60,
    change: 'Paraguay has no winter time from 2025',
  },
  // 2024a: Kazakhstan is all at +05 from 1 March 2024.
  {
    zone: 'Asia/Almaty',
    instant: '2024-07-01T12:00:00Z',
    offset: 5 * 60,
    change: 'Kazakhstan has one time from March 2024',
  },
  // 2023c: Egypt has summer time again from 28 April 2023.
  {
    zone: 'Africa/Cairo',
    instant: '2023-07-01T12:00:00Z',
    offset: 3 * 60,
    change: 'Egypt has summer time again from 2023',
  },
  // 2022f: most of Mexico has no summer time from 2023.
  {
    zone: 'America/Mexico_City',
    instant: '2023-07-01T12:00:00Z',
    offset: -6 * 60,
    change: 'Mexico has no summer time from 2023',
  },
  // 2022f: Jordan stays at +03 from October 2022.
  {
    zone: 'Asia/Amman',
    instant: '2023-01-15T12:00:00Z',
    offset: 3 * 60,
    change: 'Jordan has no winter time from 2022',
  },
  // 2022b: Iran has no summer time from 2023.
  {
    zone: 'Asia/Tehran',
    instant: '2023-07-01T12:00:00Z',
    offset: 3 * 60 + 30,
    change: 'Iran has no summer time from 2023',
  },
]

/**
 * Describes the database's time zone data, which decide every local day, as far as PostgreSQL
 * tells: it names no release. Warns of each known instant that comes out wrong.
 */
export async function describeZoneData(
  warehouse: Pick<Warehouse, 'query'>,
  known: readonly KnownInstant[] = KNOWN_INSTANTS,
): Promise<string> {
  const rows = await warehouse.query(
    'look at the time zone data',
    sql<{ zone: string; instant: string; minutes: number }>`select
    known.zone,
    known.instant,
    (extract(epoch from local.time - utc.time) / 60)::integer as minutes
from unnest(${known.map(({ zone }) => zone)}::text[],
    ${known.map(({ instant }) => instant)}::text[]) as known (zone, instant)
cross join lateral (select known.instant::timestamptz at time zone known.zone as time) as local
cross join lateral (select known.instant::timestamptz at time zone 'UTC' as time) as utc`,
  )
  const wrong = known.filter(
    ({ zone, instant, offset }) =>
      rows.find((row) => row.zone === zone && row.instant === instant)?.minutes !== offset,
  )
  const origin = await describeOrigin(warehouse)
  const [youngest] = known
  if (wrong.length === 0)
    return `${origin}; they know that ${youngest?.change ?? 'nothing changed'}`
  const places = wrong.map(({ zone, change }) => `${zone} (${change})`).join(', ')
  return `${origin}; warning: they are out of date, and local days come out wrong at ${places}. Update PostgreSQL to its latest minor release, or the package tzdata of its machine`
}

/** PostgreSQL's own data, or the system's; some logins may not ask which. */
async function describeOrigin(warehouse: Pick<Warehouse, 'query'>): Promise<string> {
  const [server] = await warehouse.query(
    'ask for the version',
    sql<{ version: string; may_ask: boolean }>`select current_setting('server_version') as version,
    has_function_privilege('pg_catalog.pg_config()', 'execute') as may_ask`,
  )
  const release = `PostgreSQL ${server?.version ?? ''}`
  if (server?.may_ask !== true) return `time zone data as ${release} has them`
  const [config] = await warehouse.query(
    'ask where the time zone data are',
    sql<{
      path: string | null
    }>`select substring(setting from '--with-system-tzdata=([^'' ]+)') as path
from pg_catalog.pg_config
where name = 'CONFIGURE'`,
  )
  const path = config?.path ?? undefined
  return path === undefined
    ? `time zone data that come with ${release}`
    : `time zone data of the system (${path}), used by ${release}`
}
