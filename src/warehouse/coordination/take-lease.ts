import { LeaseHeldError, WarehouseConflictError } from '../../base/errors.js'
import type { Session, Warehouse } from '../connection/warehouse.js'

/** Who holds a lease, to be shown to others. */
export interface LeaseHolder {
  readonly host: string
  readonly pid: number
  /** Where the pid is valid, since two hosts or containers may share a name; if known. */
  readonly place?: string | undefined
  readonly command: string
}

/** Identifies the process of a holder. */
export type HolderProcess = Pick<LeaseHolder, 'host' | 'pid' | 'place'>

export interface TakeLeaseOptions {
  /** What is held. */
  readonly name: string
  readonly holder: LeaseHolder
  /** True for a holder that is known to have ended: its lease counts as stale at once. */
  readonly isGone?: (holder: HolderProcess) => boolean
}

/** Six missed heartbeats. */
export const STALE_AFTER_MS = 60_000

/** A write of a stale holder may still be under way; wait for it no longer than this. */
const TAKE_OVER_LOCK_TIMEOUT = '1500ms'

/**
 * Takes the lease where it is free or stale, and returns the new fencing token. Throws
 * `LeaseHeldError` otherwise. One statement where it is free and not locked, as nearly always.
 */
export async function takeLease(warehouse: Warehouse, options: TakeLeaseOptions): Promise<number> {
  const fencingToken = await writeHolder(warehouse, options, FREE_AND_UNLOCKED)
  return fencingToken ?? takeOver(warehouse, options)
}

async function takeOver(warehouse: Warehouse, options: TakeLeaseOptions): Promise<number> {
  // Without a lock first: refuse at once, even if the holder is in the middle of a large write.
  refuseWhenHeld(await readHolding(warehouse, options.name), options)
  try {
    return await warehouse.transaction('take the lease', async (session) => {
      await lockRow(session, options.name)
      const holding = await readHolding(session, options.name)
      refuseWhenHeld(holding, options)
      const fencingToken = await writeHolder(session, options, LOCKED)
      if (fencingToken === undefined) throw new Error('the locked row of the lease is not there')
      return fencingToken
    })
  } catch (thrown) {
    if (!(thrown instanceof WarehouseConflictError)) throw thrown
    throw new LeaseHeldError(
      'a run that gives no sign of life still has a write under way; ' +
        'the database ends it within a minute: start again then',
      { cause: thrown },
    )
  }
}

async function lockRow(session: Session, name: string): Promise<void> {
  const lease = session.names.table('lease')
  const lock = (sqlText: string, ...parameters: unknown[]): Promise<unknown> =>
    session.query('lock the lease', sqlText, parameters)
  await lock(`set local lock_timeout = '${TAKE_OVER_LOCK_TIMEOUT}'`)
  await lock(`insert into ${lease} (lease_name) values ($1) on conflict do nothing`, name)
  await lock(`select lease_name from ${lease} where lease_name = $1 for update`, name)
}

/** Locks the row as `lockRow` does, but without waiting for the checks of writers. */
const FREE_AND_UNLOCKED = 'and holder is null for update skip locked'
const LOCKED = ''

/** Undefined when the row is not there to be taken. */
async function writeHolder(
  session: Session,
  { name, holder }: TakeLeaseOptions,
  condition: typeof FREE_AND_UNLOCKED | typeof LOCKED,
): Promise<number | undefined> {
  const { command, pid, host, place } = holder
  const where = place === undefined ? host : `${host} (${place})`
  const lease = session.names.table('lease')
  const [taken] = await session.query<{ fencing_token: number }>(
    'take the lease',
    `with taken as (select lease_name from ${lease} where lease_name = $1 ${condition})
update ${lease} as held
set
    holder = $2,
    fencing_token = held.fencing_token + 1,
    acquired_at = clock_timestamp(),
    heartbeat_at = clock_timestamp()
from taken
where held.lease_name = taken.lease_name
returning held.fencing_token`,
    [name, `${command}, process ${pid} on ${where}`],
  )
  return taken?.fencing_token
}

interface Holding {
  readonly holder: string
  readonly acquired_at: string
  readonly held_ms: number
  readonly silent_ms: number
}

/** Undefined when the lease is free. */
async function readHolding(session: Session, name: string): Promise<Holding | undefined> {
  const [holding] = await session.query<Holding>(
    'look at the lease',
    `select
    holder,
    to_char(acquired_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as acquired_at,
    extract(epoch from clock_timestamp() - acquired_at)::float8 * 1000 as held_ms,
    extract(epoch from clock_timestamp() - heartbeat_at)::float8 * 1000 as silent_ms
from ${session.names.table('lease')}
where lease_name = $1
    and holder is not null`,
    [name],
  )
  return holding
}

function refuseWhenHeld(holding: Holding | undefined, { isGone }: TakeLeaseOptions): void {
  // A sign of life from the future: the clock was put back since.
  if (holding === undefined || Math.abs(holding.silent_ms) > STALE_AFTER_MS) return
  const [, pid, host, place] = HOLDER.exec(holding.holder) ?? []
  if (host !== undefined && isGone?.({ host, pid: Number(pid), place }) === true) return
  const leftMs = STALE_AFTER_MS - holding.silent_ms
  throw new LeaseHeldError(
    `another run holds the lease: ${describeHolding(holding)}; ` +
      `without another sign of life it is taken over in ${seconds(leftMs)}`,
    { context: { holder: holding.holder, acquiredAt: holding.acquired_at } },
  )
}

/** As `writeHolder` writes it. */
const HOLDER = /, process (\d+) on (.+?)(?: \(([^()]+)\))?$/

function describeHolding({ holder, acquired_at, held_ms, silent_ms }: Holding): string {
  const since = `since ${acquired_at} (${seconds(held_ms)})`
  return `${holder}, ${since}, last sign of life ${seconds(silent_ms)} ago`
}

function seconds(ms: number): string {
  return `${Math.max(0, Math.round(ms / 1000))} s`
}
