import { isObject, type Members } from '../jsonapi/document.js'
import type { DeriveTarget } from './resource.js'
import { checkTimestamp, isDateOnly } from './timestamp.js'

/** The keys of `import_deadlines`, each also a column of its own. */
export const IMPORT_DEADLINES = [
  'pickup_lfd_terminal',
  'pickup_lfd_rail',
  'pickup_lfd_line',
] as const

/** Further days that a source may give; each is a deadline of its own. */
const ROLES: ReadonlySet<string> = new Set([
  'original',
  'current',
  'calculated',
  'unified',
  'unified_day',
])

/** The names of the day in an object in place of a date: the first that has a valid one counts. */
const DAY_NAMES = ['value', 'date', 'day', 'lfd', 'last_free_day', 'deadline', 'at', 'on'] as const

/**
 * The preference among several days of one source: the latest word, and only without any the
 * calculated one.
 */
const PREFERRED = ['current', 'unified', 'unified_day', 'calculated', 'original'] as const

const KNOWN_KEYS: ReadonlySet<string> = new Set([...IMPORT_DEADLINES, ...ROLES])
const KNOWN_MEMBERS: ReadonlySet<string> = new Set([
  ...ROLES,
  ...DAY_NAMES,
  'free_days',
  'start_event',
  'holidays',
  'business_days',
  'source',
  'reason',
])

/** A name that can be (part of) the key of a row. */
const KIND = /^[a-z][a-z0-9_]{0,40}$/
/** Sources of a day, then its roles, then one level more; what is deeper stays in its details. */
const MAX_DEPTH = 3
const MAX_SOURCES = 40

const AT_RAMP = /(?:^|[._])(?:rail|ramp|ind|inland|destination)(?:[._]|$)/

/** A deadline beside the columns; the warehouse makes a row of it. */
interface DeadlineSource {
  readonly at?: string
  readonly on?: string
  readonly place: 'port' | 'ramp'
  /** Members sent with the day: free days, start event, holidays. */
  readonly details?: Members
}

/**
 * Sets the columns made of `import_deadlines`: a day for each key, also where an object is in place
 * of the date; and in `import_deadline_sources`, by kind, everything beyond one day a key. Members
 * that the service does not document are reported. A value that cannot be read stays in
 * `import_deadlines` as it was sent.
 */
export function readImportDeadlines(sent: unknown, target: DeriveTarget): void {
  if (sent === undefined) return
  const deadlines = isObject(sent) ? sent : undefined
  const days = new Map<string, unknown>()
  for (const name of IMPORT_DEADLINES) {
    const value = deadlines === undefined ? null : deadlines[name]
    const day = isObject(value) ? chooseDay(value) : value
    days.set(name, day)
    if (day !== undefined) target.set(name, day)
  }
  const reader = new SourceReader(target, days)
  for (const name of Object.keys(deadlines ?? {})) {
    const value = deadlines?.[name]
    if (!KNOWN_KEYS.has(name)) target.unknownMember(`import_deadlines.${name}`)
    const isColumn = (IMPORT_DEADLINES as readonly string[]).includes(name)
    if (isObject(value) || !isColumn) reader.read(name, name, value)
  }
  target.set('import_deadline_sources', reader.sources())
}

/** The day that an object gives; the object itself, which is not a date, where it gives none. */
function chooseDay(value: Members, depth = 1): unknown {
  const own = ownDay(value)
  if (own !== undefined) return value[own]
  for (const role of PREFERRED) {
    const said = value[role]
    const day = isObject(said) && depth < MAX_DEPTH ? chooseDay(said, depth + 1) : said
    if (isDay(day)) return day
  }
  const isEmpty = Object.values(value).every((member) => member === null)
  return isEmpty ? null : value
}

/** Gathers everything beyond one day a key, by kind: the names on the way to it. */
class SourceReader {
  readonly #target: DeriveTarget
  readonly #days: ReadonlyMap<string, unknown>
  readonly #sources = new Map<string, DeadlineSource>()

  /** `days`: by key of `import_deadlines`, as sent. */
  constructor(target: DeriveTarget, days: ReadonlyMap<string, unknown>) {
    this.#target = target
    this.#days = days
  }

  sources(): Readonly<Record<string, DeadlineSource>> | null {
    return this.#sources.size === 0 ? null : Object.fromEntries(this.#sources)
  }

  /** False where the value gives no day, nor anything with one. */
  read(kind: string, name: string, value: unknown, depth = 1): boolean {
    if (!KIND.test(name) || this.#sources.size >= MAX_SOURCES) return false
    if (isDay(value))
      this.#sources.set(kind, { ...dayOf(value), place: this.#placeOf(kind, value) })
    if (!isObject(value) || depth > MAX_DEPTH) return isDay(value)
    const own = ownDay(value)
    const details = this.#readMembers(kind, value, own, depth)
    if (own === undefined && details === undefined) return true
    const said = own === undefined ? undefined : String(value[own])
    const day = said === undefined ? {} : dayOf(said)
    const place = this.#placeOf(kind, said)
    this.#sources.set(kind, { ...day, place, ...(details === undefined ? {} : { details }) })
    return true
  }

  /** A day without a place of its own is at the place of the only key with the same day. */
  #placeOf(kind: string, day: string | undefined): DeadlineSource['place'] {
    if (AT_RAMP.test(kind)) return 'ramp'
    const keys = IMPORT_DEADLINES.filter((name) => this.#days.get(name) === day)
    const isPlaced = IMPORT_DEADLINES.some((name) => kind.startsWith(name))
    return !isPlaced && keys.join() === 'pickup_lfd_rail' ? 'ramp' : 'port'
  }

  /** The members that are neither the day of the object nor another source of one. */
  #readMembers(
    kind: string,
    value: Members,
    own: string | undefined,
    depth: number,
  ): Members | undefined {
    const details: [string, unknown][] = []
    for (const [name, said] of Object.entries(value)) {
      if (name === own || said === null) continue
      const isSource = ROLES.has(name) || (isObject(said) && namesDay(said))
      if (isSource && this.read(`${kind}.${name}`, name, said, depth + 1)) continue
      if (!KNOWN_MEMBERS.has(name)) this.#target.unknownMember(`import_deadlines.${kind}.${name}`)
      details.push([name, said])
    }
    return details.length === 0 ? undefined : Object.fromEntries(details)
  }
}

function isDay(value: unknown): value is string {
  return typeof value === 'string' && (isDateOnly(value) || checkTimestamp(value).isValid)
}

function dayOf(day: string): Pick<DeadlineSource, 'at' | 'on'> {
  return isDateOnly(day) ? { on: day } : { at: day }
}

function ownDay(value: Members): string | undefined {
  return DAY_NAMES.find((name) => isDay(value[name]))
}

function namesDay(value: Members): boolean {
  return ownDay(value) !== undefined || [...ROLES].some((role) => role in value)
}
