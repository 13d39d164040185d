/** `; did you mean x?` where one of the candidates is near, else nothing. */
export function suggest(word: string, candidates: readonly string[]): string {
  const near = nearest(word, candidates)
  return near === undefined ? '' : `; did you mean ${near}?`
}

/** The candidate that takes the fewest changes of a letter, where those are few. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const wanted = word.toLowerCase()
  let best: { readonly name: string; readonly changes: number } | undefined
  for (const name of candidates) {
    const other = name.toLowerCase()
    // The beginning or a part of a name that somebody did not write out.
    const isPart = wanted.length >= 3 && other.includes(wanted)
    const changes = isPart ? 1 : countChanges(wanted, other)
    if (best === undefined || changes < best.changes) best = { name, changes }
  }
  const most = Math.max(1, Math.floor(word.length * 0.4))
  return best !== undefined && best.changes <= most ? best.name : undefined
}

/**
 * Letters to insert, remove, replace or swap with their neighbour: Damerau and Levenshtein's
 * distance.
 */
function countChanges(one: string, other: string): number {
  let before: number[] = []
  let above = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let row = 1; row <= one.length; row += 1) {
    const present = [row]
    for (let column = 1; column <= other.length; column += 1) {
      const isEqual = one[row - 1] === other[column - 1]
      let least = Math.min(
        (above[column] ?? 0) + 1,
        (present[column - 1] ?? 0) + 1,
        (above[column - 1] ?? 0) + (isEqual ? 0 : 1),
      )
      if (one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]) {
        least = Math.min(least, (before[column - 2] ?? Infinity) + 1)
      }
      present.push(least)
    }
    before = above
    above = present
  }
  return above[other.length] ?? 0
}
