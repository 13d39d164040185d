import { inject } from 'vitest'
import { startSimulator, type Simulator } from '../../../src/extensions/simulator/server.js'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'
import type { Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { runTestSync } from '../run-test-sync.js'
import { holdOldest } from '../small-world.js'
import { openLoadedWarehouse } from './loaded-worlds.js'

const DAY = 86_400_000
/** Until now: questions count days from now. */
const WEEK_DAYS = 7

/** A service with sixty shipments after a week, and a warehouse that has followed it. */
export interface LoadedWeek {
  readonly simulator: Simulator
  readonly warehouse: Warehouse
  readonly url: string
  /** Of the syncs, by the clock of the service, the last one at its present. */
  readonly instants: readonly string[]
  sync(): Promise<void>
  query<Result = Record<string, unknown>>(
    sqlText: string,
    ...parameters: unknown[]
  ): Promise<Result[]>
  close(): Promise<void>
}

/** Opens the week in a database of the caller's own; see `openLoadedWarehouse`. */
export async function openLoadedWeek(): Promise<LoadedWeek> {
  const { warehouse, url, drop } = await openLoadedWarehouse('a week of sixty', async (target) => {
    const { simulator } = await playWeek(async (source) => {
      await runTestSync({ warehouse: target, source, command: 'sync' })
    })
    await simulator.close()
    // The server does it sooner or later: without it some answers take ten times as long.
    await target.query('analyze', rawStatement('analyze'))
  })
  const { simulator, instants } = await playWeek(() => Promise.resolve())
  return {
    simulator,
    warehouse,
    url,
    instants,
    sync: async () => {
      await runTestSync({ warehouse, source: simulator, command: 'sync' })
    },
    query: (sqlText, ...parameters) =>
      warehouse.query('look at the rows', rawStatement(sqlText, [...parameters])),
    close: async () => {
      await simulator.close()
      await drop()
    },
  }
}

/** The same week each time: holds come, a fee grows, and at its end a last free day has passed. */
async function playWeek(
  look: (simulator: Simulator) => Promise<void>,
): Promise<{ simulator: Simulator; instants: string[] }> {
  const startAt = new Date(Date.parse(inject('startedAt')) - WEEK_DAYS * DAY)
  const simulator = await startSimulator({
    seed: 7,
    shipments: 60,
    startAt,
    speed: 0,
    rateLimitPerMinute: null,
  })
  const { clock, edits, world } = simulator
  holdOldest(simulator)
  await look(simulator)
  const instants = [clock.now().toISOString()]
  for (let day = 0; day < WEEK_DAYS; day += 1) {
    clock.advance(DAY)
    const [one, other] = world.page('container', day, 2, clock.now())
    edits.addHold(one!.id, { name: 'customs', status: 'hold', description: null })
    edits.change('container', other!.id, {
      fees_at_pod_terminal: [{ type: 'demurrage', amount: 150 * (day + 1), currency_code: 'USD' }],
    })
    if (day === WEEK_DAYS - 1) overdueOne(simulator)
    await look(simulator)
    instants.push(clock.now().toISOString())
  }
  return { simulator, instants }
}

/** A container that waits too long at its port: some weeks have none by themselves. */
function overdueOne({ clock, edits, world }: Simulator): void {
  const now = clock.now()
  const waiting = [...world.records('container', now)].find(
    ({ attributes: a }) =>
      a!.pod_discharged_at !== null &&
      a!.pod_full_out_at === null &&
      a!.pod_rail_loaded_at === null,
  )
  const day = new Date(now.getTime() - 2 * DAY).toISOString()
  edits.change('container', waiting!.id, { import_deadlines: { pickup_lfd_line: day } })
}
