import { mix } from './dice.js'
import { HOUR } from './local-time.js'

/**
 * The last check before an instant. Checks come every `everyHours`, at moments of the thing's own,
 * and never before it was created (then: undefined). Two calls within one period give the same
 * instant.
 */
export function lastTick(
  thing: { readonly serial: number; readonly createdAt: number },
  at: number,
  everyHours: number,
): number | undefined {
  const period = everyHours * HOUR
  const phase = (mix(thing.serial, everyHours) % (period / 1000)) * 1000
  const tick = Math.floor((at - phase) / period) * period + phase
  return tick < thing.createdAt ? undefined : tick
}
