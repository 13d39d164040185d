import { sql } from 'kysely'
import { formatBytes, formatSeconds } from '../base/phrases.js'
import type { Warehouse } from '../warehouse/connection/warehouse.js'

/**
 * A place in the log of the server from which somebody reads on: a subscriber, Debezium, a standby.
 * Until it has read, the server keeps its log. Bytes are of that log (WAL).
 */
export interface ReplicationSlot {
  readonly name: string
  /**
   * The plugin that decodes the log for its reader, `pgoutput` for a subscriber; null: a standby's.
   */
  readonly plugin: string | null
  /** Somebody reads from it now. */
  readonly isActive: boolean
  /** Seconds without a reader; null while somebody reads, and before PostgreSQL 17. */
  readonly idleSeconds: number | null
  /** Log that the server keeps for it; null: not yet, or no longer. */
  readonly keptBytes: number | null
  /** Log that its reader has not confirmed; null for a standby's. */
  readonly lagBytes: number | null
  /** `lost`: the server has removed log that the reader needs. `unreserved`: it is about to. */
  readonly walStatus: 'reserved' | 'extended' | 'unreserved' | 'lost' | null
  /** Log that may still be written before the slot is lost; null without a limit. */
  readonly safeBytes: number | null
  /** `max_slot_wal_keep_size`; null: a slot may keep log until the disk is full. */
  readonly mostBytes: number | null
  /** `max_wal_size`: the size of the log without any slot. */
  readonly usualBytes: number
}

/**
 * The slots of this database, and those of standbys, which are of the whole server. A slot that ends
 * with its session is left out. Any login may read them.
 */
export function readReplicationSlots(
  warehouse: Pick<Warehouse, 'query'>,
): Promise<ReplicationSlot[]> {
  // Only PostgreSQL 17 and later have inactive_since. A standby lacks a current write position of
  // the log.
  return warehouse.query(
    'look at the replication slots',
    sql<ReplicationSlot>`select
    slot.slot_name::text as name,
    slot.plugin::text as plugin,
    slot.active as "isActive",
    extract(epoch from now() - (to_jsonb(slot) ->> 'inactive_since')::timestamptz)::float8
        as "idleSeconds",
    pg_wal_lsn_diff(
        case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end,
        slot.restart_lsn
    )::float8 as "keptBytes",
    pg_wal_lsn_diff(
        case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end,
        slot.confirmed_flush_lsn
    )::float8 as "lagBytes",
    slot.wal_status as "walStatus",
    slot.safe_wal_size as "safeBytes",
    nullif(greatest(pg_size_bytes(current_setting('max_slot_wal_keep_size')), -1), -1)
        as "mostBytes",
    pg_size_bytes(current_setting('max_wal_size')) as "usualBytes"
from pg_replication_slots as slot
where not slot.temporary and (slot.database = current_database() or slot.database is null)
order by slot.slot_name`,
  )
}

/** The share of `max_slot_wal_keep_size` that must be left. */
const LEAST_LEFT = 0.5

/** For a slot without a limit: so many times the usual size of the log are too much. */
const TOO_MUCH = 2

/**
 * Why a slot will fill the disk or be lost, and what to do; undefined while it is well. SQL cannot
 * tell how full the disk is: a slot without a limit counts as behind from twice `max_wal_size` on.
 */
export function describeBehind(slot: ReplicationSlot): string | undefined {
  const { name, walStatus, safeBytes, keptBytes, mostBytes, usualBytes } = slot
  const drop = `select pg_drop_replication_slot('${name}')`
  const reader = slot.isActive ? 'its reader is too slow' : 'nobody reads from it'
  if (walStatus === 'lost') {
    return (
      `the replication slot ${name} is lost: the server has removed log that its reader had not ` +
      `read. Drop it (${drop}) and start the copy again (docs/replicas.md)`
    )
  }
  if (mostBytes !== null) {
    const left = Math.max(0, safeBytes ?? mostBytes)
    if (walStatus !== 'unreserved' && left >= LEAST_LEFT * mostBytes) return undefined
    return (
      `the replication slot ${name} is lost after another ${formatBytes(left)} of log ` +
      `(max_slot_wal_keep_size is ${formatBytes(mostBytes)}): ${reader}. Start its reader again, ` +
      'or allow more'
    )
  }
  if (keptBytes === null || keptBytes <= TOO_MUCH * usualBytes) return undefined
  return (
    `the server keeps ${formatBytes(keptBytes)} of log for the replication slot ${name}, and more ` +
    `with every write until its disk is full: ${reader}. Start its reader again, ` +
    `or drop the slot (${drop}); max_slot_wal_keep_size sets a limit`
  )
}

/** A sentence about a slot that nobody reads, with the cost; undefined if somebody does. */
export function describeUnread(slot: ReplicationSlot): string | undefined {
  const { name, isActive, idleSeconds, keptBytes, walStatus } = slot
  if (isActive || walStatus === 'lost') return undefined
  const since = idleSeconds === null ? '' : ` for ${formatSeconds(idleSeconds)}`
  return (
    `nobody has read from the replication slot ${name}${since}; the server keeps ` +
    `${formatBytes(keptBytes ?? 0)} of log for it. Start its reader again, or drop the slot: ` +
    `select pg_drop_replication_slot('${name}')`
  )
}
