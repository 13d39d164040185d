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

/**
 * Path and page number for messages and logs: what says which request it was. The rest of the query
 * is ours to know, or nobody's to read.
 */
export function showPath(url: URL): string {
  const number = url.searchParams.get('page[number]') ?? ''
  const page = /^[1-9]\d{0,8}$/.test(number) && number !== '1' ? ` page ${number}` : ''
  return `${showText(url.pathname, 300)}${page}`
}
