/**
 * Time stamps are checked by a pattern and a calendar and then handed to PostgreSQL as the text
 * they came as. They never pass through `Date`, which turns 30 February into 2 March and cuts
 * microseconds; and PostgreSQL never sees a text this file has not accepted, because it would also
 * take `now`, `infinity` or `02/11/2022 14:18`.
 */

export interface TimestampCheck {
  readonly isValid: boolean
  /**
   * The reason why it is not valid; or why it is flagged although it is stored: outside 1970 to
   * 2100 a date is more likely a placeholder than a plan.
   */
  readonly reason?: string
}

const RFC_3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|[+-](\d\d):(\d\d))$/
const DATE_ONLY = /^(\d{4})-(\d\d)-(\d\d)$/
const WITHOUT_OFFSET = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?$/

/** PostgreSQL takes offsets up to 15:59. */
const MAX_OFFSET_HOURS = 15

const OK: TimestampCheck = { isValid: true }

/**
 * Checks an RFC 3339 date-time. `24:00:00` and a 60th second are real notations and pass
 * (PostgreSQL rolls them over). A bare date or a time without an offset is invalid: guessing a zone
 * would move it by a day somewhere.
 */
export function checkTimestamp(text: string): TimestampCheck {
  if (isUsualTimestamp(text)) return OK
  const match = text.length <= 40 ? RFC_3339.exec(text) : null
  if (match === null) return invalid(whyNotRfc3339(text))
  const [year, month, day, hour, minute, second, fraction, offsetHour, offsetMinute] = match
    .slice(1)
    .map((digits: string | undefined) => Number(digits ?? 0))
  if (!isCalendarDay(year ?? 0, month ?? 0, day ?? 0)) return invalid('no such calendar day')
  const isEndOfDay = hour === 24 && minute === 0 && second === 0 && fraction === 0
  if (hour === undefined || (hour > 23 && !isEndOfDay)) return invalid('no such hour')
  if ((minute ?? 0) > 59 || (second ?? 0) > 60) return invalid('no such minute or second')
  if ((offsetHour ?? 0) > MAX_OFFSET_HOURS || (offsetMinute ?? 0) > 59) {
    return invalid('no such offset from UTC')
  }
  if (year === undefined || year < 1970 || year > 2100) {
    return { isValid: true, reason: 'outside 1970 to 2100; stored as sent' }
  }
  return OK
}

/**
 * The usual form `YYYY-MM-DDThh:mm:ssZ`, which nearly all have, at a fifth of the cost of the
 * pattern. False decides nothing.
 */
export function isUsualTimestamp(text: string): boolean {
  if (text.length !== 20) return false
  const marks = text[4] === '-' && text[7] === '-' && text[10] === 'T' && text[13] === ':'
  if (!marks || text[16] !== ':' || text[19] !== 'Z') return false
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2)
  if (!(year >= 1970 && year <= 2100)) return false
  if (!isCalendarDay(year, twoDigits(text, 5), twoDigits(text, 8))) return false
  return twoDigits(text, 11) <= 23 && twoDigits(text, 14) <= 59 && twoDigits(text, 17) <= 59
}

/** NaN where one of the two is not a digit. */
function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - 0x30
  const ones = text.charCodeAt(at + 1) - 0x30
  const areDigits = tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9
  return areDigits ? tens * 10 + ones : Number.NaN
}

/** True for a bare `YYYY-MM-DD` that names a real day. */
export function isDateOnly(text: string): boolean {
  const match = DATE_ONLY.exec(text)
  return match !== null && isCalendarDay(Number(match[1]), Number(match[2]), Number(match[3]))
}

function invalid(reason: string): TimestampCheck {
  return { isValid: false, reason }
}

function whyNotRfc3339(text: string): string {
  if (isDateOnly(text)) return 'a date without a time'
  if (WITHOUT_OFFSET.test(text)) return 'a time without an offset from UTC'
  return 'not an RFC 3339 date-time'
}

const DAYS_IN_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** The proleptic Gregorian calendar, as PostgreSQL has it; it knows no year 0. */
function isCalendarDay(year: number, month: number, day: number): boolean {
  if (!(year >= 1 && month >= 1 && month <= 12 && day >= 1)) return false
  const isLeapYear = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  return day <= (month === 2 && isLeapYear ? 29 : (DAYS_IN_MONTH[month - 1] ?? 0))
}
