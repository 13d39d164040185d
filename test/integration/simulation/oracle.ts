import { sql } from 'kysely'
import { expect } from 'vitest'
import type { ResourceObject } from '../../../src/source/jsonapi/document.js'
import type { RunReport } from '../../../src/sync/run-sync.js'
import type { Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'
import { countUnlistedEvents } from '../../../src/warehouse/rows/unlisted-events.js'
import { compareWarehouse, COUNTED_TABLES, SELDOM } from '../../support/compare-warehouse.js'
import { snapshotRows, type RowSnapshot } from '../../support/snapshot-tables.js'
import { DRIFT_MARK } from './disturbances.js'
import type { Started, StormPlay } from './play-storm.js'
import { readNotes, type Answered } from './simulated-database.js'
import type { Shown } from './simulated-network.js'

const WATCHED = [
  { type: 'shipment', table: 'shipments', history: 'shipment_history', name: 'customer_name' },
  { type: 'container', table: 'containers', history: 'container_history', name: 'seal_number' },
] as const

/** Types of the lists that a checkpoint speaks of. */
const LISTED: Readonly<Record<string, string>> = {
  shipments: 'shipment',
  containers: 'container',
  tracking_requests: 'tracking_request',
}

const WRITES_ROWS = /\b(?:insert into|update|delete from|copy) "tracking"\./
const TAKES_LEASE = 'fencing_token = held.fencing_token + 1'
const PAUSES =
  /^insert into "tracking_sync"\."request_budget" as stored \(\s*account,\s*paused_until/
const MINUTE_MS = 60_000

/** Judges every moment of a storm, and the calm after it. */
export class Oracle {
  /** One sentence on each thing that did not hold. */
  readonly problems: string[] = []
  readonly #warehouse: Warehouse
  readonly #play: StormPlay
  readonly #shown: Shown[] = []
  /** By record, the values of its watched attribute that anybody was told. */
  readonly #told = new Map<string, Set<string | null>>()
  readonly #tokens = new Map<Started, number>()
  readonly #isInTransaction = new Set<Started>()
  /** Tokens of takeovers that are not committed yet. */
  readonly #taking = new Map<Started, number>()
  readonly #writing = new Set<Started>()
  readonly #pauses: { readonly from: number; readonly until: number }[] = []
  #highestToken = 0
  #reported = new Set<Started>()

  constructor(warehouse: Warehouse, play: StormPlay) {
    this.#warehouse = warehouse
    this.#play = play
  }

  noteShown(shown: Shown): void {
    this.#shown.push(shown)
    this.noteTold(shown.records)
  }

  noteTold(records: readonly ResourceObject[]): void {
    for (const { type, id, attributes } of records) {
      const watched = WATCHED.find((one) => one.type === type)
      if (watched === undefined) continue
      const values = this.#told.get(id) ?? new Set([null])
      this.#told.set(id, values.add((attributes?.[watched.name] ?? null) as string | null))
    }
  }

  /** C10: after a takeover the former holder commits nothing. */
  noteStatements(process: Started, statements: readonly Answered[]): void {
    const { now } = this.#play.scheduler
    for (const { text, rows, parameters } of statements) {
      if (PAUSES.test(text)) {
        const [, ms] = parameters as readonly unknown[]
        this.#pauses.push({ from: now, until: now + Number(ms) })
      }
      if (text.includes(TAKES_LEASE) && rows[0] !== undefined) {
        this.#taking.set(process, Number(rows[0].fencing_token))
      }
      if (text === 'begin') this.#isInTransaction.add(process)
      if (text === 'commit' || text === 'rollback') this.#isInTransaction.delete(process)
      // A takeover that was not committed took nothing.
      if (text === 'rollback') this.#taking.delete(process)
      const taken = this.#taking.get(process)
      if (taken !== undefined && !this.#isInTransaction.has(process)) {
        this.#highestToken = taken
        this.#tokens.set(process, taken)
        this.#taking.delete(process)
      }
      if (WRITES_ROWS.test(text)) this.#writing.add(process)
      if (text === 'rollback') this.#writing.delete(process)
      if (text !== 'commit' || !this.#writing.delete(process)) continue
      const token = this.#tokens.get(process) ?? Infinity
      if (token < this.#highestToken) this.problems.push(`${process.name} wrote without the lease`)
    }
  }

  /** Everything that must hold at any moment. Throws the first time that something does not. */
  async look(): Promise<void> {
    const { wrongs, tombstones } = await readNotes(this.#warehouse)
    const { service, started } = this.#play
    this.problems.push(...wrongs)
    for (const tombstone of tombstones) {
      if (service.wasGone(tombstone)) continue
      this.problems.push(`marked as gone while alive: ${JSON.stringify(tombstone)}`)
    }
    this.#lookAtBudget()
    const ended = started.filter((one) => one.hasEnded && !this.#reported.has(one))
    for (const one of ended) {
      this.#reported.add(one)
      if (one.kind === 'sync' || one.kind === 'backfill') await this.#lookAtRun(one)
    }
    if (ended.length > 0) {
      await this.#lookAtValues()
      await this.#lookAtCheckpoints()
    }
    if (this.problems.length > 0) throw new Error(this.problems.join('\n'))
  }

  /** I13, R2 and R6: all processes together, in any rolling minute, and in none that is closed. */
  #lookAtBudget(): void {
    const { perMinute, network } = this.#play
    if (perMinute === null) return
    const { sentAt } = network
    for (const { from, until } of this.#pauses) {
      const early = sentAt.find((instant) => instant > from && instant < until)
      if (early !== undefined) this.problems.push(`a request ${until - early} ms before its time`)
    }
    for (const [at, instant] of sentAt.entries()) {
      const before = sentAt[at - perMinute]
      if (before === undefined || instant - before > MINUTE_MS) continue
      this.problems.push(`${perMinute + 1} requests in ${instant - before} ms`)
      return
    }
  }

  /** I16 and I17: exit 0 means that every stream is complete, and counts add up. */
  async #lookAtRun({ name, result, lost, wasFrozen }: Started): Promise<void> {
    if (result === undefined || result instanceof Error) return
    const report = result as RunReport
    const isComplete = report.streams.every(({ outcome }) =>
      ['complete', 'not_entitled'].includes(outcome),
    )
    if ((report.exitCode === 0) !== (report.outcome === 'complete' && isComplete)) {
      this.problems.push(`${name} reports ${report.exitCode}, ${report.outcome}`)
    }
    const [row] = await this.#warehouse.query(
      'read the run',
      sql<{ code: string; outcome: string; wrong: number }>`select error_code as code, outcome,
        (select count(*)::int from tracking_sync.sync_run_streams as stream
        where stream.sync_run_id = run.sync_run_id
            and fetched != inserted + updated + unchanged + stale + duplicate + quarantined) as wrong
      from tracking_sync.sync_runs as run where sync_run_id = ${report.syncRunId}`,
    )
    if (row?.code === 'bug') this.problems.push(`${name}: ${report.problems.join('; ')}`)
    if (row?.wrong !== 0) this.problems.push(`${name}: the counts of a stream do not add up`)
    if (lost === 0 && !wasFrozen && row?.outcome !== report.outcome) {
      this.problems.push(`${name} reports ${report.outcome}, and its row ${row?.outcome}`)
    }
  }

  /** I7: every value in a row or a history was told by somebody, and none follows a later one. */
  async #lookAtValues(): Promise<void> {
    const parts = WATCHED.flatMap(({ type, table, history, name }) => [
      `select ${type}_id as id, ${name} as value, null::timestamptz as since from tracking.${table}`,
      `select ${type}_id, ${name}, valid_from from tracking.${history}`,
    ])
    const rows = await this.#warehouse.query(
      'read the watched values',
      rawStatement<{ id: string; value: string | null; since: string | null }>(
        `${parts.join(' union all ')} order by since`,
      ),
    )
    const latest = new Map<string, number>()
    for (const { id, value, since } of rows) {
      if (this.#told.get(id)?.has(value) !== true) {
        this.problems.push(`${id} has ${String(value)}, and nobody told that`)
      }
      const number = numberOf(value)
      if (since === null || number === undefined) continue
      if (number < (latest.get(id) ?? 0)) this.problems.push(`${id} has ${value} after a later one`)
      latest.set(id, Math.max(number, latest.get(id) ?? 0))
    }
  }

  /** I9: each record of the pages that a checkpoint speaks of is in the warehouse. */
  async #lookAtCheckpoints(): Promise<void> {
    // By a wrong clock nobody can tell which requests a pass has made.
    if (!this.#play.areClocksRight) return
    const checkpoints = await this.#warehouse.query(
      'read the checkpoints',
      sql<{
        stream: string
        page: number
        size: number
        query: object
        since: number
      }>`with positions as (
          select stream, position, pass_started_at from tracking_sync.checkpoints
          where pass_started_at is not null
          union all select stream, position, pass_started_at from tracking_sync.pass_positions)
      select stream, (position ->> 'page')::int as page, (position ->> 'pageSize')::int as size,
          position -> 'query' as query, extract(epoch from pass_started_at)::float8 * 1000 as since
      from positions`,
    )
    for (const { stream, page, size, query, since } of checkpoints) {
      const type = LISTED[stream]
      if (type === undefined) continue
      const pages = this.#shown.filter(
        (one) =>
          one.path === `/v2/${stream}` &&
          Number(one.query.get('page[number]')) <= page &&
          Number(one.query.get('page[size]')) === size &&
          Object.entries(query).every(([name, value]) => one.query.get(name) === value) &&
          one.sentAt >= since - 1_000,
      )
      const numbers = new Set(pages.map(({ query: asked }) => Number(asked.get('page[number]'))))
      if (numbers.size < page) {
        this.problems.push(`the checkpoint of ${stream} is past a page that nobody read`)
      }
      const ids = pages
        .flatMap(({ records }) => records.filter((one) => one.type === type && isId(one.id)))
        .map(({ id }) => id)
      const missing = await this.#warehouse.query(
        'look for what a checkpoint covers',
        rawStatement<{ id: string }>(
          `select id from unnest($1::text[]) as shown (id)
          where not exists (select from tracking.${stream} where ${type}_id = id)`,
          [ids],
        ),
      )
      for (const { id } of missing) {
        this.problems.push(`the checkpoint of ${stream} is past ${id}, and its row is missing`)
      }
    }
  }

  /** Something is left to be counted or asked for. */
  async isPending(): Promise<boolean> {
    const pending = await this.#warehouse.query(
      'look for what is left to do',
      sql`select stream from tracking_sync.absences
      union all select resource_type from tracking_sync.refetch_queue limit 1`,
    )
    return pending.length > 0
  }

  /** I5 and I6: no event is left out, and each notification was applied once. */
  async expectApplied(): Promise<void> {
    expect(await countUnlistedEvents(this.#warehouse)).toBe(0)
    const arrived = this.#play.service.made.filter(({ arrivals }) => arrivals > 0)
    const states = await this.#warehouse.query(
      'look at the inbox',
      sql<{
        id: string
        is_settled: boolean
      }>`select notification_id as id, state in ('processed', 'ignored', 'synced') and attempts = 0 as is_settled
      from tracking_sync.webhook_notifications`,
    )
    const settled = new Set(states.flatMap(({ id, is_settled }) => (is_settled ? [id] : [])))
    expect(states.filter(({ id }) => !settled.has(id))).toEqual([])
    expect(arrived.filter(({ id }) => !settled.has(id)).map(({ id }) => id)).toEqual([])
  }

  /** For I2: a sync of a quiet service writes nothing. */
  snapshot(): Promise<RowSnapshot> {
    return snapshotRows(this.#warehouse, { mayBeEmpty: true })
  }

  /**
   * I1: differences between warehouse and service. A value without a column is kept when it is
   * absent later, even if it was sent by mistake.
   */
  async differences(): Promise<string[]> {
    const { world, clock } = this.#play.service.simulator
    const count = (type: 'shipment' | 'container' | 'custom_field') =>
      [...world.records(type, clock.now())].length
    const [shipments, containers] = [count('shipment'), count('container')]
    // A storm may delete the only container of a shipment that stays.
    const shown = [
      ...(shipments > 0 ? ['shipments'] : []),
      ...(containers > 0 ? ['containers'] : []),
    ]
    const isWhole = shipments >= 4 && containers > 0
    const seldom = count('custom_field') > 0 ? SELDOM : [...SELDOM, 'custom_fields']
    const found = await compareWarehouse(this.#warehouse, world, clock.now(), {
      hasRevivedRows: true,
      mayLack: isWhole ? seldom : COUNTED_TABLES.filter((name) => !shown.includes(name)),
    })
    const kept = `_unmapped is ${JSON.stringify(DRIFT_MARK)} and should be null`
    const isRead = (line: string): boolean =>
      this.#play.hasFields || !line.startsWith('custom_field')
    return found.filter((line) => isRead(line) && !line.endsWith(kept))
  }
}

function numberOf(value: string | null): number | undefined {
  const [, digits] = /^value (\d+)$/.exec(value ?? '') ?? []
  return digits === undefined ? undefined : Number(digits)
}

function isId(id: unknown): boolean {
  return typeof id === 'string' && id !== ''
}
