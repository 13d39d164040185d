/**
 * Pipelines statements of a transaction: like `Promise.all`, but settles only when all of them have
 * ended, so that none runs on after the rollback. Throws the first error in the order of `work`.
 */
export async function pipeline<const Work extends readonly Promise<unknown>[]>(
  work: Work,
): Promise<{ -readonly [At in keyof Work]: Awaited<Work[At]> }> {
  await Promise.allSettled(work)
  return Promise.all(work)
}
