import { createHash } from 'node:crypto'
import { nextSlot, slotGaps } from '../../../base/slots.js'

/** The rule of a job's due times. */
export type Rhythm =
  | { readonly cron: string; readonly timeZone: string }
  /** This long after its end. */
  | { readonly everyMs: number }

/** Accounts with the same cron begin spread over the period, at most an hour after their slot. */
const WIDEST_SPREAD_MS = 3_600_000

/** The stored form, by which a change is noticed. */
export function describeRhythm(rhythm: Rhythm): string {
  return 'cron' in rhythm ? `${rhythm.cron} ${rhythm.timeZone}` : `${rhythm.everyMs / 1000} s`
}

/**
 * The next due time of a job: at the next slot of its cron, plus the account's own share of the
 * period, which is always the same. `lastDueAt`: the due time of the run that has just ended. A
 * slot that passed during the run is made up for if the slots are regular.
 */
export function nextDue(
  rhythm: Rhythm,
  account: string,
  now: Date,
  lastDueAt: Date | undefined,
): Date {
  if ('everyMs' in rhythm) return new Date(now.getTime() + rhythm.everyMs)
  const { cron, timeZone } = rhythm
  const { shortestMs, longestMs } = slotGaps(cron, timeZone)
  const spreadMs = Math.floor(shareOf(account) * Math.min(shortestMs, WIDEST_SPREAD_MS))
  const slot = nextSlot(cron, timeZone) ?? new Date(now.getTime() + WIDEST_SPREAD_MS)
  const regular = slot.getTime() + spreadMs
  if (shortestMs !== longestMs) return new Date(regular)
  // The account's share of the period after the previous slot may still be ahead.
  const before = regular - shortestMs
  const isAhead = before > now.getTime()
  const last = isAhead ? before - shortestMs : before
  // Not right after a run that began late or was requested.
  const isMissed = lastDueAt !== undefined && last >= lastDueAt.getTime() + shortestMs / 2
  if (isMissed) return now
  return new Date(isAhead ? before : regular)
}

/** The account's share: at least 0, less than 1. */
function shareOf(account: string): number {
  return createHash('sha256').update(account).digest().readUInt32BE(0) / 2 ** 32
}
