/** Undefined for work that fails or takes longer; the work itself goes on. */
export function within<Result>(ms: number, work: Promise<Result>): Promise<Result | undefined> {
  return unlessLate(
    ms,
    work.catch(() => undefined),
  )
}

/**
 * Undefined for work that takes longer; the work itself goes on. Rejects where it fails in time.
 */
export async function unlessLate<Result>(
  ms: number,
  work: Promise<Result>,
): Promise<Result | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Makes a result and keeps it for `ms`; readers share it until then, also while it is being made. A
 * failure is not kept.
 */
export function keepFor<Result>(ms: number, make: () => Promise<Result>): () => Promise<Result> {
  let kept: { readonly result: Promise<Result>; until: number } | undefined
  return () => {
    if (kept !== undefined && performance.now() <= kept.until) return kept.result
    const result = make()
    const made = { result, until: Infinity }
    kept = made
    result.then(
      () => {
        made.until = performance.now() + ms
      },
      () => {
        made.until = -Infinity
      },
    )
    return result
  }
}
