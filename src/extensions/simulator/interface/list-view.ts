/** The differences between an edited list and the plain one, by position in the plain one. */
export type Difference =
  | { readonly kind: 'gone'; readonly position: number }
  /** Stands before the plain item of that position. */
  | { readonly kind: 'inserted'; readonly position: number; readonly id: string }

export interface PlainList {
  readonly count: number
  readonly idAt: (position: number) => string
}

export function viewCount(plain: PlainList, differences: readonly Difference[]): number {
  let count = plain.count
  for (const { kind } of differences) count += kind === 'gone' ? -1 : 1
  return count
}

/**
 * Ids `offset` … `offset + limit - 1` of the edited list. Costs the number of differences plus
 * `limit`, never the length of the list. Differences must be in order of position, insertions
 * before a gone item of the same position.
 */
export function viewSlice(
  plain: PlainList,
  differences: readonly Difference[],
  offset: number,
  limit: number,
): string[] {
  const ids: string[] = []
  let skip = offset
  let position = 0
  const takeUntil = (end: number): void => {
    const skipped = Math.min(skip, end - position)
    skip -= skipped
    position += skipped
    while (position < end && ids.length < limit) ids.push(plain.idAt(position++))
    position = end
  }
  for (const difference of differences) {
    if (ids.length >= limit) return ids
    takeUntil(Math.min(difference.position, plain.count))
    if (difference.kind === 'gone') position += 1
    else if (skip > 0) skip -= 1
    else if (ids.length < limit) ids.push(difference.id)
  }
  takeUntil(plain.count)
  return ids
}

export function sortDifferences(differences: Difference[]): Difference[] {
  const rank = ({ kind }: Difference): number => (kind === 'inserted' ? 0 : 1)
  return differences.sort((one, other) => one.position - other.position || rank(one) - rank(other))
}
