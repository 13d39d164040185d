/** Named points at which a test ends the program, or a run, as a crash would; in a run's order. */
export const SYNC_FAILPOINTS = [
  /** The row of the run exists; nothing was asked. */
  'before_first_request',
  /** A page arrived; nothing of it is written. */
  'response_received',
  /** The events of some containers arrived; nothing of them is written. */
  'events_received',
  /** Some rows of the batch are written; the transaction is open. */
  'mid_batch',
  /** All rows of the batch are written, its checkpoint is not; the transaction is open. */
  'before_checkpoint',
  /** The batch and its checkpoint are committed. */
  'after_commit',
  /** Some tombstones are set; the transaction is open. */
  'mid_tombstones',
  /** Everything is written except the end of the run. */
  'before_run_complete',
] as const

export const WEBHOOK_FAILPOINTS = [
  /** A delivery is read and its signature is right; nothing of it is stored. */
  'delivery_received',
  /** The delivery is committed, not answered. */
  'delivery_stored',
  /** Rows of some notifications are written, their states are not; the transaction is open. */
  'mid_notifications',
  /** Notifications and their rows are committed. */
  'after_notifications',
] as const

export const ALERT_FAILPOINTS = [
  /** A message about an alert is claimed; nothing is sent. */
  'alert_claimed',
  /** The message was sent; its outcome is not recorded. */
  'alert_sent',
] as const

export const MOVE_FAILPOINTS = [
  /** Some rows of a table are copied; the transaction is open. */
  'mid_move',
] as const

export const LAKE_FAILPOINTS = [
  /** Some rows of a table are read; nothing of it is written. */
  'mid_lake_table',
  /** The files of a table are written, in the work folder. */
  'lake_table_written',
  /** All files are in their places; the manifest does not name them. */
  'lake_files_placed',
  /** The manifest names the new files; the replaced ones are still there. */
  'lake_committed',
] as const

const FAILPOINTS = [
  ...SYNC_FAILPOINTS,
  ...WEBHOOK_FAILPOINTS,
  ...ALERT_FAILPOINTS,
  ...MOVE_FAILPOINTS,
  ...LAKE_FAILPOINTS,
]

export type SyncFailpoint = (typeof SYNC_FAILPOINTS)[number]
export type Failpoint = (typeof FAILPOINTS)[number]

/** Called at each point; does nothing, or does not return. */
export type ReachFailpoint = (point: Failpoint) => void

export const noFailpoints: ReachFailpoint = () => undefined

/** `mid_batch:3`: act the third time the point is reached. */
export function createFailpoint(spec: string, act: () => void): ReachFailpoint {
  const [name, count = '1'] = spec.split(':')
  let left = Number(count)
  return (point) => {
    if (point !== name) return
    left -= 1
    if (left === 0) act()
  }
}

/** Variable of a test's environment. The package has none: `scripts/bundle-program.js`. */
export const FAILPOINT_VARIABLE: string | undefined = 'TRACKING_FAILPOINT'

/** The point that a test names, with or without a count; undefined without one. */
export function readFailpoint(
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const spec = environment.TRACKING_FAILPOINT
  if (spec === undefined || spec === '') return undefined
  const [name] = spec.split(':')
  if (FAILPOINTS.some((point) => point === name) && /^\w+(?::[1-9]\d{0,5})?$/.test(spec))
    return spec
  throw new Error(`TRACKING_FAILPOINT must name a failpoint, like mid_batch:3, and not ${spec}`)
}

/** Leaves a run as a kill would, without ending the process. The run must not tidy up. */
export class SimulatedCrash extends Error {
  constructor(point: Failpoint) {
    super(`simulated crash at ${point}`)
    this.name = new.target.name
  }
}
