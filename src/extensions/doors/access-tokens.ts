import { sql } from 'kysely'
import type { RawBuilder } from 'kysely'
import { ConfigError } from '../../base/errors.js'
import { tableRef } from '../../warehouse/connection/typed-database.js'
import type { Session, Warehouse } from '../../warehouse/connection/warehouse.js'
import { hashOf, isTextOf, makeTokenText, tokenIdOf } from './token-text.js'

/** The rights of a token. */
export interface AccessToken {
  readonly tokenId: string
  readonly name: string
  readonly questions: readonly string[]
  /** The names that its customer has in shipments. Null: it reads every row. */
  readonly customers: readonly string[] | null
}

export type TokenState = 'active' | 'expired' | 'revoked'

/** A token as `tokens list` shows it. */
export interface TokenRow extends AccessToken {
  readonly state: TokenState
  readonly createdAt: string
  readonly expiresAt: string
  readonly uses: number
  readonly lastUsedAt: string | null
}

/** The end of a token: a number of days from now, or an instant. */
export type TokenEnd = { readonly days: number } | { readonly at: string }

export interface NewToken extends Omit<AccessToken, 'tokenId'> {
  readonly end: TokenEnd
}

const TOKENS = tableRef('sync.access_tokens')

const STATE = sql<TokenState>`case
    when revoked_at is not null then 'revoked'
    when expires_at <= now() then 'expired'
    else 'active'
end`

/**
 * Stores a token and returns its row with the text, which nothing can show again. Throws
 * ConfigError if a token that is not revoked has the name, or if its end is over.
 */
export async function createToken(
  warehouse: Warehouse,
  { name, questions, customers, end }: NewToken,
): Promise<TokenRow & { readonly token: string }> {
  return warehouse.transaction('create a token', async (session) => {
    const token = makeTokenText()
    const tokenId = tokenIdOf(token)
    const rows = await session.query(
      'store the token',
      sql`insert into ${TOKENS} (token_id, name, secret_hash, questions, customer_names, expires_at)
select ${tokenId}, ${name}, ${hashOf(token)}, ${questions}::text[], ${customers}::text[], ends.at
from (select ${instantOf(end)} as at) as ends
where ends.at > now()
on conflict (name) where revoked_at is null do nothing
returning 1 as stored`,
    )
    if (rows.length === 0) throw await explainRefusal(session, name)
    const [row] = await readTokens(session, sql`token_id = ${tokenId}`)
    if (row === undefined) throw new Error('the token that was stored is not there')
    return { ...row, token }
  })
}

function instantOf(end: TokenEnd): RawBuilder<unknown> {
  return 'days' in end
    ? sql`now() + make_interval(days => ${end.days}::integer)`
    : sql`${end.at}::timestamptz`
}

async function explainRefusal(session: Session, name: string): Promise<ConfigError> {
  const taken = await readTokens(session, sql`name = ${name} and revoked_at is null`)
  const [setting, problem] =
    taken.length > 0
      ? [
          '--name',
          `${name} is that of a token already; choose another, or end that one with \`tokens revoke\``,
        ]
      : ['--expires', 'is over already; give a later day, or a number of days like 90d']
  return new ConfigError([{ setting, problem }])
}

/** All tokens, the newest first. */
export function listTokens(session: Session): Promise<TokenRow[]> {
  return readTokens(session, sql`true`)
}

function readTokens(session: Session, condition: RawBuilder<unknown>): Promise<TokenRow[]> {
  const utc = (column: string): RawBuilder<unknown> =>
    sql`to_char(${sql.id(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`
  return session.query(
    'read the tokens',
    sql<TokenRow>`select token_id as "tokenId", name, questions, customer_names as customers,
    ${STATE} as state, ${utc('created_at')} as "createdAt", ${utc('expires_at')} as "expiresAt",
    uses, ${utc('last_used_at')} as "lastUsedAt"
from ${TOKENS}
where ${condition}
order by created_at desc, token_id`,
  )
}

/** From now on they open nothing. Returns the names that were in use. */
export async function revokeTokens(
  session: Session,
  tokenNames: readonly string[],
): Promise<string[]> {
  const revoked = await session.query(
    'revoke tokens',
    sql<{ name: string }>`update ${TOKENS}
set revoked_at = now()
where name = any(${tokenNames}::text[]) and revoked_at is null
returning name`,
  )
  return revoked.map(({ name }) => name)
}

/** Compared with where no token has the id, so that it takes as long. */
const NO_HASH = Buffer.alloc(32)

/**
 * The token with this text and its state; undefined without one. Looked up by its id,
 * and compared by its hash in constant time.
 */
export async function findToken(
  session: Session,
  text: string,
): Promise<(AccessToken & { readonly state: TokenState }) | undefined> {
  const tokenId = tokenIdOf(text)
  if (tokenId === undefined) return undefined
  const [found] = await session.query(
    'look for a token',
    sql<AccessToken & { state: TokenState; secretHash: Buffer }>`select
    token_id as "tokenId", name, questions, customer_names as customers,
    ${STATE} as state, secret_hash as "secretHash"
from ${TOKENS}
where token_id = ${tokenId}`,
  )
  const isRight = isTextOf(text, found?.secretHash ?? NO_HASH)
  if (found === undefined || !isRight) return undefined
  const { tokenId: id, name, questions, customers, state } = found
  return { tokenId: id, name, questions, customers, state }
}

/** Adds uses to the counts of tokens, by their ids. */
export async function addUses(
  session: Session,
  uses: ReadonlyMap<string, { readonly count: number; readonly lastAt: Date }>,
): Promise<void> {
  const counted = [...uses].map(([tokenId, { count, lastAt }]) => ({ tokenId, count, lastAt }))
  await session.query(
    'count the uses of tokens',
    sql`update ${TOKENS} as token
set uses = token.uses + used.count,
    last_used_at = greatest(token.last_used_at, used.last_at)
from unnest(
    ${counted.map(({ tokenId }) => tokenId)}::text[],
    ${counted.map(({ count }) => count)}::bigint[],
    ${counted.map(({ lastAt }) => lastAt.toISOString())}::timestamptz[]
) as used (token_id, count, last_at)
where token.token_id = used.token_id`,
  )
}
