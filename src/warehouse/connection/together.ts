/**
 * What `Promise.all` gives, but not before every one has ended: statements of a transaction that
 * are under way side by side must not go on after its rollback. Throws what the first in order
 * threw.
 */
export async function together<const Work extends readonly Promise<unknown>[]>(
  work: Work,
): Promise<{ -readonly [At in keyof Work]: Awaited<Work[At]> }> {
  await Promise.allSettled(work)
  return Promise.all(work)
}
