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
