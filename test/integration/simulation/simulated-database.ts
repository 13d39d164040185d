import { sql } from 'kysely'
import type pg from 'pg'
import { silentLogger } from '../../../src/base/logger.js'
import {
  boundConnection,
  type BoundConnection,
} from '../../../src/warehouse/connection/bound-connection.js'
import {
  createPool,
  type ConnectionPool,
} from '../../../src/warehouse/connection/connection-pool.js'
import type { CopiedRows } from '../../../src/warehouse/connection/copy-rows.js'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'
import type { Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import type { Scheduler, SimulatedEvent, SimulatedProcess } from './scheduler.js'

/**
 * Makes PostgreSQL go by simulated time: `now()` and `clock_timestamp()` of our sessions, of column
 * defaults and of our functions are those of the schema `simulated`, which a session is told before
 * each batch. And makes it note at any moment what must never happen to a row.
 */
export async function prepareSimulatedDatabase(warehouse: Warehouse): Promise<void> {
  await warehouse.query('prepare the clock', rawStatement(PREPARATION))
}

const told = (setting: string): string =>
  `coalesce(nullif(pg_catalog.current_setting('simulated.${setting}', true), '')::timestamptz, pg_catalog.clock_timestamp())`

const PREPARATION = `do $do$
declare
    found record;
begin
    create schema simulated;
    create function simulated.now() returns timestamptz language sql stable as $$ select ${told('began')} $$;
    create function simulated.clock_timestamp() returns timestamptz language sql volatile as $$ select ${told('clock')} $$;
    create table simulated.wrongs (what text);
    create table simulated.tombstones (type text, id text, parent text, marked_at timestamptz, sync_run_id bigint);
    for found in
        select attrelid::regclass as relation, attname from pg_attrdef
        inner join pg_attribute on adrelid = attrelid and adnum = attnum
        where pg_get_expr(adbin, adrelid) in ('now()', 'clock_timestamp()')
    loop
        execute format('alter table %s alter %I set default simulated.now()', found.relation, found.attname);
    end loop;
    for found in
        select oid::regprocedure as signature from pg_proc
        where pronamespace = 'tracking_sync'::regnamespace and prosrc like '%clock_timestamp()%'
    loop
        execute format('alter function %s set search_path = simulated, pg_catalog', found.signature);
    end loop;
    create function simulated.watch() returns trigger language plpgsql set search_path = simulated, pg_catalog as $$
    declare
        row jsonb := to_jsonb(new);
    begin
        if new._observed_at < old._observed_at then
            insert into simulated.wrongs values (concat_ws(' ', tg_table_name, row ->> tg_argv[1],
                'went back from', old._observed_at, 'to', new._observed_at));
        end if;
        if new._observed_at > clock_timestamp() + interval '11 seconds' then
            insert into simulated.wrongs values (concat_ws(' ', tg_table_name, row ->> tg_argv[1],
                'is of the future:', new._observed_at));
        end if;
        if old._deleted_at is null and new._deleted_at is not null then
            insert into simulated.tombstones values (
                tg_argv[0], row ->> tg_argv[1], row ->> tg_argv[2], clock_timestamp(), new._sync_run_id);
        end if;
        return null;
    end $$;
    for found in
        select * from (values ('shipments', 'shipment', 'none'), ('containers', 'container', 'none'),
            ('tracking_requests', 'tracking_request', 'none'),
            ('transport_events', 'transport_event', 'container_id')) as watched (relation, type, parent)
    loop
        execute format('create trigger watch after update on tracking.%I for each row execute function simulated.watch(%L, %L, %L)',
            found.relation, found.type, found.type || '_id', found.parent);
    end loop;
end $do$`

interface Physical {
  readonly client: pg.PoolClient
  readonly pid: number
}

interface Asked {
  readonly text: string
  readonly parameters: readonly unknown[] | CopiedRows
  readonly answer?: { resolve(result: pg.QueryResult): void; reject(error: unknown): void }
}

type Settled = readonly PromiseSettledResult<pg.QueryResult>[]

const TELL_CLOCK = "select set_config('simulated.clock', $1, false)"
/** The dice of PostgreSQL are thrown by the time too. */
const TELL_TIME = `${TELL_CLOCK}, set_config('simulated.began', $1, false),
  setseed((hashtext($1) & 65535) / 65536.0)`

/** Parts of a pool that no simulated process uses. */
const REST: Pick<ConnectionPool, 'another' | 'close'> = {
  another: () => Promise.reject(new Error('nothing here needs it')),
  close: () => Promise.resolve(),
}

const NOTHING: pg.QueryResult = { command: '', rowCount: 0, oid: 0, fields: [], rows: [] }
const LOCK_TIMEOUT_MS = 5_000
const NO_LIMIT_MS = 600_000

export interface DatabaseHooks {
  /** Called after a batch of statements, with the rows of each that worked. */
  readonly after: (process: SimulatedProcess, statements: readonly Answered[]) => void
  /** The place where this batch loses the connection: before the server, or before the answer. */
  readonly loses: (process: SimulatedProcess) => 'before' | 'after' | undefined
}

export interface Answered {
  readonly text: string
  readonly parameters: readonly unknown[] | CopiedRows
  readonly rows: readonly Record<string, unknown>[]
}

/** The real PostgreSQL, whose statements wait for the scheduler. */
export class SimulatedDatabase {
  readonly #pool: ConnectionPool
  readonly #idle: Physical[] = []
  /** Pools with a statement that waits for a lock. */
  readonly waiting = new Set<ProcessPool>()

  constructor(url: string) {
    this.#pool = createPool({ url, logger: silentLogger })
  }

  async take(): Promise<Physical> {
    return this.#idle.pop() ?? (await this.#connect())
  }

  give(physical: Physical): void {
    this.#idle.push(physical)
  }

  /** Connections of the oracle: no scheduler delays their statements. */
  readonly beside: ConnectionPool = {
    withConnection: async (work) => {
      const physical = await this.take()
      try {
        return await work(boundConnection(physical.client, NO_LIMIT_MS))
      } finally {
        this.give(physical)
      }
    },
    ...REST,
  }

  /** Whether a session waits for a lock of another. */
  async isWaiting({ pid }: Physical): Promise<boolean> {
    const waits = 'pg_catalog.cardinality(pg_catalog.pg_blocking_pids($1)) > 0'
    return (await this.#ask(waits, pid)) === true
  }

  async lookAtBlocked(): Promise<void> {
    for (const pool of [...this.waiting]) await pool.lookAtBlocked()
  }

  async cancel({ pid }: Physical): Promise<void> {
    await this.#ask('pg_catalog.pg_cancel_backend($1)', pid)
  }

  /** The value of an expression about a session, asked by another. */
  async #ask(expression: string, pid: number): Promise<unknown> {
    const physical = await this.take()
    const { rows } = await physical.client.query<{ value: unknown }>(
      `select ${expression} as value`,
      [pid],
    )
    this.give(physical)
    return rows[0]?.value
  }

  async close(): Promise<void> {
    for (const { client } of this.#idle) await (client as unknown as pg.Client).end()
    await this.#pool.close()
  }

  async #connect(): Promise<Physical> {
    const { client: plain, prepare } = await this.#pool.another()
    await prepare(plain)
    // The scheduler decides how long a lock is waited for.
    await plain.query(
      `set search_path = simulated, pg_catalog, pg_temp; set lock_timeout = 0; set deadlock_timeout = '10min';
        set plan_cache_mode = force_generic_plan`,
    )
    const { rows } = await plain.query<{ pid: number }>('select pg_backend_pid() as pid')
    const client = Object.assign(plain, {
      pipeline: true,
      release: () => undefined,
      query: planOnce(plain.query.bind(plain)),
    })
    return { client: client as unknown as pg.PoolClient, pid: rows[0]!.pid }
  }
}

const names = new Map<string, string>()

/** A statement is planned once a connection: planning is most of what these small ones cost. */
function planOnce(query: pg.Client['query']): (text: unknown, values?: unknown[]) => unknown {
  return (text, values) => {
    if (typeof text !== 'string' || values === undefined) return query(text as string)
    const name = names.get(text) ?? `planned_${names.size}`
    names.set(text, name)
    return query({ name, text, values })
  }
}

/** A connection for one piece of work, from its first statement to its last. */
class Use {
  readonly #pool: ProcessPool
  readonly asked: Asked[] = []
  physical: Physical | undefined
  bound: BoundConnection | undefined
  event: SimulatedEvent | undefined
  lockTimeoutMs = LOCK_TIMEOUT_MS
  isLost = false
  isOver = false
  /** Its transaction has begun. */
  isBegun = false
  /** Statements that wait for a lock. */
  blocked: { readonly batch: readonly Asked[]; readonly settled: Promise<Settled> } | undefined
  gaveUp = false

  constructor(pool: ProcessPool) {
    this.#pool = pool
  }

  query = (text: string, parameters: Asked['parameters']): Promise<pg.QueryResult> => {
    if (text === 'begin') {
      this.asked.push({ text, parameters })
      return Promise.resolve(NOTHING)
    }
    return new Promise((resolve, reject) => {
      this.asked.push({ text, parameters, answer: { resolve, reject } })
      if (this.blocked === undefined) this.#pool.schedule(this)
    })
  }
}

/** The connections of one process. */
export class ProcessPool implements ConnectionPool {
  readonly #database: SimulatedDatabase
  readonly #scheduler: Scheduler
  readonly #process: SimulatedProcess
  readonly #hooks: DatabaseHooks
  readonly #uses = new Set<Use>()

  constructor(
    database: SimulatedDatabase,
    scheduler: Scheduler,
    process: SimulatedProcess,
    hooks: DatabaseHooks,
  ) {
    this.#database = database
    this.#scheduler = scheduler
    this.#process = process
    this.#hooks = hooks
  }

  withConnection: ConnectionPool['withConnection'] = async (work) => {
    const use = new Use(this)
    this.#uses.add(use)
    try {
      return await work({ query: use.query, release: () => undefined })
    } finally {
      use.isOver = true
      if (use.blocked === undefined && use.event === undefined) this.#leave(use)
    }
  }

  another = REST.another
  close = REST.close

  schedule(use: Use): void {
    if (this.#process.isGone) return
    use.event ??= this.#scheduler.add({
      at: this.#scheduler.now,
      process: this.#process,
      what: `asks the database: ${describe(use.asked)}`,
      mostMs: 4,
      happen: () => this.#execute(use),
    })
  }

  /** The server notices that the process is gone: it rolls back what is open. */
  async abandon(): Promise<void> {
    for (const use of this.#uses) {
      if (use.physical === undefined) continue
      if (use.blocked !== undefined) {
        await this.#database.cancel(use.physical)
        await use.blocked.settled
      }
      await use.physical.client.query('rollback').catch(() => undefined)
      this.#leave(use)
    }
    this.#uses.clear()
    await this.#database.lookAtBlocked()
  }

  /** After anything that may have freed a lock. */
  async lookAtBlocked(): Promise<void> {
    this.#database.waiting.delete(this)
    for (const use of this.#uses) {
      if (use.blocked === undefined) continue
      this.#database.waiting.add(this)
      await this.#awaitAnswers(use, use.blocked)
    }
  }

  #leave(use: Use): void {
    if (use.physical !== undefined) this.#database.give(use.physical)
    use.physical = undefined
    this.#uses.delete(use)
  }

  async #execute(use: Use): Promise<void> {
    use.event = undefined
    const batch = use.asked.splice(0)
    const loss = use.isLost ? undefined : this.#hooks.loses(this.#process)
    if (use.isLost || loss === 'before') {
      await this.#lose(use)
      refuse(batch)
      return
    }
    use.physical ??= await this.#database.take()
    use.bound ??= boundConnection(use.physical.client, NO_LIMIT_MS)
    // Everything in one packet.
    const { stream } = (use.physical.client as unknown as pg.Client & { connection: pg.Connection })
      .connection
    stream.cork()
    this.#tellTime(use)
    use.isBegun = batch.some(({ text }) => text === 'begin') || use.isBegun
    const { bound } = use
    const answers = batch.map(({ text, parameters }) => {
      if (text.startsWith('set local lock_timeout')) {
        use.lockTimeoutMs = Number(/\d+/.exec(text)?.[0])
        return Promise.resolve(NOTHING)
      }
      return bound.query(text, parameters)
    })
    stream.uncork()
    const settled = Promise.allSettled(answers)
    if (loss === 'after') {
      await settled
      await this.#lose(use)
      refuse(batch)
    } else await this.#awaitAnswers(use, { batch, settled })
    if (use.blocked === undefined) await this.#database.lookAtBlocked()
  }

  /** `now()` is when the transaction began. */
  #tellTime({ physical, isBegun }: Use): void {
    const time = new Date(this.#scheduler.now).toISOString()
    // In a transaction that has failed it is refused, as everything is.
    physical!.client.query(isBegun ? TELL_CLOCK : TELL_TIME, [time]).catch(() => undefined)
  }

  async #awaitAnswers(use: Use, work: NonNullable<Use['blocked']>): Promise<void> {
    const results = await this.#answersUnlessBlocked(use, work.settled)
    if (results === undefined) {
      if (use.blocked === undefined) {
        use.blocked = work
        this.#database.waiting.add(this)
        this.#scheduler.tell('waits for a lock', this.#process)
        this.#scheduler.add({
          at: this.#scheduler.now + use.lockTimeoutMs,
          process: this.#process,
          what: 'waited too long for a lock',
          mostMs: 0,
          happen: () => this.#giveUpWaiting(use, work),
        })
      }
      return
    }
    if (use.blocked !== undefined) this.#scheduler.tell('has the lock', this.#process)
    use.blocked = undefined
    this.#answer(use, work.batch, results)
  }

  async #giveUpWaiting(use: Use, work: NonNullable<Use['blocked']>): Promise<void> {
    if (use.blocked !== work || use.physical === undefined) return
    await this.#database.cancel(use.physical)
    const results = await work.settled
    use.blocked = undefined
    use.gaveUp = true
    this.#answer(use, work.batch, results)
  }

  #answer(use: Use, batch: readonly Asked[], results: Settled): void {
    const answered: Answered[] = []
    for (const [at, result] of results.entries()) {
      const { text, parameters, answer } = batch[at]!
      if (result.status === 'fulfilled') {
        answered.push({ text, parameters, rows: result.value.rows as Record<string, unknown>[] })
        answer?.resolve(result.value)
      } else {
        const error = result.reason as { code?: string }
        // The scheduler cancelled the wait: to the program it is the lock's own limit.
        if (use.gaveUp && error.code === '57014') error.code = '55P03'
        answer?.reject(error)
      }
    }
    this.#hooks.after(this.#process, answered)
    if (use.asked.length > 0) this.schedule(use)
  }

  /** Undefined while the session waits for a lock. */
  async #answersUnlessBlocked(use: Use, settled: Promise<Settled>): Promise<Settled | undefined> {
    for (;;) {
      const results = await Promise.race([settled, afterMs(5)])
      if (results !== undefined) return results
      if (await this.#database.isWaiting(use.physical!)) return undefined
    }
  }

  async #lose(use: Use): Promise<void> {
    use.isLost = true
    if (use.physical === undefined) return
    await use.physical.client.query('rollback').catch(() => undefined)
    this.#database.give(use.physical)
    use.physical = undefined
  }
}

function refuse(batch: readonly Asked[]): void {
  for (const { text, answer } of batch) {
    if (text === 'rollback') answer?.resolve(NOTHING)
    else answer?.reject(new Error('Connection terminated unexpectedly'))
  }
}

function describe(asked: readonly Asked[]): string {
  const first = asked.find(({ text }) => text !== 'begin')?.text ?? ''
  return first.slice(0, 300).replace(/\s+/g, ' ').slice(0, 90)
}

const realTimeout = globalThis.setTimeout

function afterMs(ms: number): Promise<undefined> {
  return new Promise((resolve) => realTimeout(resolve, ms, undefined))
}

/** Notes of the database since the last look. */
export async function readNotes(warehouse: Warehouse): Promise<{
  readonly wrongs: readonly string[]
  readonly tombstones: readonly Tombstone[]
}> {
  const wrongs = await warehouse.query(
    'read what went wrong',
    sql<{ what: string }>`delete from simulated.wrongs returning what`,
  )
  const tombstones = await warehouse.query(
    'read the tombstones',
    sql<Tombstone>`delete from simulated.tombstones as noted
    returning type, id, parent, (extract(epoch from marked_at) * 1000)::float8 as "markedAt",
        (select (extract(epoch from started_at) * 1000)::float8 from tracking_sync.sync_runs as run
        where run.sync_run_id = noted.sync_run_id) as "runStartedAt"`,
  )
  return { wrongs: wrongs.map(({ what }) => what), tombstones }
}

export interface Tombstone {
  readonly type: string
  readonly id: string
  readonly parent: string | null
  readonly markedAt: number
  readonly runStartedAt: number | null
}
