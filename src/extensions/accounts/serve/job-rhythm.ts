import { createHash } from 'node:crypto'
import { nextSlot, slotGaps } from '../../../base/schedule.js'

/** What the due times of a job follow. */
export type Rhythm =
  | { readonly cron: string; readonly timeZone: string }
  /** So long after it has ended. */
  | { readonly everyMs: number }

/** Accounts with the same cron begin within the period, and within an hour of their slot. */
const WIDEST_SPREAD_MS = 3_600_000

/** As it is stored, to see that it has changed. */
export function describeRhythm(rhythm: Rhythm): string {
  return 'cron' in rhythm ? `${rhythm.cron} ${rhythm.timeZone}` : `${rhythm.everyMs / 1000} s`
}

/**
 * When a job is due next: at the next slot of its cron, and behind it by the account's own part of
 * the period, the same one every time. `lastDueAt`: when the run that has just ended was due. A
 * slot that came while it ran is made up for where the slots are regular.
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
  // Behind the slot before it, the account's part of the period may still be ahead.
  const before = regular - shortestMs
  const isAhead = before > now.getTime()
  const last = isAhead ? before - shortestMs : before
  // Not right after a run that began late, or that was asked for out of turn.
  const isMissed = lastDueAt !== undefined && last >= lastDueAt.getTime() + shortestMs / 2
  if (isMissed) return now
  return new Date(isAhead ? before : regular)
}

/** Of the account: at least 0, less than 1. */
function shareOf(account: string): number {
  return createHash('sha256').update(account).digest().readUInt32BE(0) / 2 ** 32
}
