/** Undefined for work that fails or takes longer; the work itself goes on. */
export async function within<Result>(
  ms: number,
  work: Promise<Result>,
): Promise<Result | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined)
  })
  const result = await Promise.race([work.catch(() => undefined), late])
  clearTimeout(timer)
  return result
}

/**
 * Makes a result at most once in `ms`; readers within this time share it. One that could not be
 * made is not kept.
 */
export function keepFor<Result>(ms: number, make: () => Promise<Result>): () => Promise<Result> {
  let kept: { readonly result: Promise<Result>; readonly until: number } | undefined
  return () => {
    if (kept !== undefined && performance.now() <= kept.until) return kept.result
    const result = make()
    const made = { result, until: performance.now() + ms }
    kept = made
    result.catch(() => {
      if (kept === made) kept = undefined
    })
    return result
  }
}
