import { sql, type RawBuilder } from 'kysely'
import { ConnectorError } from '../../../base/errors.js'
import { columnList, relationRef, tableRef } from '../../../warehouse/connection/typed-database.js'
import type { Warehouse } from '../../../warehouse/connection/warehouse.js'
import { compactNumber } from '../ask/find-numbers.js'
import { readTable, type TableAnswer } from '../read-answer.js'
import { readViews, type ShippedView } from '../../../warehouse/schema/shipped-views.js'
import { NOT_ALLOWED } from '../../../warehouse/schema/roles.js'
import type { ViewColumn } from '../../../warehouse/schema/view-descriptions.js'

/** One table of the evidence of a container. */
export interface EvidenceTable {
  /** Name of its CSV file, without the extension. */
  readonly name: string
  readonly title: string
  /** The meaning of a row. */
  readonly note: string
  /** Text in place of an empty table. */
  readonly empty: string
  readonly answer: TableAnswer
  /** Columns that the page shows, with their meaning; the CSV file has all. */
  readonly shown: readonly ViewColumn[]
}

/** A container with its shipment, as known at an instant. */
export interface Journey {
  readonly containerId: string
  readonly number: string | null
  readonly billOfLading: string | null
  readonly shippingLine: string | null
  readonly customer: string | null
  readonly portOfDischarge: string | null
  readonly dischargedAt: string | null
}

interface Source {
  readonly title: string
  readonly note: string
  readonly empty: string
  readonly shown: string
}

/** A table with all rows of a view for the container. */
interface ViewSource extends Source {
  readonly view: string
  readonly order: RawBuilder<unknown>
  /**
   * Column with the instant at which the row was learned: the version of that instant is its
   * origin.
   */
  readonly seenAt?: string
  /**
   * Lines of invoices: those with the container's number count too, where its id is not told, and
   * one invoice can be asked for.
   */
  readonly isOfInvoices?: boolean
}

/** A table with SQL of its own, for a container; `meanings` of the columns that the page shows. */
interface OwnSource extends Source {
  readonly select: (containerId: string, invoice?: string) => RawBuilder<unknown>
  readonly meanings: Readonly<Record<string, string>>
}

/**
 * The values of a version that its digest covers: without its end, which comes later, and without
 * the run that wrote it, so that two warehouses with the same observations have equal digests.
 */
const SAID = sql`(to_jsonb(version) - array['valid_to', '_sync_run_id'])::text`

const asOfClock = sql`${relationRef('asOf.as_of')}()`
const clocks = relationRef('asOf.charge_clocks')

const SOURCES: Readonly<Record<string, ViewSource | OwnSource>> = {
  stays: {
    title: 'Stays and the days that bind',
    note: 'One row per stay: at the port, and at the ramp where a train took the container there.',
    empty: 'No stay is known.',
    view: 'container_stays',
    order: sql`place`,
    shown: `place, terminal_name, state, binding_on, binding_source, terminal_on, line_on, rail_on,
      days_left, start_at, end_at, time_zone`,
  },
  charges: {
    title: 'Charges, each with its clock',
    note: 'One row per charge: its last free day, whose it is, and what the days past it cost.',
    empty: 'No rule holds for this container and nobody reported a last free day.',
    select: (containerId) => sql`select charge.*
from ${clocks} as charge
where charge.container_id = ${containerId}
order by charge.place, charge.charge`,
    shown: `place, charge, until, state, last_free_on, last_free_source, days_over, charged_days,
      amount, currency_code, rule_name, clock_on, ended_on`,
    meanings: {
      place: 'Where it runs: port, ramp, or out with the customer.',
      charge: 'storage, demurrage, detention or another charge of the rules.',
      until: 'Its end: out, the full container leaves; empty_return, the empty is back.',
      state: 'upcoming, due_today, overdue, ended_in_time, ended_late or unknown.',
      last_free_on: 'The last day without a charge.',
      last_free_source: 'Who says so: terminal, line, rail or service; rule: counted by the rule.',
      days_over: 'Calendar days past it, to the end or to today, that day included.',
      charged_days: 'Those of them that the rule charges.',
      amount: 'Cost of those days by the rule.',
      currency_code: 'ISO 4217.',
      rule_name: 'The rule; see Rules.',
      clock_on: 'The day on which the free time began to count.',
      ended_on: 'The day on which the charge ended.',
    },
  },
  'charge-days': {
    title: 'Every day that is charged',
    note:
      'One row per charge and day past its last free day, with what the terminal said of that day: ' +
      'a day on which the container could not be picked up is disputable.',
    empty: 'No day is past a last free day.',
    view: 'charged_days',
    order: sql`place, charge, charged_on`,
    shown: `charged_on, place, charge, day_over, charge_amount, currency_code, was_available, holds,
      fees_seen, is_working_day, last_free_on, last_free_seen_on`,
  },
  invoices: {
    title: 'Invoices beside these days',
    note:
      'One row per line of an invoice for this number, also of another bill of lading, with the ' +
      'reasons to look into.',
    empty: 'No invoice for this container was imported.',
    view: 'invoices',
    isOfInvoices: true,
    order: sql`issued_on, issuer, invoice_number, line_number`,
    shown: `invoice_number, line_number, issuer, charge, charged_from_on, charged_to_on, amount,
      amount_ours, difference_amount, currency_code, days_claimed, days_ours, verdict,
      disputable_amount, dispute_by_on, reasons`,
  },
  known: {
    title: 'What was known when',
    note:
      'One row per last free day, hold, fee and availability, for as long as it stood. seen_at is ' +
      'when it was first seen so; version_sha256 is the digest of the version it was read from.',
    empty: 'Nothing was seen.',
    view: 'evidence',
    order: sql`seen_at, kind, subject`,
    seenAt: 'seen_at',
    shown: `place, kind, subject, value, source, seen_at, gone_at, is_start_known, version_sha256`,
  },
  corrections: {
    title: 'Corrected dates',
    note: 'One row per milestone that was moved or taken back after it was reported.',
    empty: 'No milestone was corrected.',
    view: 'date_corrections',
    order: sql`learned_at, milestone`,
    seenAt: 'learned_at',
    shown: `milestone, kind, from_local, to_local, shift_hours, data_source, source, learned_at,
      version_sha256`,
  },
  timeline: {
    title: 'Everything that happened',
    note: 'One row per transport event, status, hold, fee, last free day and move of the ETA.',
    empty: 'Nothing has happened.',
    view: 'timeline',
    order: sql`coalesce(occurred_at, learned_at), learned_at, kind, subject`,
    shown: `occurred_local, kind, subject, from_value, to_value, detail, location_locode, source,
      learned_at`,
  },
  rules: {
    title: 'Rules',
    note: 'One row per rule above and tier of its rates. They are those of the user of this program.',
    empty: 'No rule holds.',
    select: (containerId) => sql`select rule.*, tier.from_day, tier.daily_rate, tier.per
from ${tableRef('analytics.free_time_rules')} as rule
left join ${tableRef('analytics.free_time_tiers')} as tier
    on tier.rule_name = rule.rule_name
where rule.rule_name in (
    select rule_name from ${clocks} where container_id = ${containerId}
)
order by rule.rule_name, tier.from_day`,
    shown: `rule_name, charge, free_days, counts, holiday_calendar, starts_with, first_day, until,
      reported, from_day, daily_rate, per, tier_counts, charged, minimum, cap, currency_code`,
    meanings: {
      rule_name: 'Name of the rule.',
      charge: 'storage, demurrage, detention or another charge.',
      free_days: 'Days without a charge.',
      counts: 'calendar or working days.',
      holiday_calendar: 'Calendar whose holidays are not working days; see Holidays.',
      starts_with: 'The event that starts the clock.',
      first_day: '0: the day after the start is day 1; 1: the day of the start is.',
      until: 'End of the clock: out, or empty_return.',
      reported: 'What counts beside a reported day: binds, ignored, earlier or later.',
      from_day: 'The first day that the rate is for.',
      daily_rate: 'Amount of a day, or of the period.',
      per: 'day, or period: the amount is charged once.',
      tier_counts: 'Days that from_day counts: over, those charged; start, those since the start.',
      charged: 'Days over that are charged: calendar, each; working, those alone.',
      minimum: 'Least total once a day is charged.',
      cap: 'Most that the total can be.',
      currency_code: 'ISO 4217.',
    },
  },
  holidays: {
    title: 'Holidays',
    note: 'One row per day off of the calendars that count, from the year before the first clock on.',
    empty: 'No calendar is used.',
    select: (containerId) => sql`select holiday.*
from ${tableRef('analytics.holidays')} as holiday
inner join (
    select off.calendar, min(charge.clock_on) as clock_on
    from ${clocks} as charge
    cross join lateral unnest(charge.off_days) as off (calendar)
    where charge.container_id = ${containerId}
    group by off.calendar
) as clock
    on clock.calendar = holiday.calendar
    and holiday.holiday_on >= clock.clock_on - 365
order by holiday.calendar, holiday.holiday_on`,
    shown: 'calendar, holiday_on, name',
    meanings: {
      calendar: 'Name of the calendar.',
      holiday_on: 'A day on which nobody works.',
      name: 'Its name.',
    },
  },
  versions: {
    title: 'Versions, with their digests',
    note:
      'One row per version of the container and of its shipment, and per transport event as it ' +
      'stands now: events have no versions. sha256 is the SHA-256 of the text in the column said ' +
      'of versions.csv.',
    empty: 'No version is kept.',
    select: (
      containerId,
    ) => sql`select record.type, record.id, record.known_from, record.known_to, record.source,
    encode(sha256(convert_to(record.said, 'UTF8')), 'hex') as sha256, record.said
from (
    select
        'container' as type,
        version.container_id as id,
        version.valid_from as known_from,
        case when version.valid_to <= ${asOfClock} then version.valid_to end as known_to,
        version.source,
        ${SAID} as said
    from ${tableRef('data.container_history')} as version
    where version.container_id = ${containerId}
        and version.valid_from <= ${asOfClock}
    union all
    select
        'shipment',
        version.shipment_id,
        version.valid_from,
        case when version.valid_to <= ${asOfClock} then version.valid_to end,
        version.source,
        ${SAID}
    from ${tableRef('data.shipment_history')} as version
    where version.shipment_id = (
            select shipment_id from ${relationRef('asOf.known_containers')} where container_id = ${containerId}
        )
        and version.valid_from <= ${asOfClock}
    union all
    select
        'transport event',
        version.transport_event_id,
        version._first_seen_at,
        case when version._deleted_at <= ${asOfClock} then version._deleted_at end,
        null,
        (
            to_jsonb(version) - array[
                '_observed_at', '_first_seen_at', '_changed_at', '_deleted_at', '_sync_run_id',
                '_fingerprint', '_digest'
            ]
        )::text
    from ${tableRef('data.transport_events')} as version
    where version.container_id = ${containerId}
        and version._first_seen_at <= ${asOfClock}
) as record
order by record.type, record.known_from, record.id`,
    shown: 'type, id, known_from, known_to, source, sha256',
    meanings: {
      type: 'container, shipment or transport event.',
      id: 'The id that the service gave it.',
      known_from: 'When it was first known to be so. UTC.',
      known_to:
        'When another version took its place, or the event was withdrawn; empty: it stands.',
      source: 'Where it was learned first: sync or webhook.',
      sha256: 'Digest of what the version says.',
    },
  },
}

const VERSION_SHA256: ViewColumn = {
  name: 'version_sha256',
  meaning: 'Digest of the version of the container that it was read from; see Versions.',
}

/**
 * The journeys of a container by its id or number, as known at an instant: the journey with that id
 * first, then the newest. Later journeys use a number again.
 */
export async function findJourneys(
  warehouse: Warehouse,
  asked: string,
  asOf: string,
): Promise<Journey[]> {
  const { rows } = await readTable(
    warehouse,
    'look for the container',
    sql`select container.container_id, container.number, shipment.bill_of_lading_number,
    shipment.shipping_line_scac, shipment.customer_name, shipment.port_of_discharge_locode,
    container.pod_discharged_at::text
from ${relationRef('asOf.known_containers')} as container
left join ${relationRef('asOf.known_shipments')} as shipment
    on shipment.shipment_id = container.shipment_id
where container.container_id = ${asked}
    or container.number in (${asked}, ${compactNumber(asked)})
order by container.container_id <> ${asked}, container.created_at desc, container.container_id`,
    { asOf },
  )
  return (rows as (readonly (string | null)[])[]).map((row) => ({
    containerId: row[0] ?? '',
    number: row[1] ?? null,
    billOfLading: row[2] ?? null,
    shippingLine: row[3] ?? null,
    customer: row[4] ?? null,
    portOfDischarge: row[5] ?? null,
    dischargedAt: row[6] ?? null,
  }))
}

/**
 * The evidence about one container at an instant, table by table, for a dispute. Transport events,
 * names of places, rules and invoices lack a history: the present ones are used. While they stay
 * the same, so do the tables of an instant. Of the invoices only the one that is named, if one is.
 * Ten statements, each on a connection of its own.
 */
export async function readEvidence(
  warehouse: Warehouse,
  containerId: string,
  asOf: string,
  invoice?: string,
): Promise<EvidenceTable[]> {
  const views = await readViews()
  const tables: EvidenceTable[] = []
  for (const [name, source] of Object.entries(SOURCES)) {
    const { select, columns } = 'select' in source ? own(source) : await whole(source, views)
    const { title, note, empty, shown } = source
    const answer = await readTable(warehouse, `read ${name}`, select(containerId, invoice), {
      asOf,
    }).catch(leaveOutClosed)
    tables.push(
      answer === undefined
        ? { name, title, note, empty: 'Closed to this login.', answer: NOTHING, shown: [] }
        : { name, title, note, empty, answer, shown: pick(shown, columns, name) },
    )
  }
  return tables
}

const NOTHING: TableAnswer = { columns: [], types: [], rows: [] }

/** Invoices are closed to customers, whose evidence has all the rest. */
function leaveOutClosed(thrown: unknown): undefined {
  if (thrown instanceof ConnectorError && thrown.context.code === NOT_ALLOWED) return undefined
  throw thrown
}

interface Table extends Pick<OwnSource, 'select'> {
  readonly columns: readonly ViewColumn[]
}

function own({ select, meanings }: OwnSource): Table {
  const columns = Object.entries(meanings).map(([name, meaning]) => ({ name, meaning }))
  return { select, columns }
}

async function whole(
  { view, order, seenAt, isOfInvoices = false }: ViewSource,
  views: readonly ShippedView[],
): Promise<Table> {
  const found = await views.find(({ name }) => name === view)?.describe?.()
  if (found === undefined) throw new Error(`there is no view ${view}`)
  const columns = seenAt === undefined ? found.columns : [...found.columns, VERSION_SHA256]
  const digest =
    seenAt === undefined
      ? sql``
      : sql`, (
    select encode(sha256(convert_to(${SAID}, 'UTF8')), 'hex')
    from ${tableRef('data.container_history')} as version
    where version.container_id = answer.container_id
        and version.valid_from <= ${sql.id('answer', seenAt)}
    order by version.valid_from desc limit 1
) as version_sha256`
  return {
    columns,
    select: (
      containerId,
      invoice,
    ) => sql`select ${columnList(found.columns.map(({ name }) => name))}${digest}
from ${relationRef(`asOf.${view}`)} as answer
where ${isOfInvoices ? invoiced(containerId, invoice) : sql`container_id = ${containerId}`}
order by ${order}`,
  }
}

function invoiced(containerId: string, invoice: string | undefined): RawBuilder<unknown> {
  return sql`coalesce(container_id, ${containerId}) = ${containerId}
    and lower(invoice_number) = lower(coalesce(${invoice ?? null}::text, invoice_number))
    and container_number = (
        select number
        from ${relationRef('asOf.known_containers')}
        where container_id = ${containerId}
    )`
}

function pick(shown: string, columns: readonly ViewColumn[], table: string): ViewColumn[] {
  return shown.split(',').map((text) => {
    const found = columns.find(({ name }) => name === text.trim())
    if (found === undefined) throw new Error(`${table} has no column ${text.trim()}`)
    return found
  })
}
