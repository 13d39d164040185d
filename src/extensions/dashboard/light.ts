import { formatSeconds } from '../../base/phrases.js'
import { nextSlot } from '../../base/slots.js'
import type { AlertFacts } from '../../status/describe-status.js'
import { isSyncOverdue, type Vitals } from '../../status/read-vitals.js'

/** The overall state: a colour and a sentence with the same meaning. */
export interface Light {
  readonly colour: 'green' | 'yellow' | 'red'
  readonly sentence: string
  /** In two or three words. */
  readonly short: string
}

export const AWAY: Light = {
  colour: 'red',
  sentence: 'The database does not answer. This page asks again every 5 seconds.',
  short: 'database away',
}

export const NOT_LAID_OUT: Light = {
  colour: 'yellow',
  sentence: 'The database answers, but its tables do not exist yet.',
  short: 'no tables yet',
}

export const STILL_READ: Light = {
  colour: 'yellow',
  sentence: 'The state of the warehouse is still being read. This page asks again in a moment.',
  short: 'still being read',
}

export const UNREAD: Light = {
  colour: 'yellow',
  sentence: 'The database answers, but the state of the warehouse could not be read.',
  short: 'state not known',
}

/** Red if no sync has completed or one is overdue, yellow during the first one or with an alert. */
export function lightOf(
  vitals: Vitals,
  { slots, isServing }: AlertFacts,
  alerts: readonly string[],
  now: Date,
): Light {
  const { ageSeconds } = vitals.freshness
  if (ageSeconds === null) {
    return vitals.isRunUnderWay
      ? { colour: 'yellow', sentence: 'The first run is under way.', short: 'first run' }
      : { colour: 'red', sentence: 'No sync has completed yet.', short: 'no data yet' }
  }
  const age = formatSeconds(ageSeconds)
  const began = `the last complete sync began ${age} ago`
  if (isSyncOverdue(vitals, slots) === true) {
    return { colour: 'red', sentence: `Late: ${began}.`, short: `${age} old` }
  }
  const next = isServing && slots.cron !== 'off' ? nextSlot(slots.cron, slots.timeZone) : undefined
  const then =
    next === undefined
      ? ''
      : `, the next is due in ${formatSeconds((next.getTime() - now.getTime()) / 1000)}`
  const attention =
    alerts.length === 0 ? '' : ` ${alerts.length === 1 ? 'One alert' : `${alerts.length} alerts`}.`
  return {
    colour: alerts.length === 0 ? 'green' : 'yellow',
    sentence: `Fresh: ${began}${then}.${attention}`,
    short: `fresh ${age}`,
  }
}
