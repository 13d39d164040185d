/**
 * How much of a repetition or a load is played: `FAULT_SCALE=full` plays the numbers of the
 * catalogue (minutes to an hour), anything else a few of them, in seconds.
 */
export const isFullScale = process.env.FAULT_SCALE === 'full'

/** One of two numbers by the scale of this test run. */
export function atScale(few: number, full: number): number {
  return isFullScale ? full : few
}
