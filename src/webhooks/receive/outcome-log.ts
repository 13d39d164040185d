import type { Logger } from '../../base/logger.js'
import type { Outcome } from './receiver-counts.js'

export type LogOutcome = (outcome: Outcome, fields: Readonly<Record<string, unknown>>) => void

const QUIET_MS = 10_000

/**
 * Says what became of each request. Whoever sends forgeries must not fill the disk with them: what is refused or fails is told at most once in ten
 * seconds for each reason, with the number of those that were not told.
 */
export function createOutcomeLog(logger: Logger): LogOutcome {
  const told = new Map<string, { atMs: number; untold: number }>()

  function warn(message: string, reason: string, fields: Readonly<Record<string, unknown>>): void {
    const last = told.get(reason)
    const nowMs = performance.now()
    if (last !== undefined && nowMs - last.atMs < QUIET_MS) {
      last.untold += 1
      return
    }
    told.set(reason, { atMs: nowMs, untold: 0 })
    logger.warn(message, { reason, ...fields, ...(last?.untold ? { untold: last.untold } : {}) })
  }

  return (outcome, fields) => {
    switch (outcome.kind) {
      case 'stored':
      case 'duplicate': {
        const { kind, notificationId } = outcome
        logger.debug('a delivery was accepted', { ...fields, notificationId, kind })
        return
      }
      case 'refused':
        warn('a delivery was refused', outcome.reason, fields)
        return
      case 'unavailable':
        warn('a delivery could not be stored', 'unavailable', { ...fields, error: outcome.error })
        return
      case 'aborted':
        logger.debug('a sender went away before its delivery was complete', fields)
    }
  }
}
