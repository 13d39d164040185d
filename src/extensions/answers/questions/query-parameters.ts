/** The filters of answers: one declaration for the command line, MCP and HTTP. */

export interface ParameterDeclaration {
  readonly help: string
  /** Default: free text. */
  readonly form?: 'instant' | 'count' | 'name=value'
  /** Every value, where there are few and they are the same in each warehouse; in any case. */
  readonly words?: readonly string[]
}

const STATES = (
  'not_started,none,upcoming,due_today,overdue,out_in_time,out_late,ended_in_time,ended_late,' +
  'unknown,expected,eta_passed,left_behind,eta_unclear,no_eta,not landed,discharged,loaded,' +
  'departed,arrived,unloaded,picked up,open,gone'
).split(',')
const EXCEPTIONS = (
  'overdue,last_free_day_near,appointment_late,appointment_missed,day_unknown,long_there,' +
  'hold_new,hold_cleared,eta_slipped,eta_passed,left_behind,rolled,rail_silent,no_news,' +
  'empty_not_returned,tracking_stopped'
).split(',')
const CHANGES =
  'eta,last free day,availability,hold,fee,appointment,vessel,terminal,milestone'.split(',')

const DECLARED = {
  container: { help: 'Only this container: number or id.' },
  shipment: { help: 'Only this shipment: bill of lading number or id.' },
  customer: { help: 'Only of this customer: the name the shipment has.' },
  ref: { help: 'Only with this reference number, of the shipment or the container.' },
  tag: { help: 'Only of shipments with this tag.' },
  'custom-field': {
    help: 'Only with this custom field, as name=value, of the shipment, the container or the tracking request.',
    form: 'name=value',
  },
  terminal: {
    help: 'Only this terminal, at the port or inland: id, FIRMS code, nickname or name.',
  },
  line: { help: 'Only this shipping line: SCAC or name.' },
  port: { help: 'Only this port of discharge: UN/LOCODE, name or id.' },
  vessel: { help: 'Only this vessel at the port of discharge: its name.' },
  location: {
    help: 'Only at this place of a transshipment or event: its UN/LOCODE.',
  },
  status: { help: 'Only with this current status, in the word of the service, as grounded.' },
  state: {
    help: 'Only in this state; the words of a question are at its column state, for rail at stage, and open or gone for evidence.',
    words: STATES,
  },
  place: {
    help: 'Only at this place: port, ramp (inland), or out (gate-out to empty return).',
    words: ['port', 'ramp', 'out'],
  },
  charge: {
    help: 'Only this charge: storage, demurrage, detention, "listed fees", or another word of a rule.',
  },
  invoice: { help: 'Only this invoice: its number.' },
  verdict: {
    help: 'Only lines of invoices with this verdict: dispute, check or pay.',
    words: ['dispute', 'check', 'pay'],
  },
  exception: { help: 'Only this exception, as overdue or hold_new.', words: EXCEPTIONS },
  change: {
    help: 'Only this change: eta, "last free day", availability, hold, fee, appointment, vessel, terminal or milestone.',
    words: CHANGES,
  },
  kind: {
    help: 'Only this kind: "transport event", status, hold, fee, "last free day", eta, correction or attribute; for evidence "last free day", hold, availability or fee.',
    words: [
      'transport event',
      'status',
      'hold',
      'fee',
      'last free day',
      'eta',
      'correction',
      'attribute',
      'availability',
    ],
  },
  cut: {
    help: 'Only this cut: all, line, lane, "lane and line" or vessel.',
    words: ['all', 'line', 'lane', 'lane and line', 'vessel'],
  },
  period: { help: 'Only this period: "last 90 days", week, or a quarter such as 2026-Q4.' },
  'at-least': {
    help: 'Only figures of at least so many observations; 5 unless given.',
    form: 'count',
  },
  since: { help: 'Only from this date or instant on.', form: 'instant' },
  until: { help: 'Only before this date or instant.', form: 'instant' },
  limit: { help: 'At most this many rows.', form: 'count' },
} as const satisfies Readonly<Record<string, ParameterDeclaration>>

export type QueryParameter = keyof typeof DECLARED
export type QueryValues = Readonly<Partial<Record<QueryParameter, string>>>

export const QUERY_PARAMETERS: Readonly<Record<QueryParameter, ParameterDeclaration>> = DECLARED

export const PARAMETERS = Object.keys(DECLARED) as QueryParameter[]

/** Default values of filters. */
export const QUERY_DEFAULTS: QueryValues = { 'at-least': '5' }
