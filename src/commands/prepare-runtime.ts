import { setFlagsFromString } from 'node:v8'

/**
 * How far the heap may grow beyond what lives in it before it is cleaned up, in percent. V8's own
 * rule allows fourfold on a large machine: a load at full speed, with 50 MB alive, took 300. With
 * less than this, a sync at full speed spends a sixth of its time on cleaning up.
 */
const GROWTH_PERCENT = 150

/** Called once, at the start. `--max-old-space-size` still works beside it. */
export function boundHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
}

/**
 * Sets `navigator.userAgent` as Node 21 and later do. Without it the PostgreSQL driver makes a
 * `Response` to learn its runtime, and loading that costs a twentieth of the processor time of a
 * small sync. Called before the driver is loaded.
 */
export function nameRuntime(): void {
  if ('navigator' in globalThis) return
  const [major = ''] = process.versions.node.split('.')
  Object.defineProperty(globalThis, 'navigator', {
    value: Object.freeze({ userAgent: `Node.js/${major}` }),
    configurable: true,
  })
}
