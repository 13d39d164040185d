import fc from 'fast-check'
import { SYNC_FAILPOINTS, type Failpoint } from '../../../src/base/failpoint.js'
import { DEFAULT_INCLUDES } from '../../../src/extensions/simulator/interface/included-records.js'
import type { Fault } from '../../../src/extensions/simulator/faults/faults.js'
import { disturbances, type Disturbance } from './disturbances.js'

/** All that a seed chooses, as plain data: it can be printed, shrunk and played again. */
export interface Storm {
  /** Seed of the order of events that are ready, and of their length. */
  readonly schedule: number
  readonly world: {
    readonly seed: number
    readonly shipments: number
    /** Includes of the lists of shipments, and of containers. */
    readonly includes: readonly string[]
    readonly containerIncludes?: readonly string[]
    /** The account may read custom fields and the catalogue of events. */
    readonly hasFields?: boolean
  }
  /** Requests per minute of all processes together; null: no limit. */
  readonly perMinute: number | null
  readonly steps: readonly Step[]
}

/**
 * How a process dies: at a point of its work, or after so many events. With `seconds` its machine is
 * suspended at that point for so long instead.
 */
export type Kill =
  | { readonly point: Failpoint; readonly hit: number; readonly seconds?: number }
  | { readonly events: number }

interface RunStep {
  readonly do: 'sync' | 'backfill'
  readonly pageSize: number
  /** Containers whose transport events a sync reads again to be sure. */
  readonly checks: number
  readonly fullSyncHours?: number
  /** Of the service, while this run goes on. */
  readonly disturbance: Disturbance
  readonly kill: Kill | null
}

export type Step = (
  | Change
  | RunStep
  /** Processes beside the runs. `serve` goes on until the storm is over or it is killed. */
  | { readonly do: 'process' | 'refetch' | 'serve' | 'reconcile'; readonly kill: Kill | null }
  /** The service makes a notification about a container: as it is, or without content. */
  | { readonly do: 'tell'; readonly at: number; readonly shape: number }
  /** One of the notifications made so far is delivered, perhaps not for the first time. */
  | { readonly do: 'arrive'; readonly which: number; readonly kill: Kill | null }
  /** The next answers of the service, after some good ones. */
  | {
      readonly do: 'fault'
      readonly fault: Fault | { readonly kind: 'repeated' | 'omitted' }
      readonly after: number
      readonly times: number
    }
  | { readonly do: 'clock'; readonly whose: 'ours' | 'the service’s'; readonly byMs: number }
  /** The machine of one of the processes is suspended. */
  | { readonly do: 'freeze'; readonly which: number; readonly seconds: number }
  /** A connection to the database is lost: with the statement, or with its answer. */
  | { readonly do: 'lose'; readonly which: number; readonly when: 'before' | 'after' }
) & {
  /** Milliseconds since the step before; null: that step's process has ended. */
  readonly wait?: number | null
}

/** Something changes at the source. `at` and `event` count records and start over after the last. */
export type Change =
  | { readonly do: 'change'; readonly type: 'shipment' | 'container'; readonly at: number }
  | { readonly do: 'clear'; readonly type: 'shipment' | 'container'; readonly at: number }
  | { readonly do: 'delete'; readonly type: string; readonly at: number }
  | { readonly do: 'revive'; readonly at: number }
  | { readonly do: 'withdraw' | 'changeEvent'; readonly at: number; readonly event: number }
  | { readonly do: 'hold' | 'release'; readonly at: number; readonly name: string }
  | { readonly do: 'insert'; readonly shipments: number }
  | { readonly do: 'advance'; readonly seconds: number }

const REFERENCES = [
  'port_of_lading',
  'port_of_discharge',
  'pod_terminal',
  'destination',
  'destination_terminal',
  'containers.pickup_facility',
]
const EVENTS = ['containers.transport_events', 'containers.transport_events.vessel']

const at = fc.nat(9)
const type = fc.constantFrom('shipment' as const, 'container' as const)

/** A step of one of the names. */
function act<const Name extends string, Fields extends object>(
  names: readonly Name[],
  fields: { readonly [Field in keyof Fields]: fc.Arbitrary<Fields[Field]> },
): fc.Arbitrary<{ readonly do: Name } & Fields> {
  return fc.record({ do: fc.constantFrom(...names), ...fields }) as never
}

function times<Chosen>(weight: number, arbitrary: fc.Arbitrary<Chosen>) {
  return { weight, arbitrary }
}

function kills(points: readonly Failpoint[], mostEvents: number): fc.Arbitrary<Kill | null> {
  return fc.oneof(
    fc.constant(null),
    fc.record({ point: fc.constantFrom(...points), hit: fc.integer({ min: 1, max: 4 }) }),
    fc.record({ events: fc.integer({ min: 1, max: mostEvents }) }),
  )
}

const changes: fc.Arbitrary<Change> = fc.oneof(
  times(3, act(['change'], { type, at })),
  act(['clear'], { type, at }),
  act(['delete'], { type: fc.constantFrom('shipment', 'container', 'tracking_request'), at }),
  act(['revive'], { at: fc.nat(3) }),
  act(['withdraw', 'changeEvent'], { at, event: at }),
  act(['hold', 'release'], { at, name: fc.constantFrom('customs', 'freight') }),
  act(['insert'], { shipments: fc.constantFrom(1, 2) }),
  act(['advance'], { seconds: fc.constantFrom(1, 60, 3_600, 26 * 3_600) }),
)

const runs: fc.Arbitrary<RunStep> = act(['sync', 'sync', 'backfill'], {
  pageSize: fc.constantFrom(1, 2, 3, 100),
  checks: fc.constantFrom(0, 1, 3),
  fullSyncHours: fc.constantFrom(0, 0, 24),
  disturbance: disturbances,
  kill: kills(SYNC_FAILPOINTS, 150),
})

const faults: fc.Arbitrary<Step> = act(['fault'], {
  fault: fc.constantFrom<Fault | { kind: 'repeated' | 'omitted' }>(
    { kind: 'status', status: 500 },
    { kind: 'status', status: 503 },
    { kind: 'status', status: 429, headers: { 'retry-after': '7' } },
    { kind: 'status', status: 429 },
    { kind: 'drop' },
    { kind: 'cut', afterBytes: 200 },
    { kind: 'hang', phase: 'beforeHeaders' },
    { kind: 'html' },
    { kind: 'empty' },
    { kind: 'errorsUnder200' },
    { kind: 'repeated' },
    { kind: 'omitted' },
  ),
  after: fc.nat(3),
  times: fc.constantFrom(1, 1, 2, 4),
})

const waits = fc.constantFrom(0, 0, 50, 400, 400, 2_000, 20_000)

const steps: fc.Arbitrary<Step> = fc.oneof(
  times<Step>(7, changes),
  times<Step>(1, runs),
  times(8, faults),
  times<Step>(4, act(['tell'], { at, shape: fc.nat(7) })),
  times<Step>(5, act(['arrive'], { which: at, kill: kills(['delivery_received'], 2) })),
  times<Step>(
    3,
    act(['process', 'process', 'refetch'], {
      kill: kills(['mid_batch', 'mid_notifications', 'after_notifications', 'after_commit'], 30),
    }),
  ),
  act(['serve', 'reconcile'], { kill: kills(['mid_batch'], 60) }),
  times<Step>(
    3,
    act(['clock'], {
      whose: fc.constantFrom('ours' as const, 'the service’s' as const),
      byMs: fc.constantFrom(-7_200_000, -90_000, 90_000, 7_200_000),
    }),
  ),
  times<Step>(2, act(['freeze'], { which: fc.nat(3), seconds: fc.constantFrom(5, 70, 200) })),
  times<Step>(
    8,
    act(['lose'], { which: fc.nat(3), when: fc.constantFrom('before' as const, 'after' as const) }),
  ),
)

function one(step: fc.Arbitrary<Step>): fc.Arbitrary<Step[]> {
  return fc.tuple(step, waits).map(([chosen, wait]) => [{ ...chosen, wait }])
}

function some(minLength: number, maxLength: number): fc.Arbitrary<Step[]> {
  return fc.array(one(steps), { minLength, maxLength }).map((parts) => parts.flat())
}

/** A run is suspended, and another may take its lease. */
const takeovers = fc
  .tuple(runs, runs, fc.constantFrom(50, 400, 2_000), fc.constantFrom(...SYNC_FAILPOINTS))
  .map(([run, next, wait, point]): Step[] => [
    { ...run, kill: { point, hit: 1, seconds: 90 }, wait: null },
    { do: 'freeze', which: 0, seconds: 90, wait },
    { do: 'advance', seconds: 60, wait: 0 },
    { ...next, disturbance: { kind: 'none' }, wait: 0 },
  ])

/** Changes of two containers, told and delivered in any order while they are applied. */
const flurries: fc.Arbitrary<Step[]> = fc.array(
  fc
    .tuple(
      fc.oneof<fc.Arbitrary<Step>[]>(
        act(['change', 'clear'], { type: fc.constant('container' as const), at: fc.nat(1) }),
        act(['tell'], { at: fc.nat(1), shape: fc.nat(7) }),
        act(['tell'], { at: fc.nat(1), shape: fc.nat(1) }),
        act(['arrive'], { which: at, kill: fc.constant(null) }),
        act(['arrive'], { which: at, kill: fc.constant(null) }),
        act(['process', 'process', 'refetch'], {
          kill: kills(['mid_batch', 'mid_notifications'], 20),
        }),
      ),
      fc.constantFrom(0, 0, 100, 900),
    )
    .map(([step, wait]) => ({ ...step, wait })),
  { minLength: 5, maxLength: 12 },
)

const FILL = {
  do: 'backfill',
  pageSize: 100,
  checks: 0,
  disturbance: { kind: 'none' },
  kill: null,
} as const

export const storms: fc.Arbitrary<Storm> = fc.record({
  schedule: fc.nat(999_999),
  world: fc.record({
    seed: fc.nat(9_999),
    shipments: fc.integer({ min: 2, max: 5 }),
    // Every reference that does not come included costs the seed a request.
    includes: fc.constantFrom(
      ['containers', ...EVENTS, ...REFERENCES],
      ['containers', ...REFERENCES],
      ['containers'],
      REFERENCES,
    ),
    containerIncludes: fc.constantFrom(DEFAULT_INCLUDES.container!, []),
    hasFields: fc.constantFrom(false, false, false, true),
  }),
  perMinute: fc.constantFrom(null, 12, 40),
  steps: fc
    .tuple(
      fc.constantFrom<readonly Step[]>([], [FILL], [FILL, { do: 'serve', kill: null, wait: null }]),
      some(1, 4),
      one(runs),
      fc.oneof(some(1, 4), flurries),
      fc.oneof({ weight: 2, arbitrary: one(runs) }, takeovers),
      some(0, 2),
    )
    // The first step waits for the warehouse to be filled.
    .map(([filled, ...parts]) => {
      const [first, ...rest] = parts.flat()
      return [...filled, { ...first!, wait: null }, ...rest]
    }),
})
