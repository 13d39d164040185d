import { sql } from 'kysely'
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { ConfigError } from '../../base/errors.js'
import { isThisMachine } from '../../base/service-address.js'
import type { Warehouse } from '../connection/warehouse.js'
import { tableRef } from '../connection/typed-database.js'

export interface SourceAccount {
  readonly apiUrl: string
  readonly apiKey: string
}

const HASH_BYTES = 32
const hashSlowly = promisify<string, Buffer, number, Buffer>(scrypt)

/** A simulator or tunnel on this machine has another port each time. */
function addressOf({ apiUrl }: SourceAccount): string {
  const { protocol, hostname, host, pathname } = new URL(apiUrl)
  const place = isThisMachine(hostname) ? hostname : host
  return `${protocol}//${place}${pathname.replace(/\/+$/, '')}`
}

/** Throws ConfigError if the warehouse is filled from another account; an empty one accepts any. */
export async function refuseOtherAccount(
  { query, db, names }: Pick<Warehouse, 'query' | 'db' | 'names'>,
  account: SourceAccount,
): Promise<void> {
  const [stored] = await query(
    'look up the account of the warehouse',
    db.selectFrom('sync.source_account').select(['address', 'salt', 'key_hash']),
  )
  if (stored === undefined) return
  const address = addressOf(account)
  if (stored.address !== address) {
    throw refused(
      'TRACKING_API_URL',
      `is ${address}, but ${names.data} is filled from ${stored.address}`,
      'Correct a mistyped value',
    )
  }
  const hash = await hashSlowly(account.apiKey, stored.salt, HASH_BYTES)
  if (timingSafeEqual(hash, stored.key_hash)) return
  throw refused(
    'TRACKING_API_KEY',
    `is not the key that filled ${names.data}`,
    'Correct a mistyped value (`tracking-sync check` asks the service)',
  )
}

function refused(setting: string, what: string, first: string): ConfigError {
  const problem =
    `${what}: records of two accounts must not mix. ${first}. For a new ` +
    `${setting === 'TRACKING_API_KEY' ? 'key' : 'address'} of the same account, run ` +
    '`tracking-sync sync --accept-account` once. For another account, set TRACKING_SCHEMA or ' +
    'DATABASE_URL to a warehouse of its own'
  return new ConfigError([{ setting, problem }])
}

/** Makes this the account of the warehouse; without `isReplacing`, only if it has none yet. */
export async function acceptAccount(
  { query, db }: Pick<Warehouse, 'query' | 'db'>,
  account: SourceAccount,
  { isReplacing }: { readonly isReplacing: boolean },
): Promise<void> {
  if (!isReplacing) {
    const known = await query(
      'look for an account',
      db.selectFrom('sync.source_account').select('is_only'),
    )
    if (known.length > 0) return
  }
  const salt = randomBytes(16)
  await query(
    'accept the account',
    sql`insert into ${tableRef('sync.source_account')} as known (address, salt, key_hash)
values (${addressOf(account)}, ${salt}, ${await hashSlowly(account.apiKey, salt, HASH_BYTES)})
on conflict (is_only) do update
set
    address = excluded.address,
    salt = excluded.salt,
    key_hash = excluded.key_hash,
    accepted_at = excluded.accepted_at
where ${isReplacing}::boolean`,
  )
}
