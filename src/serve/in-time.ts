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
 * Makes a text at most once in `ms`; readers within this time share it. One that could not be made
 * is not kept.
 */
export function keepFor(ms: number, make: () => Promise<string>): () => Promise<string> {
  let kept: { readonly text: Promise<string>; readonly until: number } | undefined
  return () => {
    if (kept !== undefined && performance.now() <= kept.until) return kept.text
    const text = make()
    const made = { text, until: performance.now() + ms }
    kept = made
    text.catch(() => {
      if (kept === made) kept = undefined
    })
    return text
  }
}
