import { LeaseHeldError, ConnectorError } from '../../../src/base/errors.js'
import {
  createFailpoint,
  noFailpoints,
  SimulatedCrash,
  type ReachFailpoint,
} from '../../../src/base/failpoint.js'
import type { FaultScript } from '../../../src/extensions/simulator/faults/faults.js'
import { silentLogger } from '../../../src/base/logger.js'
import { createSleep } from '../../../src/base/retry.js'
import { ApiClient } from '../../../src/source/client/client.js'
import {
  createTrackingService,
  type TrackingService,
} from '../../../src/source/client/endpoints.js'
import type { ResourceObject } from '../../../src/source/jsonapi/document.js'
import { runSync } from '../../../src/sync/run-sync.js'
import { createWarehouse, type Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { createSharedRequestBudget } from '../../../src/warehouse/coordination/shared-budget.js'
import { reconcile } from '../../../src/webhooks/manage/reconcile.js'
import { NotificationProcessor } from '../../../src/webhooks/process/process-notifications.js'
import { RefetchWorker } from '../../../src/webhooks/process/refetch-worker.js'
import {
  startProcessor,
  type RunningProcessor,
} from '../../../src/webhooks/process/run-processor.js'
import { expect } from 'vitest'
import { unlimitedBudget } from '../../support/unlimited-budget.js'
import { OWN_WEBHOOK, store } from '../webhooks/process-scene.js'
import { disturb } from './disturbances.js'
import { Oracle } from './oracle.js'
import { runAs, Scheduler, type SimulatedProcess } from './scheduler.js'
import { ProcessPool, type DatabaseHooks, type SimulatedDatabase } from './simulated-database.js'
import { SimulatedNetwork, type OddAnswer } from './simulated-network.js'
import { SimulatedService } from './simulated-service.js'
import type { Kill, Step, Storm } from './storm.js'

export const START = new Date('2026-03-02T08:00:00Z')
/** Options of every process; its pool knows the address. */
export const WAREHOUSE = { url: '', schema: 'tracking', logger: silentLogger }

/** A process that was started, and what became of it. */
export interface Started extends SimulatedProcess {
  readonly kind: Step['do'] | 'quiet'
  isKilled: boolean
  hasEnded: boolean
  /** Losses of its connections, still to come and met. */
  readonly losses: ('before' | 'after')[]
  lost: number
  wasFrozen: boolean
  result?: unknown
  abandon: () => Promise<void>
}

type Handle = ReturnType<FaultScript['add']>

interface Tools {
  readonly warehouse: Warehouse
  readonly service: TrackingService
  readonly reachFailpoint: ReachFailpoint
  readonly process: Started
}

/** How often something of a kind really happened. */
export type Hits = ReadonlyMap<string, number>

/** A seed counts for these: events overtake each other in every one. */
export function countedHits(hits: Hits): number {
  return [...hits].reduce((sum, [kind, times]) => (kind === OVERTAKINGS ? sum : sum + times), 0)
}

const OVERTAKINGS = 'reordering: event'
const NO_SIGNAL = new AbortController().signal
/** Longer than any clock is wrong, and than anything waits that was tried a few times. */
const LONG_MS = 3 * 3_600_000
const ALL_CONTAINERS = 1_000
const MOST_QUIET_SYNCS = 4
const SETTINGS = { pageSize: 100, vesselPositions: false }
const OWN = { url: undefined, ids: [OWN_WEBHOOK] }

/** One storm over one warehouse, and the calm after it. */
export class StormPlay {
  readonly scheduler: Scheduler
  readonly network: SimulatedNetwork
  readonly service: SimulatedService
  readonly oracle: Oracle
  readonly started: Started[] = []
  readonly hasFields: boolean
  /** Of all processes together; null: no limit. */
  perMinute: number | null
  readonly #storm: Storm
  readonly #database: SimulatedDatabase
  readonly #hits = new Map<string, number>()
  /** Neither ours nor the service's was ever wrong. */
  areClocksRight = true
  readonly #serving = new Map<Started, RunningProcessor>()
  /** Faults of the service: handles that say how often each was met. */
  readonly #faults: { readonly kind: string; readonly handle: Handle; readonly of?: Started }[] = []
  #clockOffsetMs = 0

  constructor(
    storm: Storm,
    database: SimulatedDatabase,
    observer: Warehouse,
    simulator: ConstructorParameters<typeof SimulatedService>[0],
  ) {
    this.#storm = storm
    this.#database = database
    this.perMinute = storm.perMinute
    this.hasFields = storm.world.hasFields ?? true
    this.scheduler = new Scheduler({
      seed: storm.schedule,
      startAt: START,
      onLastEvent: (process) => {
        this.#kill(process as Started)
      },
    })
    this.service = new SimulatedService(simulator, this.scheduler)
    this.oracle = new Oracle(observer, this)
    this.network = new SimulatedNetwork({
      simulator,
      hasFields: this.hasFields,
      scheduler: this.scheduler,
      notifications: () =>
        this.service.made.map(({ about, body, arrivals }) => ({
          record: (body as { readonly data: ResourceObject }).data,
          about,
          isFailed: arrivals === 0,
        })),
      onShown: (shown) => {
        this.oracle.noteShown(shown)
      },
      onOdd: (kind) => {
        this.#hit(`fault: ${kind}`)
      },
    })
  }

  /** Throws when something does not hold that must. */
  async play(): Promise<Hits> {
    let last: Started | undefined
    for (const step of this.#storm.steps) {
      await this.#wait(step.wait ?? null, last)
      this.scheduler.tell(`-- ${JSON.stringify(step)}`)
      const begun = this.#begin(step)
      if (begun !== undefined && begun.kind !== 'serve') last = begun
      await this.oracle.look()
    }
    await this.#calmDown()
    await this.oracle.look()
    const hits = this.#countHits()
    await this.#converge()
    return hits
  }

  /** Ends what a failure left. */
  async end(): Promise<void> {
    for (const process of this.started) {
      process.isGone = true
      await process.abandon()
    }
  }

  async #wait(ms: number | null, last: Started | undefined): Promise<void> {
    let isOver = false
    if (ms !== null) {
      this.scheduler.add({
        at: this.scheduler.now + ms,
        what: 'the next step',
        mostMs: 0,
        happen: () => {
          isOver = true
        },
      })
    }
    await this.scheduler.runUntil(() => isOver || (ms === null && last?.hasEnded !== false))
  }

  #begin(step: Step): Started | undefined {
    switch (step.do) {
      case 'sync':
      case 'backfill':
        return this.#run(step)
      case 'process':
        return this.#start(step.do, step.kill, (tools) => this.#processor(tools).processAll())
      case 'refetch':
        return this.#start(step.do, step.kill, (tools) => this.#refetcher(tools).readDue())
      case 'serve':
        return this.#serve(step.kill)
      case 'reconcile':
        return this.#start(step.do, step.kill, (tools) =>
          reconcile({ ...this.#parts(tools), settings: { ...SETTINGS, ...OWN, events: [] } }),
        )
      case 'tell':
        this.service.tell(step.at, step.shape)
        this.oracle.noteTold(this.service.made.at(-1)?.included ?? [])
        break
      case 'arrive':
        return this.#deliver(step.which, step.kill)
      case 'fault': {
        const { fault, after, times } = step
        if (isOdd(fault)) {
          this.network.odd.push({ kind: fault.kind, times })
          break
        }
        const kind = 'status' in fault ? `status ${fault.status}` : fault.kind
        const handle = this.service.simulator.faults.add({ fault, after, times })
        this.#faults.push({ kind, handle })
        break
      }
      case 'clock':
        this.#hit(`clock step: ${step.whose}`)
        this.areClocksRight = false
        if (step.whose === 'ours') this.#clockOffsetMs += step.byMs
        else this.network.skewMs += step.byMs
        for (const process of this.#alive()) process.clockOffsetMs = this.#clockOffsetMs
        break
      case 'freeze': {
        const frozen = this.#pickAlive(step.which)
        if (frozen !== undefined) this.#freeze(frozen, step.seconds)
        break
      }
      case 'lose':
        this.#pickAlive(step.which)?.losses.push(step.when)
        break
      case 'change':
      case 'clear':
      case 'delete':
      case 'revive':
      case 'withdraw':
      case 'changeEvent':
      case 'hold':
      case 'release':
      case 'insert':
      case 'advance':
        this.service.change(step)
    }
    return undefined
  }

  #run(step: Extract<Step, { do: 'sync' | 'backfill' }>): Started {
    const { pageSize, checks, fullSyncHours = 0, disturbance } = step
    const settings = { ...SETTINGS, pageSize, transportEventChecksPerSync: checks, fullSyncHours }
    const started = this.#start(step.do, step.kill, (tools) =>
      runSync(step.do, { ...this.#parts(tools), settings }),
    )
    if (disturbance.kind === 'skew') this.areClocksRight = false
    const handle = disturb(this.service.simulator, disturbance)
    if (handle !== undefined) this.#faults.push({ kind: disturbance.kind, handle, of: started })
    return started
  }

  #serve(kill: Kill | null): Started {
    return this.#start('serve', kill, async (tools) => {
      const settings = { ...SETTINGS, own: OWN, refetchDelayMs: 5_000 }
      const serving = startProcessor({ ...this.#parts(tools), settings, pollMs: 15_000 })
      this.#serving.set(tools.process, serving)
      await new Promise(() => undefined)
    })
  }

  #deliver(which: number, kill: Kill | null): Started | undefined {
    const { made } = this.service
    const delivered = made[which % Math.max(1, made.length)]
    if (delivered === undefined) return undefined
    if (delivered.arrivals > 0) this.#hit('reordering: notification again')
    if (delivered !== made.at(-1)) this.#hit('reordering: notification')
    return this.#start('arrive', kill, async ({ warehouse, reachFailpoint }) => {
      reachFailpoint('delivery_received')
      await store(warehouse, delivered.body)
      delivered.arrivals += 1
    })
  }

  /** Dependencies of every kind of work. */
  #parts({ service, warehouse, reachFailpoint }: Tools) {
    return {
      service,
      warehouse,
      reachFailpoint,
      settings: SETTINGS,
      logger: silentLogger,
      sleep: createSleep(),
      signal: NO_SIGNAL,
      programVersion: 'simulated',
    }
  }

  #processor(tools: Tools): NotificationProcessor {
    const settings = { own: OWN, refetchDelayMs: 0 }
    return new NotificationProcessor({ ...this.#parts(tools), settings })
  }

  #refetcher(tools: Tools): RefetchWorker {
    return new RefetchWorker({ ...this.#parts(tools), refetchDelayMs: 0 })
  }

  #start(
    kind: Started['kind'],
    kill: Kill | null,
    work: (tools: Tools) => Promise<unknown>,
  ): Started {
    const process: Started = {
      kind,
      name: `${kind} ${this.started.length + 1}`,
      isGone: false,
      isKilled: false,
      hasEnded: false,
      frozenUntil: 0,
      clockOffsetMs: this.#clockOffsetMs,
      eventsLeft: kill !== null && 'events' in kill ? kill.events : Infinity,
      losses: [],
      lost: 0,
      wasFrozen: false,
      abandon: () => Promise.resolve(),
    }
    this.started.push(process)
    const reachFailpoint =
      kill === null || !('point' in kill)
        ? noFailpoints
        : createFailpoint(`${kill.point}:${kill.hit}`, () => {
            if (kill.seconds !== undefined) {
              this.#freeze(process, kill.seconds)
              return
            }
            this.#kill(process)
            throw new SimulatedCrash(kill.point)
          })
    const pool = new ProcessPool(this.#database, this.scheduler, process, this.#hooks())
    process.abandon = () => pool.abandon()
    const warehouse = createWarehouse({ ...WAREHOUSE, pool })
    const end = (result: unknown): void => {
      this.#end(process, result)
    }
    runAs(this.scheduler, process, () =>
      work({ warehouse, process, reachFailpoint, service: this.#connect(process, warehouse) }),
    ).then(end, end)
    return process
  }

  #connect(process: Started, warehouse: Warehouse): TrackingService {
    const { scheduler, service, network } = this
    const clock = (): Date => new Date(scheduler.now + process.clockOffsetMs)
    const client = new ApiClient({
      baseUrl: service.simulator.url,
      apiKey: service.simulator.apiKey,
      logger: silentLogger,
      clock,
      sleep: createSleep(),
      random: () => scheduler.dice.fraction(),
      budget:
        this.perMinute === null
          ? unlimitedBudget
          : createSharedRequestBudget({
              warehouse,
              account: 'one account',
              perMinute: this.perMinute,
              sleep: createSleep(),
              clock,
            }),
      open: () => network,
      databaseNow: () => Promise.resolve(new Date(scheduler.now)),
    })
    return createTrackingService(client)
  }

  #hooks(): DatabaseHooks {
    return {
      after: (process, statements) => {
        this.oracle.noteStatements(process as Started, statements)
      },
      loses: (process) => {
        const started = process as Started
        const loss = started.losses.shift()
        if (loss === undefined) return undefined
        started.lost += 1
        this.#hit(`fault: connection lost ${loss} a statement`)
        return loss
      },
    }
  }

  #freeze(process: Started, seconds: number): void {
    this.#hit('fault: frozen process')
    process.wasFrozen = true
    process.frozenUntil = this.scheduler.now + seconds * 1_000
  }

  #kill(process: Started): void {
    if (process.isGone) return
    process.isKilled = true
    this.#leave(process)
    this.#hit(`kill: ${process.kind}`)
    this.scheduler.add({
      at: this.scheduler.now,
      what: `the connections of ${process.name} end`,
      mostMs: 0,
      happen: () => process.abandon(),
    })
  }

  #end(process: Started, result: unknown): void {
    if (process.isKilled) return
    process.result = result
    this.#leave(process)
    const shown = result instanceof Error ? `${result.name}: ${result.message}` : 'well'
    this.scheduler.tell(`ended: ${shown.slice(0, 200)}`, process)
    if (!(result instanceof Error) || isExpected(process, result)) return
    this.oracle.problems.push(`${process.name} threw ${result.stack ?? result.message}`)
  }

  #leave(process: Started): void {
    process.hasEnded = process.isGone = true
    this.scheduler.removeOf(process)
    for (const { handle, of } of this.#faults) {
      if (of === process) handle.remove()
    }
  }

  /** Faults end, clocks are put right, and every process comes to its own end. */
  async #calmDown(): Promise<void> {
    this.scheduler.tell('-- the storm is over')
    this.service.simulator.faults.clear()
    this.network.odd.length = 0
    this.network.skewMs = this.#clockOffsetMs = 0
    for (const process of this.#alive()) {
      process.clockOffsetMs = 0
      process.losses.length = 0
      process.eventsLeft = Infinity
    }
    await this.scheduler.runUntil(() => this.#alive().every(({ kind }) => kind === 'serve'))
    for (const [process, serving] of this.#serving) {
      if (process.isGone) continue
      const stopped = runAs(this.scheduler, process, () => serving.stop())
      void stopped.then(() => {
        this.#end(process, undefined)
      })
    }
    await this.scheduler.runUntil(() => this.#alive().length === 0)
    this.perMinute = null
  }

  /**
   * Once the source is quiet, at most four syncs make the warehouse equal to it: the third may ask for
   * a deleted row, and then leaves the check of events to the next. From then on a sync writes
   * nothing.
   */
  async #converge(): Promise<void> {
    this.service.advance(LONG_MS)
    await this.#quietly(async (tools) => {
      // Some come late, and some never.
      const late = this.service.made.filter(({ arrivals }, at) => arrivals === 0 && at % 3 > 0)
      await store(tools.warehouse, ...late.map(({ body }) => body))
      for (const one of late) one.arrivals += 1
      const processor = this.#processor(tools)
      const refetcher = this.#refetcher(tools)
      for (;;) {
        const { taken } = await processor.processAll()
        if (taken + (await refetcher.readDue()) === 0) return
      }
    })
    let differences: readonly string[]
    let syncs = 0
    do {
      await this.#syncQuietly()
      differences = await this.oracle.differences()
      syncs += 1
    } while (
      syncs < MOST_QUIET_SYNCS &&
      (differences.length > 0 || (await this.oracle.isPending()))
    )
    expect(differences).toEqual([])
    await this.oracle.expectApplied()
    const before = await this.oracle.snapshot()
    await this.#syncQuietly()
    const after = await this.oracle.snapshot()
    // Of all tables a message would show the first lines.
    const changed = Object.keys(before).filter((table) => after[table] !== before[table])
    expect(changed.map((table) => `${table}: ${before[table]} → ${after[table]}`)).toEqual([])
    await this.oracle.look()
  }

  async #syncQuietly(): Promise<void> {
    this.service.advance(60_000)
    const settings = { ...SETTINGS, transportEventChecksPerSync: ALL_CONTAINERS }
    const report = await this.#quietly((tools) =>
      runSync('sync', { ...this.#parts(tools), settings }),
    )
    expect(report).toMatchObject({ outcome: 'complete', exitCode: 0, problems: [] })
  }

  async #quietly(work: (tools: Tools) => Promise<unknown>): Promise<unknown> {
    const process = this.#start('quiet', null, work)
    await this.scheduler.runUntil(() => process.hasEnded)
    return process.result
  }

  #alive(): Started[] {
    return this.started.filter(({ isGone }) => !isGone)
  }

  #pickAlive(which: number): Started | undefined {
    // A run is what most depends on it.
    const alive = this.#alive().sort((one, other) => isRun(other) - isRun(one))
    return alive[which % Math.max(1, alive.length)]
  }

  #hit(kind: string, times = 1): void {
    if (times > 0) this.#hits.set(kind, (this.#hits.get(kind) ?? 0) + times)
  }

  #countHits(): Hits {
    for (const { kind, handle } of this.#faults) this.#hit(`fault: ${kind}`, handle.played)
    this.#hit(OVERTAKINGS, this.scheduler.overtakings)
    return this.#hits
  }
}

function isRun({ kind }: Started): number {
  return kind === 'sync' || kind === 'backfill' ? 1 : 0
}

function isOdd(fault: Extract<Step, { do: 'fault' }>['fault']): fault is Pick<OddAnswer, 'kind'> {
  return fault.kind === 'repeated' || fault.kind === 'omitted'
}

/** Another run holds the lease, or the database or the service failed for too long. */
function isExpected({ kind, lost, wasFrozen }: Started, thrown: Error): boolean {
  if (thrown instanceof LeaseHeldError) return kind === 'sync' || kind === 'backfill'
  if (!(thrown instanceof ConnectorError)) return false
  if (thrown.code.startsWith('api_')) return true
  return lost > 0 || wasFrozen || thrown.code === 'warehouse_conflict'
}
