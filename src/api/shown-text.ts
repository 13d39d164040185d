/**
 * Foreign text made fit for a message or a log line: cut to `longest` characters, control and direction characters escaped, so that it can neither break
 * a line nor colour a terminal.
 */
export function showText(text: string, longest = 500): string {
  const cut = text.length > longest ? `${text.slice(0, longest)}…` : text
  return cut.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0
    return `\\u${code.toString(16).padStart(4, '0')}`
  })
}

/** Parameters whose values are our own words; every other value is masked. */
const shownParameters = /^(?:page\[(?:number|size)\]|include)$/

/** Path and query for messages and logs. Values of the query are masked, but for page numbers and includes. */
export function showPath(url: URL): string {
  const parameters = [...url.searchParams].map(([name, value]) => {
    const isShown = shownParameters.test(name) && /^[\w.,-]{0,200}$/.test(value)
    return `${showText(name, 60)}=${isShown ? value : '***'}`
  })
  const query = parameters.length === 0 ? '' : `?${parameters.slice(0, 10).join('&')}`
  return `${showText(url.pathname, 300)}${query}`
}
