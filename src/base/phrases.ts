/** `45 s`, `12 min`, `3 h 5 min`, `2 d 4 h`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 90) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return `${hours} h ${minutes % 60} min`
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** `1 request`, `2 requests`. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/**
 * Foreign text made fit for a message or a log line: cut to `longest` characters, control and
 * direction characters escaped, so that it can neither break a line nor colour a terminal.
 */
export function showText(text: string, longest = 500): string {
  const cut = text.length > longest ? `${text.slice(0, longest)}…` : text
  return cut.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0
    return `\\u${code.toString(16).padStart(4, '0')}`
  })
}

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
