import type { World } from '../world/world.js'

export interface BurstOptions {
  /** Notifications made per real second. Default: as fast as they go. */
  readonly perSecond?: number
}

export interface BurstResult {
  readonly notifications: number
  /** Real time until each was answered or had timed out once. */
  readonly seconds: number
}

export interface BurstScene {
  readonly world: World
  readonly now: () => Date
  readonly isClosed: () => boolean
  /** Makes a notification about the container and hands it to the sender. */
  readonly emit: (containerId: string) => void
  readonly whenAnswered: () => Promise<void>
}

/** So many containers take turns: few enough that the plans of their shipments are remembered. */
const DIFFERENT = 100
/** So many at once before others get a turn, when no pace is set. */
const AT_ONCE = 50

/** RangeError in a world without containers. Ends early when the simulator is closed. */
export async function runBurst(
  count: number,
  { perSecond = Number.POSITIVE_INFINITY }: BurstOptions,
  { world, now, isClosed, emit, whenAnswered }: BurstScene,
): Promise<BurstResult> {
  const containerIds = world
    .page('container', 0, Math.min(count, DIFFERENT), now())
    .map(({ id }) => id)
  if (containerIds.length === 0) throw new RangeError('There is no container to tell about.')
  const startedAt = performance.now()
  let sent = 0
  while (sent < count && !isClosed()) {
    const allowed = ((performance.now() - startedAt) / 1000) * perSecond
    const until = Math.min(count, sent + AT_ONCE, Math.floor(allowed) + 1)
    for (; sent < until; sent++) emit(containerIds[sent % containerIds.length] ?? '')
    const waitMs = perSecond === Number.POSITIVE_INFINITY ? 0 : 1000 / perSecond
    await new Promise((resolve) => setTimeout(resolve, Math.min(waitMs, 20)))
  }
  await whenAnswered()
  return { notifications: sent, seconds: (performance.now() - startedAt) / 1000 }
}
