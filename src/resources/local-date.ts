/**
 * The calendar day at the place, which is what a deadline means to people. A null zone says that the source sent local wall
 * time marked as UTC, so its day is taken as it stands; an unknown zone yields no day instead of a wrong one.
 */
export interface LocalDate {
  /** `YYYY-MM-DD`, or null when the zone is not one we know. */
  readonly date: string | null
  readonly isZoneKnown: boolean
}

/** Intl counts by the Julian calendar before it and would be days off; a date like 0001-01-01 is a placeholder anyway. */
const GREGORIAN_CALENDAR = Date.UTC(1583, 0, 1)

const formatters = new Map<string, Intl.DateTimeFormat | null>()

/** `instant` is an RFC 3339 date-time that `judgeTimestamp` accepted. */
export function localDate(instant: string, timeZone: string | null): LocalDate {
  if (timeZone === null) return { date: utcDate(instant), isZoneKnown: false }
  const formatter = formatterFor(timeZone)
  const time = Date.parse(instant)
  if (formatter === null || Number.isNaN(time)) return { date: null, isZoneKnown: false }
  if (time < GREGORIAN_CALENDAR) return { date: null, isZoneKnown: true }
  const parts = new Map(formatter.formatToParts(time).map(({ type, value }) => [type, value]))
  const year = (parts.get('year') ?? '').padStart(4, '0')
  const [month = '', day = ''] = [parts.get('month'), parts.get('day')]
  return { date: `${year}-${month}-${day}`, isZoneKnown: true }
}

function utcDate(instant: string): string | null {
  const time = Date.parse(instant)
  if (Number.isNaN(time)) return null
  const [date = ''] = new Date(time).toISOString().split('T')
  // Beyond the years 1 to 9999 the text is no date that PostgreSQL reads.
  return /^\d{4}-/.test(date) && !date.startsWith('0000') ? date : null
}

/** Making a formatter costs some 50 µs and an account knows a few dozen zones, so each is made once. */
function formatterFor(timeZone: string): Intl.DateTimeFormat | null {
  const known = formatters.get(timeZone)
  if (known !== undefined) return known
  const formatter = createFormatter(timeZone)
  if (formatters.size < 1000) formatters.set(timeZone, formatter)
  return formatter
}

/** Only names of the zone database count: `UTC+3` and `+03:00` are offsets in disguise, and PostgreSQL reads them inverted. */
const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_]*(?:[/-][A-Za-z0-9_/+-]+)?$/

function createFormatter(timeZone: string): Intl.DateTimeFormat | null {
  if (timeZone.length > 64 || !ZONE_NAME.test(timeZone)) return null
  try {
    return new Intl.DateTimeFormat('en-US-u-ca-iso8601', {
      timeZone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    })
  } catch {
    // RangeError is how Intl says that it does not know the zone.
    return null
  }
}
