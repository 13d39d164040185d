/** `45 s`, `12 min`, `3 h 5 min`, `2 d 4 h`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 90) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return `${hours} h ${minutes % 60} min`
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** `512 B`, `16 MiB`, `2.5 GiB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${Math.round(bytes)} B`
  const exponent = Math.min(Math.floor(Math.log2(bytes) / 10), 4)
  const amount = bytes / 1024 ** exponent
  const shown = amount < 10 ? Math.round(amount * 10) / 10 : Math.round(amount)
  return `${shown} ${['', 'KiB', 'MiB', 'GiB', 'TiB'][exponent] ?? ''}`
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

const NAMES_SHOWN = 8

/** `a, b, c`; of many the first eight, `and 192 more`. */
export function listNames(names: readonly string[]): string {
  const rest = names.length - NAMES_SHOWN
  const shown = names.slice(0, NAMES_SHOWN).join(', ')
  return rest > 0 ? `${shown} and ${rest} more` : shown
}

/** `; did you mean x?` where one of the candidates is near, else nothing. */
export function suggest(word: string, candidates: readonly string[]): string {
  const near = nearest(word, candidates)
  return near === undefined ? '' : `; did you mean ${near}?`
}

const LONGEST_WORD = 100

/** The candidate that takes the fewest changes of a letter, where those are few. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  // Counting takes the product of the lengths, and strangers choose the word.
  if (word.length > LONGEST_WORD) return undefined
  const wanted = word.toLowerCase()
  const most = Math.max(1, Math.floor(word.length * 0.4))
  let best: { readonly name: string; readonly changes: number } | undefined
  for (const name of candidates) {
    const other = name.toLowerCase()
    // A part of a name that somebody did not write out, or a name with a word too many before it.
    const isPart = wanted.length >= 3 && (other.includes(wanted) || wanted.endsWith(`_${other}`))
    if (!isPart && other.length > 2 * (wanted.length + most)) continue
    const changes = isPart ? 1 : countChanges(wanted, other)
    if (best === undefined || changes < best.changes) best = { name, changes }
  }
  return best !== undefined && best.changes <= most ? best.name : undefined
}

/** Letters to insert, remove or replace: Levenshtein's distance. */
function countChanges(one: string, other: string): number {
  let above = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (const [row, letter] of Array.from(one).entries()) {
    const present = [row + 1]
    for (const [at, otherLetter] of Array.from(other).entries()) {
      const replaced = (above[at] ?? 0) + (letter === otherLetter ? 0 : 1)
      present.push(Math.min(replaced, (above[at + 1] ?? 0) + 1, (present[at] ?? 0) + 1))
    }
    above = present
  }
  return above[other.length] ?? 0
}
