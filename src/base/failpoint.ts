/**
 * Named points at which a test ends the program, or a run, as a crash would. Inert unless asked
 * for. Those of a sync run, in its order:
 *
 *   before_first_request    the run row exists, nothing was asked
 *   response_received       a page arrived, nothing of it is written
 *   events_received         the events of some containers arrived, nothing of them is written
 *   mid_batch               some rows of the batch are written, the transaction is open
 *   before_checkpoint       all rows of the batch are written, its checkpoint is not, the transaction is open
 *   after_commit            the batch and its checkpoint are committed
 *   mid_tombstones          some tombstones are set, the transaction is open
 *   before_run_complete     everything is written but the end of the run
 */
export const SYNC_FAILPOINTS = [
  'before_first_request',
  'response_received',
  'events_received',
  'mid_batch',
  'before_checkpoint',
  'after_commit',
  'mid_tombstones',
  'before_run_complete',
] as const

/**
 * Those of the webhook receiver:
 *
 *   delivery_received       a delivery's body is read and its signature is right, nothing of it is stored
 *   delivery_stored         the delivery is committed, not answered
 *
 * And those of the webhook processor:
 *
 *   mid_notifications       rows of some notifications are written, the notifications are not settled, the transaction is open
 *   after_notifications     notifications and their rows are committed
 */
export const WEBHOOK_FAILPOINTS = [
  'delivery_received',
  'delivery_stored',
  'mid_notifications',
  'after_notifications',
] as const

const FAILPOINTS = [...SYNC_FAILPOINTS, ...WEBHOOK_FAILPOINTS]

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

/** Whether a text names a point, with or without a count. */
export function isFailpointSpec(spec: string): boolean {
  const [name, count = '1', ...rest] = spec.split(':')
  return (
    FAILPOINTS.some((point) => point === name) && /^[1-9]\d{0,5}$/.test(count) && rest.length === 0
  )
}

/**
 * Thrown at a failpoint to leave a run as a kill would, without ending the process. The run must
 * not tidy up after it.
 */
export class SimulatedCrash extends Error {
  constructor(point: Failpoint) {
    super(`simulated crash at ${point}`)
    this.name = new.target.name
  }
}
