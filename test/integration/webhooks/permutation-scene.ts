import { sql } from 'kysely'
import {
  createFailpoint,
  noFailpoints,
  SimulatedCrash,
  type Failpoint,
  type ReachFailpoint,
} from '../../../src/base/failpoint.js'
import { startSimulator, type Simulator } from '../../../src/extensions/simulator/server.js'
import type { Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { compareWarehouse, SELDOM } from '../../support/compare-warehouse.js'
import { runTestSync } from '../../support/run-test-sync.js'
import { notification, openBench, store, type ProcessBench } from './process-scene.js'

export interface Crash {
  readonly point: Failpoint
  readonly hit: number
}

export type Step =
  /** Something changes at the source, and a delivery is made that tells of it. */
  | {
      readonly kind: 'change'
      readonly what: number
      readonly value: number
      readonly seconds: number
      readonly shape: number
    }
  /** One of the deliveries made so far arrives, perhaps not for the first time. */
  | { readonly kind: 'arrive'; readonly which: number }
  | { readonly kind: 'process'; readonly crash: Crash | null }
  | { readonly kind: 'refetch'; readonly crash: Crash | null }
  | { readonly kind: 'sync'; readonly crash: Crash | null }

export interface History {
  readonly steps: readonly Step[]
  /** The order in which everything that was made arrives in the end. */
  readonly order: readonly number[]
  /** Every so many deliveries one never arrives; 0: all do. */
  readonly lost: number
}

const START = new Date('2026-03-02T08:00:00Z')
const WORLD = {
  seed: 7,
  shipments: 1,
  startAt: START,
  speed: 0,
  rateLimitPerMinute: null,
  extras: false,
}

const BACKUP = 'backup'

/** Fills a warehouse from the world once and keeps a copy, from which each run starts. */
export async function prepare(warehouse: Warehouse): Promise<void> {
  const simulator = await startSimulator(WORLD)
  await runTestSync({ warehouse, source: simulator })
  await simulator.close()
  await warehouse.query('prepare', sql`create schema ${sql.raw(BACKUP)}`)
  const tables = await warehouse.query(
    'prepare',
    sql<{ name: string }>`select tablename as name from pg_tables where schemaname = 'tracking'`,
  )
  for (const { name } of tables) {
    await warehouse.query(
      'prepare',
      sql`create table ${sql.raw(BACKUP)}.${sql.raw(name)} as table tracking.${sql.raw(name)}`,
    )
  }
  await warehouse.query(
    'prepare',
    sql`create function ${sql.raw(BACKUP)}.restore() returns void language plpgsql as $$
    declare
        emptied record;
        name text;
    begin
        -- Of tables with a few rows this is faster than truncate.
        for emptied in select schemaname, tablename from pg_tables
            where schemaname in ('tracking', 'tracking_sync') and tablename not in ('migrations', 'installed_views')
            order by tablename
        loop
            execute format('delete from %I.%I', emptied.schemaname, emptied.tablename);
        end loop;
        for name in select tablename from pg_tables where schemaname = '${sql.raw(BACKUP)}' loop
            execute format('insert into tracking.%I table ${sql.raw(BACKUP)}.%I', name, name);
        end loop;
    end $$`,
  )
}

/** One history, and everything that must hold during and after it: what does not, as sentences. */
export async function playHistory(warehouse: Warehouse, history: History): Promise<string[]> {
  await warehouse.query('restore', sql`select ${sql.raw(BACKUP)}.restore()`)
  const simulator = await startSimulator(WORLD)
  const player = new Player(warehouse, simulator)
  try {
    for (const step of history.steps) await player.play(step)
    await player.finish(history)
    return player.problems
  } finally {
    await player.close()
    await simulator.close()
  }
}

class Player {
  readonly problems: string[] = []
  readonly #warehouse: Warehouse
  readonly #simulator: Simulator
  readonly #bench: ProcessBench
  readonly #deliveries: unknown[] = []
  readonly #observed = new Map<string, string>()
  #failpoint: ReachFailpoint = noFailpoints
  /** The last sync did not come to its end. */
  #isCutOff = false

  constructor(warehouse: Warehouse, simulator: Simulator) {
    this.#warehouse = warehouse
    this.#simulator = simulator
    this.#bench = openBench(warehouse, simulator, {
      reachFailpoint: (point) => {
        this.#failpoint(point)
      },
    })
  }

  async play(step: Step): Promise<void> {
    switch (step.kind) {
      case 'change':
        this.#change(step)
        return
      case 'arrive': {
        const { length } = this.#deliveries
        if (length > 0) await store(this.#warehouse, this.#deliveries[step.which % length])
        return
      }
      case 'process':
        await this.#orCrash(step.crash, () => this.#bench.processor.processAll())
        break
      case 'refetch':
        this.#simulator.clock.advance(500)
        await this.#orCrash(step.crash, () => this.#bench.reader.readDue())
        break
      case 'sync':
        this.#simulator.clock.advance(1_000)
        this.#isCutOff = true
        await this.#orCrash(step.crash, async () => {
          await this.#sync()
          this.#isCutOff = false
        })
        break
      default:
        step satisfies never
    }
    await this.#lookAtStamps()
  }

  async finish({ order, lost }: History): Promise<void> {
    const isLost = (at: number): boolean => lost > 0 && at % lost === 0
    const rest = this.#deliveries
      .map((delivery, at) => ({ delivery, at, rank: order[at] ?? at }))
      .filter(({ at }) => !isLost(at))
      .sort((one, two) => one.rank - two.rank)
    for (const { delivery, at } of rest) {
      await store(this.#warehouse, delivery)
      // One by one, or some of them together.
      if ((order[at] ?? 0) % 3 > 0) await this.#bench.processor.processBatch()
    }
    this.#simulator.clock.advance(1_000)
    await this.#bench.settle()
    await this.#lookAtStamps()
    if (lost === 0) this.problems.push(...(await this.#differences('before the last sync')))
    // A sync that goes on where one was cut off does not read again what that one had read: it is
    // the next that sees everything.
    for (let left = this.#isCutOff ? 2 : 1; left > 0; left -= 1) {
      this.#simulator.clock.advance(1_000)
      const { exitCode } = await this.#sync()
      if (exitCode !== 0) this.problems.push(`a sync in the end ended with ${exitCode}`)
    }
    await this.#bench.settle()
    await this.#lookAtStamps()
    this.problems.push(...(await this.#differences('in the end')))
    await this.#lookAtInbox()
  }

  close(): Promise<void> {
    return this.#bench.close()
  }

  #sync() {
    return runTestSync({
      warehouse: this.#warehouse,
      source: this.#simulator,
      command: 'sync',
      reachFailpoint: (point) => {
        this.#failpoint(point)
      },
    })
  }

  #change({ what, value, seconds, shape }: Extract<Step, { kind: 'change' }>): void {
    const { edits, world, clock } = this.#simulator
    clock.advance(seconds * 1_000)
    const containers = [...world.records('container', clock.now())].slice(0, 2)
    const id = containers[what % containers.length]?.id ?? ''
    const events = world.transportEventsOf(id, clock.now())
    switch (value) {
      case 0:
        edits.addHold(id, { name: 'audit', status: 'hold', description: `hold ${seconds}` })
        break
      case 1:
        edits.clearHold(id, 'audit')
        break
      case 2:
        if (events.length > 2) edits.withdrawEvent(id, events[seconds]?.id ?? '')
        break
      case 3:
        edits.change('container', id, { pickup_lfd: seconds > 1 ? null : '2026-03-09T08:00:00Z' })
        break
      default:
        // Few values, so that what was comes back.
        edits.change('container', id, { seal_number: value % 2 === 0 ? null : `seal ${value % 3}` })
    }
    const container = world.record('container', id, clock.now())
    const now = world.transportEventsOf(id, clock.now())
    const included =
      [[container], [container, ...now], [container, now[0]], [container], []][shape] ?? []
    this.#deliveries.push(
      notification({
        id: `notification-${this.#deliveries.length}`,
        createdAt: clock.now(),
        about: { type: 'container', id },
        included: included.filter((record) => record !== undefined),
      }),
    )
  }

  async #orCrash(crash: Crash | null, work: () => Promise<unknown>): Promise<void> {
    if (crash !== null) {
      this.#failpoint = createFailpoint(`${crash.point}:${crash.hit}`, () => {
        throw new SimulatedCrash(crash.point)
      })
    }
    try {
      await work()
    } catch (thrown) {
      if (!(thrown instanceof SimulatedCrash)) throw thrown
      // As if the minute had passed after which a silent holder is taken over.
      await this.#warehouse.query('drop the lease', sql`delete from tracking_sync.lease`)
      await this.#warehouse.query(
        'end the claims',
        sql`update tracking_sync.refetch_queue set claimed_until = null where claimed_until is not null`,
      )
    } finally {
      this.#failpoint = noFailpoints
    }
  }

  /** I4: no row goes backwards. */
  async #lookAtStamps(): Promise<void> {
    const rows = await this.#warehouse.query(
      'look at the stamps',
      sql<{
        key: string
        observed: string
      }>`select 'container ' || container_id as key, _observed_at as observed from tracking.containers
      union all select 'shipment ' || shipment_id, _observed_at from tracking.shipments
      union all select 'event ' || transport_event_id, _observed_at from tracking.transport_events`,
    )
    for (const { key, observed } of rows) {
      const before = this.#observed.get(key)
      if (before !== undefined && Date.parse(observed) < Date.parse(before)) {
        this.problems.push(`${key} went back from ${before} to ${observed}`)
      }
      this.#observed.set(key, observed)
    }
  }

  async #differences(when: string): Promise<string[]> {
    const { world, clock } = this.#simulator
    const found = await compareWarehouse(this.#warehouse, world, clock.now(), {
      mayLack: SELDOM,
    })
    return found.map((difference) => `${when}: ${difference}`)
  }

  /** I5, I6: every delivery that arrived is processed, once. */
  async #lookAtInbox(): Promise<void> {
    const open = await this.#warehouse.query(
      'look at the inbox',
      sql`select notification_id from tracking_sync.webhook_notifications where state != 'processed' or attempts > 0`,
    )
    const queue = await this.#warehouse.query(
      'look at the queue',
      sql`select resource_type from tracking_sync.refetch_queue`,
    )
    if (open.length > 0) this.problems.push(`${open.length} notifications are not processed`)
    if (queue.length > 0) this.problems.push(`${queue.length} refetches are left`)
  }
}
