import { sql, type RawBuilder } from 'kysely'
import { z } from 'zod'
import type { Session } from '../../../warehouse/connection/warehouse.js'
import {
  amount,
  CHARGES,
  compareRows,
  currency,
  day,
  findTwice,
  matching,
  name,
  oneOf,
  optionalIdentifier,
  readCsv,
  refuse,
  splitCsv,
  text,
  waitForOtherImports,
  whole,
  type BadLine,
  type ImportReport,
  type Line,
} from './csv-file.js'
import {
  columnList,
  columnRef,
  type Statement,
  tableRef,
} from '../../../warehouse/connection/typed-database.js'

/** The contents of a user's file, by its header. */
export type RulesFile =
  | { readonly kind: 'rules'; readonly rules: readonly Rule[]; readonly tiers: readonly Tier[] }
  | { readonly kind: 'holidays'; readonly holidays: readonly Holiday[] }

const ruleLine = z
  .object({
    rule: name,
    charge: oneOf(...CHARGES),
    line: optionalIdentifier,
    terminal: optionalIdentifier,
    locode: matching(/^[A-Z]{2}[A-Z0-9]{3}$/, 'a UN/LOCODE as USLAX'),
    place: z.union([z.literal('').transform(() => null), oneOf('port', 'ramp')]),
    equipment_type: text,
    equipment_length: whole(1, 100),
    free_days: whole(0, 365),
    counts: z.union([z.literal('').transform(() => 'calendar'), oneOf('calendar', 'working')]),
    holiday_calendar: text,
    starts_with: z.union([
      z.literal('').transform(() => null),
      oneOf('arrival', 'discharge', 'gate_out'),
    ]),
    from_day: whole(1, 10_000),
    daily_rate: amount,
    currency,
    valid_from: day,
    valid_to: day,
    note: text,
    reported: z.union([
      z.literal('').transform(() => 'binds'),
      oneOf('binds', 'ignored', 'earlier', 'later'),
    ]),
  })
  .transform(({ line, currency, rule, from_day, daily_rate, starts_with, ...rest }) => ({
    tier: { rule_name: rule, from_day, daily_rate },
    rule: {
      rule_name: rule,
      shipping_line_scac: line,
      currency_code: currency,
      starts_with: starts_with ?? (rest.charge === 'detention' ? 'gate_out' : 'discharge'),
      ...rest,
    },
  }))

const holidayLine = z.object({
  calendar: name,
  holiday_on: day.refine((cell): cell is string => cell !== null, 'is empty'),
  name: text,
})

type RuleLine = z.output<typeof ruleLine>
export type Rule = RuleLine['rule']
export type Tier = RuleLine['tier']
export type Holiday = z.output<typeof holidayLine>

const RULE_COLUMNS = Object.keys(ruleLine.def.in.shape)
/** Files that were written before these columns are read as if their cells were empty. */
const LATER_COLUMNS = ['reported']
const HOLIDAY_COLUMNS = Object.keys(holidayLine.shape)

/** Columns of a file with another name in the tables. */
const COLUMN_SQL: Readonly<Record<string, RawBuilder<unknown>>> = {
  rule: sql`rule.rule_name as rule`,
  line: sql`rule.shipping_line_scac as line`,
  currency: sql`rule.currency_code as currency`,
  from_day: sql`tier.from_day`,
  daily_rate: sql`tier.daily_rate`,
}

/**
 * Reads a file of rules or of holidays: comma- or semicolon-separated values with a header. A rule
 * has one line for each tier. Throws a ConfigError that names every bad line with its number.
 */
export function parseRulesFile(fileName: string, csvText: string): RulesFile {
  const cells = splitCsv(fileName, csvText)
  const bad: BadLine[] = []
  if (cells.columns.includes('holiday_on')) {
    const holidays = readCsv(fileName, cells, holidayLine, HOLIDAY_COLUMNS, bad)
    bad.push(...findTwice(holidays, ({ calendar, holiday_on }) => `${holiday_on} of ${calendar}`))
    refuse(fileName, bad)
    return { kind: 'holidays', holidays: holidays.map(({ value }) => value) }
  }
  const read = readCsv(fileName, cells, ruleLine, RULE_COLUMNS, bad, LATER_COLUMNS)
  bad.push(...findContradictions(read))
  refuse(fileName, bad)
  const rules = new Map(read.map(({ value }) => [value.rule.rule_name, value.rule]))
  const tiers = read.flatMap(({ value }) => (value.tier.from_day === null ? [] : [value.tier]))
  return { kind: 'rules', rules: [...rules.values()], tiers }
}

/** Contradictions between the lines of a rule, and impossible rules. */
function findContradictions(lines: readonly Line<RuleLine>[]): BadLine[] {
  const bad: BadLine[] = []
  const first = new Map<string, Line<RuleLine>>()
  for (const { line, value } of lines) {
    const { rule, tier } = value
    const say = (reason: string) => bad.push({ line, reason: `${rule.rule_name}: ${reason}` })
    if ((tier.from_day === null) !== (tier.daily_rate === null)) {
      say('from_day and daily_rate go together')
    }
    if ((rule.charge === 'detention') !== (rule.starts_with === 'gate_out')) {
      say('detention starts with gate_out, and the other charges do not')
    }
    if (rule.charge === 'detention' && rule.place !== null) say('detention has no place')
    if (rule.charge === 'detention' && rule.free_days === null) say('detention needs free_days')
    if (rule.counts === 'working' && rule.free_days === null) {
      say('working days are counted of free_days, which is empty')
    }
    if (rule.reported !== 'binds' && rule.free_days === null) {
      say(`reported is ${rule.reported}, and free_days, with which it is compared, is empty`)
    }
    if (rule.valid_from !== null && rule.valid_to !== null && rule.valid_to < rule.valid_from) {
      say('valid_to is before valid_from')
    }
    const earlier = first.get(rule.rule_name)
    if (earlier === undefined) {
      first.set(rule.rule_name, { line, value })
      continue
    }
    const other = Object.keys(rule).filter(
      (key) => rule[key as keyof Rule] !== earlier.value.rule[key as keyof Rule],
    )
    if (other.length > 0) say(`differs from line ${earlier.line} in ${other.join(', ')}`)
    if (tier.from_day === null) say(`is in line ${earlier.line} already, and this one has no tier`)
  }
  const tiers = lines.filter(({ value }) => value.tier.from_day !== null)
  return [
    ...bad,
    ...findTwice(
      tiers,
      ({ tier }) => `a tier of ${tier.rule_name} from day ${String(tier.from_day)} on`,
    ),
  ]
}

/**
 * Replaces all rules, or the holidays of the calendars that the file names. Call it in a
 * transaction: all or nothing. Idempotent.
 */
export async function storeRulesFile(session: Session, file: RulesFile): Promise<ImportReport> {
  return file.kind === 'rules' ? storeRules(session, file) : storeHolidays(session, file.holidays)
}

async function storeRules(
  session: Session,
  { rules, tiers }: Extract<RulesFile, { kind: 'rules' }>,
): Promise<ImportReport> {
  await waitForOtherImports(session, 'free_time_rules')
  const before = await readRules(session)
  await session.query('remove the rules', session.db.deleteFrom('analytics.free_time_rules'))
  await session.query(
    'store the rules',
    sql`insert into ${tableRef('analytics.free_time_rules')}
select given.*
from jsonb_populate_recordset(null::${tableRef('analytics.free_time_rules')}, ${JSON.stringify(rules)}::jsonb) as given`,
  )
  await session.query(
    'store the tiers of the rules',
    sql`insert into ${tableRef('analytics.free_time_tiers')}
select given.*
from jsonb_populate_recordset(null::${tableRef('analytics.free_time_tiers')}, ${JSON.stringify(tiers)}::jsonb) as given`,
  )
  const after = await readRules(session)
  return {
    kind: 'rules',
    total: after.size,
    ...compareRows(before, after),
    warnings: await findUnknownNames(session),
  }
}

/** Each rule with its tiers as one text, by name. */
async function readRules(session: Session): Promise<ReadonlyMap<string, string>> {
  const rows = await session.query(
    'read the rules',
    sql<{ name: string; said: string }>`select
    rule.rule_name as name,
    jsonb_build_array(to_jsonb(rule), jsonb_agg(to_jsonb(tier) order by tier.from_day))::text
        as said
from ${tableRef('analytics.free_time_rules')} as rule
left join ${tableRef('analytics.free_time_tiers')} as tier
    on tier.rule_name = rule.rule_name
group by rule.rule_name`,
  )
  return new Map(rows.map(({ name: rule, said }) => [rule, said]))
}

async function storeHolidays(
  session: Session,
  holidays: readonly Holiday[],
): Promise<ImportReport> {
  const table = tableRef('analytics.holidays')
  const calendars = [...new Set(holidays.map(({ calendar }) => calendar))]
  const read = async () => {
    const rows = await session.query(
      'read the holidays',
      sql<{
        day: string
        name: string | null
      }>`select concat_ws(' ', calendar, holiday_on) as day, name
from ${table} where calendar = any(${calendars}::text[])`,
    )
    return new Map(rows.map((row) => [row.day, row.name ?? '']))
  }
  await waitForOtherImports(session, 'holidays')
  const before = await read()
  await session.query(
    'remove the holidays',
    sql`delete from ${table} where calendar = any(${calendars}::text[])`,
  )
  await session.query(
    'store the holidays',
    sql`insert into ${table}
select given.* from jsonb_populate_recordset(null::${table}, ${JSON.stringify(holidays)}::jsonb) as given`,
  )
  const after = await read()
  return { kind: 'holidays', total: after.size, ...compareRows(before, after), warnings: [] }
}

/**
 * Calendars without holidays, and unknown terminals, shipping lines, places and types of equipment:
 * a misspelt name matches nothing. An empty warehouse cannot tell.
 */
async function findUnknownNames(session: Session): Promise<string[]> {
  const rows = await session.query(
    'look for names that the warehouse does not know',
    sql<{ warning: string }>`select distinct
    'the calendar ' || rule.holiday_calendar || ' has no holidays: import them too' as warning
from ${tableRef('analytics.free_time_rules')} as rule
where rule.holiday_calendar is not null
    and not exists (
        select from ${tableRef('analytics.holidays')} as holiday
        where holiday.calendar = rule.holiday_calendar
    )
union all
select distinct
    'the warehouse has no terminal ' || rule.terminal || ' by id, FIRMS code, nickname or name'
from ${tableRef('analytics.free_time_rules')} as rule
where rule.terminal is not null
    and not exists (
        select from ${tableRef('data.terminals')} as known
        where rule.terminal
            in (known.terminal_id, known.firms_code, known.nickname, known.name)
    )
    and not exists (
        select from ${tableRef('data.rail_terminals')} as known
        where rule.terminal
            in (known.rail_terminal_id, known.firms_code, known.nickname, known.name)
    )
union all
select distinct
    'the warehouse has no shipping line ' || rule.shipping_line_scac || ' by SCAC'
from ${tableRef('analytics.free_time_rules')} as rule
where rule.shipping_line_scac is not null
    and exists (
        select from ${tableRef('data.shipments')} as any_one
        where any_one.shipping_line_scac is not null
    )
    and not exists (
        select from ${tableRef('data.shipments')} as known
        where known.shipping_line_scac = rule.shipping_line_scac
    )
union all
select distinct
    'the warehouse has no place ' || rule.locode || ' by UN/LOCODE'
from ${tableRef('analytics.free_time_rules')} as rule
where rule.locode is not null
    and exists (
        select from ${tableRef('data.shipments')} as any_one
        where any_one.port_of_discharge_locode is not null
    )
    and not exists (
        select from ${tableRef('data.shipments')} as known
        where known.port_of_discharge_locode = rule.locode
    )
    and not exists (
        select from ${tableRef('data.shipments')} as known
        where known.destination_locode = rule.locode
    )
    and not exists (
        select from ${tableRef('data.ports')} as known
        where known.code = rule.locode
    )
    and not exists (
        select from ${tableRef('data.metro_areas')} as known
        where known.code = rule.locode
    )
union all
select distinct
    'the warehouse has no container of the equipment type ' || rule.equipment_type
from ${tableRef('analytics.free_time_rules')} as rule
where rule.equipment_type is not null
    and exists (
        select from ${tableRef('data.containers')} as any_one
        where any_one.equipment_type is not null
    )
    and not exists (
        select from ${tableRef('data.containers')} as known
        where known.equipment_type = rule.equipment_type
    )
order by warning`,
  )
  return rows.map(({ warning }) => warning)
}

/** A statement whose answer, as comma-separated values, can be imported again. */
export function exportRules(kind: RulesFile['kind']): Statement<unknown> {
  if (kind === 'holidays') {
    return sql`select ${columnList(HOLIDAY_COLUMNS)}
from ${tableRef('analytics.holidays')}
order by calendar, holiday_on`
  }
  return sql`select ${sql.join(RULE_COLUMNS.map((name) => COLUMN_SQL[name] ?? columnRef(name, 'rule')))}
from ${tableRef('analytics.free_time_rules')} as rule
left join ${tableRef('analytics.free_time_tiers')} as tier
    on tier.rule_name = rule.rule_name
order by rule.rule_name, tier.from_day`
}
