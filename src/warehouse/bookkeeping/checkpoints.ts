import { sql, type RawBuilder } from 'kysely'
import { z } from 'zod'
import type { PassScope } from '../connection/tables.js'
import type { Session } from '../connection/warehouse.js'
import { tableRef } from '../connection/typed-database.js'

const tally = z.object({
  pages: z.number(),
  /** Rows of these pages, with repeated ones. */
  rows: z.number(),
  /** Records shown, each counted once. */
  distinct: z.number(),
  /** Signs that rows have moved, such as records that changed since the pass began. */
  moves: z.number(),
  firstTotal: z.number().nullable(),
  lastTotal: z.number().nullable(),
  /** Every page named the same total, or none did. */
  isTotalSteady: z.boolean(),
  firstRows: z.number(),
  lastRows: z.number(),
  /** No page but the last one has fewer rows than the first, and none has more. */
  isEven: z.boolean(),
})

/** How many records of a list a pass has seen, and what the list said about itself. */
export type TallyState = Readonly<z.infer<typeof tally>>

const listedTypes = z.object({
  /** At least one record had the type that the answer is for. */
  isOwnTypeSeen: z.boolean(),
  /** The first few other types, shortened: the source may invent any number of types. */
  foreign: z.array(z.string()).readonly(),
})

/** The types of the records of an answer. */
export type ListedTypes = Readonly<z.infer<typeof listedTypes>>

const findings = z.object({
  listedTypes: listedTypes.optional(),
  /** Every container that a shipment lists was included. `loadConfirmedPasses` reads it in SQL. */
  areContainersIncluded: z.boolean().optional(),
  /** Every transport event that a container lists was included. */
  areTransportEventsIncluded: z.boolean().optional(),
})

/** Findings of a pass on its pages so far. */
export type PassFindings = z.infer<typeof findings>

const passPosition = z.object({
  /** `page[number]` of the last page that is in the warehouse. */
  page: z.number().int().positive(),
  /** The requested size. Page numbers of another size mean other rows. */
  pageSize: z.number(),
  /** Digests of some of that page's records: a resumed pass must see one of them again. */
  signposts: z.array(z.string()).readonly(),
  /** Asks the service for a part of the list; empty for the whole. */
  query: z.record(z.string(), z.string()).readonly(),
  /** Just before the first request of the pass, on the database's clock. */
  beganAt: z.string(),
  /** The counts before that page. */
  tallyBefore: tally,
  findings,
})

/** Position of the pass over a list after a page: the contents of a checkpoint. */
export type PassPosition = Readonly<z.infer<typeof passPosition>>

/** Undefined for a position of another version that this one cannot read: the pass starts over. */
export function readPassPosition(stored: unknown): PassPosition | undefined {
  return passPosition.safeParse(stored).data
}

/** The list that a pass walks. */
export interface PassList extends Pick<PassPosition, 'query'> {
  readonly stream: string
  readonly scope: PassScope
}

export interface Checkpoint {
  readonly stream: string
  readonly scope: PassScope
  /** On the source's clock. */
  readonly passStartedAt: Date
  readonly position: PassPosition
}

/** Writes the position of a pass; call it in the transaction of the rows it covers. */
export function saveCheckpoint(
  session: Session,
  syncRunId: number,
  checkpoint: Checkpoint,
): Promise<void> {
  const passStartedAt = checkpoint.passStartedAt.toISOString()
  const pass = { pass_started_at: passStartedAt, completed_at: null }
  return writeCheckpoint(session, syncRunId, checkpoint, pass)
}

/** Records that a pass is complete: all its pages are in the warehouse. */
export function completePass(
  session: Session,
  syncRunId: number,
  checkpoint: Checkpoint,
): Promise<void> {
  return writeCheckpoint(session, syncRunId, checkpoint, {
    pass_started_at: null,
    completed_at: sql<string>`now()`,
    completed_pass_started_at: checkpoint.passStartedAt.toISOString(),
    completed_pass_began_at: checkpoint.position.beganAt,
  })
}

interface PassColumns {
  readonly pass_started_at: string | null
  readonly completed_at: RawBuilder<string> | null
  readonly completed_pass_started_at?: string
  readonly completed_pass_began_at?: string
}

async function writeCheckpoint(
  session: Session,
  syncRunId: number,
  { stream, scope, position }: Checkpoint,
  pass: PassColumns,
): Promise<void> {
  const values = {
    sync_run_id: syncRunId,
    position: JSON.stringify(position),
    updated_at: sql<string>`now()`,
    ...pass,
  }
  await session.db
    .insertInto('sync.checkpoints')
    .values({ stream, scope, ...values })
    .onConflict((conflict) => conflict.columns(['stream', 'scope']).doUpdateSet(values))
    .execute()
}

/**
 * Records that a pass is past a page that changed nothing. Runs outside a transaction, on an
 * unlogged table, because this is nearly all that the sync of a quiet account writes. Returns false
 * and records nothing if the checkpoint in the warehouse belongs to another run or pass: then call
 * `saveCheckpoint`. A run whose lease was taken over gets false once its successor has written a
 * checkpoint.
 */
export async function advancePass(
  session: Session,
  syncRunId: number,
  { stream, scope, passStartedAt, position }: Checkpoint,
): Promise<boolean> {
  const rows = await session.query(
    'advance a pass',
    sql`insert into ${tableRef('sync.pass_positions')}
    (stream, scope, sync_run_id, pass_started_at, position)
select stream, scope, sync_run_id, pass_started_at, ${JSON.stringify(position)}::jsonb
from ${tableRef('sync.checkpoints')}
where stream = ${stream} and scope = ${scope} and sync_run_id = ${syncRunId} and pass_started_at = ${passStartedAt.toISOString()}::timestamptz
on conflict (stream, scope) do update
set
    sync_run_id = excluded.sync_run_id,
    pass_started_at = excluded.pass_started_at,
    position = excluded.position,
    updated_at = excluded.updated_at
returning stream`,
  )
  return rows.length > 0
}

/** Forgets how far a pass came. Keeps when the last complete pass began. */
export async function abandonPass(
  session: Session,
  { stream, scope }: Pick<PassList, 'stream' | 'scope'>,
): Promise<void> {
  await session.db
    .updateTable('sync.checkpoints')
    .set({ pass_started_at: null, completed_at: null, updated_at: sql<string>`now()` })
    .where('stream', '=', stream)
    .where('scope', '=', scope)
    .execute()
}

/** The rest of an interrupted run's pass over a stream. */
export type PassRemains =
  | { readonly kind: 'none' }
  /** The pass got as far as this page. */
  | { readonly kind: 'unfinished'; readonly checkpoint: Checkpoint }
  /** The pass was complete before the run was cut off. */
  | { readonly kind: 'complete'; readonly position: PassPosition }

/**
 * Finds the pass that earlier runs left of a stream. An unfinished pass is resumed, however its run
 * ended. A complete one counts only if its run was killed or stopped before its remaining work was
 * done; a run that ended normally is followed by a new pass. A pass that is too old, or had another
 * page size, counts as none.
 */
export async function loadPassRemains(
  session: Session,
  { stream, scope }: Pick<PassList, 'stream' | 'scope'>,
  pageSize: number,
): Promise<PassRemains> {
  // After half an hour a list has other pages; equal rows are not written a second time.
  const [row] = await session.query(
    'look up what is left of a pass',
    sql<RemainsRow>`select
    saved.position,
    saved.completed_at is not null as is_complete,
    floor(extract(epoch from saved.pass_started_at) * 1000)::bigint as started_ms,
    saved.sync_run_id > coalesce(
        (
            select max(sync_run_id)
            from ${tableRef('sync.sync_runs')}
            where command in ('backfill', 'sync') and outcome not in ('running', 'aborted')
        ),
        0
    ) as was_cut_off,
    advanced.position as advanced_position
from ${tableRef('sync.checkpoints')} as saved
left join ${tableRef('sync.pass_positions')} as advanced
    using (stream, scope, sync_run_id, pass_started_at)
where saved.stream = ${stream}
    and saved.scope = ${scope}
    and greatest(saved.updated_at, advanced.updated_at) > now() - interval '30 minutes'`,
  )
  const saved = readPassPosition(row?.position)
  const advanced = readPassPosition(row?.advanced_position)
  // A page that wrote rows moves only the checkpoint, a page that changed nothing only the
  // position.
  const position = (advanced?.page ?? 0) > (saved?.page ?? 0) ? advanced : saved
  if (row === undefined || position?.pageSize !== pageSize) return { kind: 'none' }
  if (row.is_complete) return row.was_cut_off ? { kind: 'complete', position } : { kind: 'none' }
  if (row.started_ms === null) return { kind: 'none' }
  const passStartedAt = new Date(row.started_ms)
  return { kind: 'unfinished', checkpoint: { stream, scope, passStartedAt, position } }
}

interface RemainsRow {
  readonly position: unknown
  readonly is_complete: boolean
  readonly started_ms: number | null
  readonly was_cut_off: boolean | null
  readonly advanced_position: unknown
}

/** A sync is complete when the pass over each of these lists is. */
const WALKED = ['shipments', 'containers', 'tracking_requests'] as const

/**
 * When the last complete pass over each stream began, on the source's clock: it saw every record
 * that it showed then or later, even if it wrote no row. A pass over the shipments also shows
 * included containers, and a pass that shows containers shows their transport events. Streams
 * without a complete pass are absent. Only a pass over the whole list sees every live row; with
 * `any`, other passes count as well.
 */
export async function loadConfirmedPasses(
  session: Session,
  scope: 'any' | 'whole' = 'any',
): Promise<ReadonlyMap<string, Date>> {
  const rows = await session.query(
    'look up the complete passes',
    sql<{
      stream: string
      started_ms: number
      has_containers: boolean
    }>`select stream,
    floor(extract(epoch from completed_pass_started_at) * 1000)::bigint as started_ms,
    coalesce((position #>> '{findings,areContainersIncluded}')::boolean, true) as has_containers
from ${tableRef('sync.checkpoints')}
where completed_pass_started_at is not null and (${scope} = 'any' or scope = ${scope})`,
  )
  const passes = new Map<string, Date>()
  const record = (stream: string, startedMs: number): void => {
    const known = passes.get(stream)?.getTime() ?? -Infinity
    passes.set(stream, new Date(Math.max(known, startedMs)))
  }
  for (const { stream, started_ms, has_containers } of rows) {
    record(stream, started_ms)
    if (stream === 'shipments' && has_containers) record('containers', started_ms)
  }
  const containers = passes.get('containers')
  if (containers !== undefined) record('transport_events', containers.getTime())
  return passes
}

/** When the last sync that completed every list began; undefined if there was none. */
export function completeSyncBegan(passes: ReadonlyMap<string, Date>): Date | undefined {
  const starts = WALKED.map((stream) => passes.get(stream)?.getTime())
  const isComplete = starts.every((start) => start !== undefined)
  return isComplete ? new Date(Math.min(...starts)) : undefined
}

/** The earlier passes, as far as a new pass needs them. */
export interface PassHistory {
  /** Now on the database's clock; every request of the new pass is later. */
  readonly now: string
  /** Hours since the last complete pass over the whole list began; null if there was none. */
  readonly wholeHoursAgo: number | null
  /** When the last complete pass of any scope began, on the source's clock. */
  readonly lastStartedAt: Date | null
}

/** When the complete passes over a stream began. */
export async function loadPassHistory(session: Session, stream: string): Promise<PassHistory> {
  const [row] = await session.query(
    'look up the last passes',
    sql<{
      now: string
      whole_hours_ago: number | null
      last_started_ms: number | null
    }>`select
    to_json(now()) #>> '{}' as now,
    extract(epoch from now() - max(completed_pass_began_at) filter (where scope = 'whole'))::float8
        / 3600 as whole_hours_ago,
    floor(extract(epoch from max(completed_pass_started_at)) * 1000)::bigint as last_started_ms
from ${tableRef('sync.checkpoints')}
where stream = ${stream}`,
  )
  if (row === undefined) throw new Error('a query of aggregates has one row')
  return {
    now: row.now,
    wholeHoursAgo: row.whole_hours_ago,
    lastStartedAt: row.last_started_ms === null ? null : new Date(row.last_started_ms),
  }
}
