export const HOUR = 3_600_000
export const DAY = 86_400_000

const formatters = new Map<string, Intl.DateTimeFormat>()

/** Milliseconds to add to an instant to read the wall clock of the zone there. Whole minutes. */
function offsetAt(zone: string, instant: number): number {
  let formatter = formatters.get(zone)
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
    formatters.set(zone, formatter)
  }
  const match = /GMT([+-])(\d\d):(\d\d)/.exec(formatter.format(instant))
  if (match === null) return 0
  const minutes = Number(match[2]) * 60 + Number(match[3])
  return (match[1] === '-' ? -minutes : minutes) * 60_000
}

/**
 * The instant at which the local day `days` after that of `instant` begins: how the service states
 * a day such as a last free day. Right across a change of daylight saving time, because the offset
 * is read again at the answer.
 */
export function localMidnight(zone: string, instant: number, days = 0): number {
  const localDay = Math.floor((instant + offsetAt(zone, instant)) / DAY) + days
  const guess = localDay * DAY - offsetAt(zone, instant)
  return localDay * DAY - offsetAt(zone, guess)
}

const days = new Map<number, string>()
const REMEMBERED_DAYS = 2_000

/**
 * The service writes whole seconds with a `Z`. Days are remembered, because a page has thousands of
 * instants.
 */
export function isoSeconds(instant: number): string {
  const day = Math.floor(instant / DAY)
  let date = days.get(day)
  if (date === undefined) {
    date = new Date(day * DAY).toISOString().slice(0, 11)
    if (days.size >= REMEMBERED_DAYS) days.clear()
    days.set(day, date)
  }
  const seconds = Math.floor((instant - day * DAY) / 1000)
  const minutes = Math.floor(seconds / 60)
  const hours = Math.floor(minutes / 60)
  return `${date}${twoDigits(hours)}:${twoDigits(minutes % 60)}:${twoDigits(seconds % 60)}Z`
}

function twoDigits(number: number): string {
  return number < 10 ? `0${number}` : `${number}`
}

export function isoSecondsOrNull(instant: number | undefined): string | null {
  return instant === undefined ? null : isoSeconds(instant)
}

/**
 * The same instant written with a numeric offset, as tracking requests are. `offsetHours` is
 * negative west of Greenwich.
 */
export function isoWithOffset(instant: number, offsetHours: number): string {
  const local = new Date(instant + offsetHours * HOUR).toISOString().slice(0, 19)
  const sign = offsetHours < 0 ? '-' : '+'
  return `${local}${sign}${String(Math.abs(offsetHours)).padStart(2, '0')}:00`
}

/** Whole minutes, because ports do not report seconds. */
export function toMinute(instant: number): number {
  return Math.floor(instant / 60_000) * 60_000
}

/** Whole seconds, rounded up: a record is never older than the thing it reports. */
export function toSecond(instant: number): number {
  return Math.ceil(instant / 1000) * 1000
}
