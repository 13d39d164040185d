/**
 * How much of a repetition, a load or a search by chance is played: `TEST_SCALE=full`, as
 * `npm run test:long` sets it, plays the numbers of a night; anything else a few of them.
 */
export const isFullScale = process.env.TEST_SCALE === 'full'

/** One of two figures by the scale of this test run. */
export function atScale<Figure extends number | readonly number[]>(
  few: Figure,
  full: Figure,
): Figure {
  return isFullScale ? full : few
}
