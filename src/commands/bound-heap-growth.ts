import { setFlagsFromString } from 'node:v8'

/**
 * How far the heap may grow beyond what lives in it before all of it is cleaned up, in percent. V8's own rule lets it grow up to fourfold on a large machine:
 * a load at full speed, which has 50 MB alive, then took 300. With less than this, a sync at full speed spends a sixth of its time on cleaning up.
 */
const GROWTH_PERCENT = 150

/**
 * To be called once, when the program starts. Costs some processor time where nothing else holds the work back, and nothing where the
 * service's rate limit does. A limit given by hand (`--max-old-space-size`) stands beside it.
 */
export function boundHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
}
