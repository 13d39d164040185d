const httpDate =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT$/

/**
 * An HTTP-date in the one form that servers still send (RFC 9110, IMF-fixdate). Anything else is undefined: `Date.parse` alone would take
 * `0.5`, `-5` or `Jan 1` for dates.
 */
export function parseHttpDate(text: string): Date | undefined {
  const trimmed = text.trim()
  if (!httpDate.test(trimmed)) return undefined
  const instant = new Date(trimmed)
  return Number.isNaN(instant.getTime()) ? undefined : instant
}
