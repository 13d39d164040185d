/**
 * What `Promise.all` gives, but not before every one has ended: statements of a transaction that are
 * under way side by side must not go on after its rollback. Throws what was thrown first in time,
 * because PostgreSQL refuses everything after a failed statement.
 */
export async function together<const Results extends readonly unknown[]>(
  work: readonly [...{ [At in keyof Results]: Promise<Results[At]> }],
): Promise<Results> {
  let first: { readonly thrown: unknown } | undefined
  const watched = work.map((one) =>
    one.catch((thrown: unknown) => {
      first ??= { thrown }
    }),
  )
  const results = await Promise.all(watched)
  if (first !== undefined) throw first.thrown
  return results as unknown as Results
}
