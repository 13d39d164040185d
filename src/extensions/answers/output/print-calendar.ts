import { ConfigError } from '../../../base/errors.js'
import { countOf } from '../../../base/phrases.js'
import type { NumberPage } from '../number-page.js'
import type { TableAnswer } from '../read-answer.js'
import { cellText } from '../../../commands/output/print-table.js'

export interface CalendarOptions {
  /** Called with notes that the file does not show. */
  readonly note?: (text: string) => void
  /** Page of a container, which its event links to. */
  readonly pageOf?: NumberPage | undefined
}

/** Questions whose rows are stays with a last free day. */
const QUESTIONS = ['last_free_days', 'pickups']

/** A stay that has ended needs no event, and neither does one of unknown state. */
const OPEN_STATES: readonly unknown[] = ['not_started', 'upcoming', 'due_today', 'overdue']

export function isCalendarQuestion(name: string | undefined): boolean {
  return name !== undefined && QUESTIONS.includes(name)
}

/** Throws ConfigError for an answer without last free days. */
export function requireCalendarQuestion(name: string | undefined): void {
  if (isCalendarQuestion(name)) return
  const problem = `ics is for ${QUESTIONS.join(' and ')}: its events are last free days`
  throw new ConfigError([{ setting: '--format', problem }])
}

/** A calendar with a whole-day event for each stay, on its last free day. */
export async function* asCalendar(
  pieces: AsyncIterable<TableAnswer>,
  { note = () => undefined, pageOf }: CalendarOptions,
): AsyncGenerator<string> {
  const { ICalCalendar, ICalEventTransparency } = await import('ical-generator')
  const calendar = new ICalCalendar({
    name: 'Last free days',
    prodId: { company: 'tracking-sync', product: 'tracking-sync' },
  })
  const stamp = new Date()
  let count = 0
  let unsayable = 0
  for await (const { columns, rows } of pieces) {
    for (const row of rows) {
      count += 1
      const stay = new Map(columns.map((name, at) => [name, row[at]]))
      const day = stay.get('binding_on')
      if (typeof day !== 'string' || !OPEN_STATES.includes(stay.get('state'))) continue
      const start = new Date(`${day}T00:00:00Z`)
      if (Number.isNaN(start.getTime())) {
        unsayable += 1
        continue
      }
      calendar.createEvent({
        // Equal at each export, so that a calendar replaces its old event.
        id: `${cellText(stay.get('container_id'))}-${cellText(stay.get('place'))}@tracking-sync`,
        stamp,
        // The library writes a day by its UTC date.
        start,
        allDay: true,
        transparency: ICalEventTransparency.TRANSPARENT,
        summary: summaryOf(stay),
        description: descriptionOf(stay),
        url: pageOf?.(stay.get('container_number')) ?? null,
      })
    }
  }
  note(
    `${countOf(calendar.length(), 'event')} of ${countOf(count, 'row')}: stays that have a last ` +
      'free day and are not over',
  )
  if (unsayable > 0) {
    const events = countOf(unsayable, 'event')
    note(`left ${events} out: a calendar has no infinite day, and none before Christ or after 9999`)
  }
  yield `${calendar.toString().trimEnd()}\r\n`
}

type Stay = ReadonlyMap<string, unknown>

function summaryOf(stay: Stay): string {
  const place = stay.get('place')
  const terminal =
    stay.get('terminal_name') ?? (place === 'port' ? stay.get('pod_terminal') : undefined)
  const container = stay.get('container_number') ?? stay.get('container_id')
  const parts = [container, place, terminal ?? stay.get('place_locode')].map(cellText)
  return `Last free day: ${parts.filter((part) => part !== '').join(', ')}`
}

function descriptionOf(stay: Stay): string {
  const facts = {
    Source: stay.get('binding_source'),
    State: stay.get('state'),
    'Bill of lading': stay.get('bill_of_lading_number'),
    Customer: stay.get('customer_name'),
  }
  return Object.entries(facts)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `${name}: ${cellText(value)}`)
    .join('\n')
}
