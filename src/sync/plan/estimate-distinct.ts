/** What a sample of units says about how many different things all units hold. */
export interface DistinctEstimate {
  readonly observed: number
  /** At least `observed`; not rounded. */
  readonly expected: number
}

/**
 * How many different things `unitsInAll` units hold, judged from a few of them. Counting what the sample shows is too low, and scaling it up is far too
 * high: shipments meet in the same ports and vessels. This is Chao's estimator for incidence data with its extrapolation (Chao 1987;
 * Colwell et al. 2012): the things seen in just one unit (`once`) and in just two (`twice`) tell how many were seen in none, and the curve
 * from here to all units levels off accordingly. Pure.
 */
export function estimateDistinct(
  sample: readonly ReadonlySet<string>[],
  unitsInAll: number,
): DistinctEstimate {
  const unitsByThing = new Map<string, number>()
  for (const unit of sample) {
    for (const thing of unit) unitsByThing.set(thing, (unitsByThing.get(thing) ?? 0) + 1)
  }
  const counts = [...unitsByThing.values()]
  const observed = counts.length
  const once = counts.filter((count) => count === 1).length
  const twice = counts.filter((count) => count === 2).length
  const unitsMore = unitsInAll - sample.length
  if (once === 0 || unitsMore <= 0) return { observed, expected: observed }
  // The bias-corrected form is also defined when nothing was seen exactly twice.
  const unseen = (((sample.length - 1) / sample.length) * once * (once - 1)) / (2 * (twice + 1))
  if (unseen === 0) return { observed, expected: observed }
  const foundPerUnit = once / (sample.length * unseen + once)
  return { observed, expected: observed + unseen * (1 - (1 - foundPerUnit) ** unitsMore) }
}
