import { CsvError, parse } from 'csv-parse/sync'
import { z } from 'zod'
import { ConfigError } from '../../base/errors.js'
import type { Session } from '../connection/warehouse.js'

/** What a file of the user holds: it is told by its header. */
export type RulesFile =
  | { readonly kind: 'rules'; readonly rules: readonly Rule[]; readonly tiers: readonly Tier[] }
  | { readonly kind: 'holidays'; readonly holidays: readonly Holiday[] }

/** A line of a file that cannot be taken, and why. */
export interface BadLine {
  readonly line: number
  readonly reason: string
}

const text = z.string().transform((cell) => (cell.trim() === '' ? null : cell.trim()))
const name = z.string().trim().min(1, 'is empty')

function matching(pattern: RegExp, must: string) {
  return text.refine((cell) => cell === null || pattern.test(cell), `must be ${must}`)
}

function oneOf<const Word extends string>(...words: readonly Word[]) {
  const must = `must be ${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}`
  return z
    .string()
    .trim()
    .refine((cell): cell is Word => (words as readonly string[]).includes(cell), must)
}

function whole(least: number, most: number) {
  return matching(/^\d{1,6}$/, 'a whole number')
    .transform((cell) => (cell === null ? null : Number(cell)))
    .refine(
      (days) => days === null || (days >= least && days <= most),
      `must be between ${least} and ${most}`,
    )
}

const day = matching(/^\d{4}-\d\d-\d\d$/, 'a day as 2026-11-30').refine((cell) => {
  if (cell === null) return true
  const at = new Date(`${cell}T00:00:00Z`)
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(cell)
}, 'is a day that the calendar does not have')

const ruleLine = z
  .object({
    rule: name,
    charge: oneOf('demurrage', 'storage', 'detention'),
    line: text,
    terminal: text,
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
    daily_rate: matching(/^\d{1,12}(?:\.\d{1,6})?$/, 'an amount as 150 or 150.00, zero or more'),
    currency: z
      .string()
      .trim()
      .regex(/^[A-Z]{3}$/, 'must be a currency as USD'),
    valid_from: day,
    valid_to: day,
    note: text,
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
const HOLIDAY_COLUMNS = Object.keys(holidayLine.shape)

/** Columns of a file that the tables call otherwise. */
const COLUMN_SQL: Readonly<Record<string, string>> = {
  rule: 'rule.rule_name as rule',
  line: 'rule.shipping_line_scac as line',
  currency: 'rule.currency_code as currency',
  from_day: 'tier.from_day',
  daily_rate: 'tier.daily_rate',
}
const RULE_LIST = RULE_COLUMNS.map((column) => COLUMN_SQL[column] ?? `rule.${column}`).join(', ')
const HOLIDAY_LIST = HOLIDAY_COLUMNS.join(', ')

/**
 * Reads a file of rules or of holidays: comma- or semicolon-separated values with a header. A rule
 * has one line for each tier. Throws ConfigError that names every bad line with its number.
 */
export function parseRulesFile(fileName: string, csvText: string): RulesFile {
  const [header, ...lines] = readCells(fileName, csvText)
  const columns = (header?.cells ?? []).map((cell) => cell.trim().toLowerCase())
  const isOfHolidays = columns.includes('holiday_on')
  const wanted = isOfHolidays ? HOLIDAY_COLUMNS : RULE_COLUMNS
  refuse(fileName, compareHeader(columns, wanted))
  const bad: BadLine[] = []
  if (isOfHolidays) {
    const holidays = readLines(lines, columns, holidayLine, bad)
    bad.push(...findTwice(holidays, ({ calendar, holiday_on }) => `${holiday_on} of ${calendar}`))
    refuse(fileName, bad)
    return { kind: 'holidays', holidays: holidays.map(({ value }) => value) }
  }
  const read = readLines(lines, columns, ruleLine, bad)
  bad.push(...findContradictions(read))
  refuse(fileName, bad)
  const rules = new Map(read.map(({ value }) => [value.rule.rule_name, value.rule]))
  const tiers = read.flatMap(({ value }) => (value.tier.from_day === null ? [] : [value.tier]))
  return { kind: 'rules', rules: [...rules.values()], tiers }
}

interface Line<Value> {
  readonly line: number
  readonly value: Value
}

function readCells(fileName: string, csvText: string) {
  const [first = ''] = csvText.split(/\r?\n/, 1)
  const delimiter = first.split(';').length > first.split(',').length ? ';' : ','
  try {
    const records = parse(csvText, {
      bom: true,
      delimiter,
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
    }) as unknown as readonly { record: string[]; info: { lines: number } }[]
    return records.map(({ record, info }) => ({ line: info.lines, cells: record }))
  } catch (thrown) {
    if (!(thrown instanceof CsvError)) throw thrown
    const { lines: line = 1 } = thrown as { lines?: number }
    return refuse(fileName, [{ line, reason: `cannot be read: ${thrown.message}` }])
  }
}

function compareHeader(columns: readonly string[], wanted: readonly string[]): BadLine[] {
  const list = (which: string, names: readonly string[]) =>
    names.length === 0 ? [] : [{ line: 1, reason: `${which}: ${names.join(', ')}` }]
  return [
    ...list(
      'columns are missing',
      wanted.filter((column) => !columns.includes(column)),
    ),
    ...list(
      `columns that it does not take (it takes ${wanted.join(', ')})`,
      columns.filter((column, at) => !wanted.includes(column) || columns.indexOf(column) !== at),
    ),
  ]
}

function readLines<Value>(
  lines: readonly { readonly line: number; readonly cells: readonly string[] }[],
  columns: readonly string[],
  schema: z.ZodType<Value>,
  bad: BadLine[],
): Line<Value>[] {
  return lines.flatMap(({ line, cells }) => {
    if (cells.length !== columns.length) {
      const reason = `has ${cells.length} cells and the header ${columns.length}`
      bad.push({ line, reason })
      return []
    }
    const given = Object.fromEntries(columns.map((column, at) => [column, cells[at] ?? '']))
    const result = schema.safeParse(given)
    if (result.success) return [{ line, value: result.data }]
    for (const { path, message, ...issue } of result.error.issues) {
      const column = String(path[0] ?? '')
      const inner = issue.code === 'invalid_union' ? issue.errors.at(-1)?.[0]?.message : undefined
      bad.push({ line, reason: `${column} ${JSON.stringify(given[column])} ${inner ?? message}` })
    }
    return []
  })
}

/** What lines of one rule say differently, and what a rule cannot say. */
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

function findTwice<Value>(
  lines: readonly Line<Value>[],
  keyOf: (value: Value) => string,
): BadLine[] {
  const first = new Map<string, number>()
  return lines.flatMap(({ line, value }) => {
    const key = keyOf(value)
    const earlier = first.get(key)
    if (earlier === undefined) first.set(key, line)
    return earlier === undefined ? [] : [{ line, reason: `${key} is in line ${earlier} already` }]
  })
}

const MOST_SHOWN = 20

function refuse(fileName: string, bad: readonly BadLine[]): never | [] {
  if (bad.length === 0) return []
  const sorted = bad.toSorted((one, other) => one.line - other.line)
  const shown = sorted.slice(0, MOST_SHOWN).map(({ line, reason }) => `\n  line ${line}: ${reason}`)
  const rest = sorted.length - MOST_SHOWN
  const more = rest > 0 ? `\n  and ${rest} more` : ''
  const problem = `cannot be taken, and nothing of it was stored:${shown.join('')}${more}`
  throw new ConfigError([{ setting: fileName, problem }])
}

/** How the tables differ from what they held: rules by name, holidays by day. */
export interface ImportReport {
  readonly kind: RulesFile['kind']
  readonly total: number
  readonly added: number
  readonly changed: number
  readonly removed: number
  /** What the file names and the warehouse does not know. */
  readonly warnings: readonly string[]
}

/**
 * Puts the file in place of what was there: all rules, or the holidays of the calendars that it
 * names. Call it in a transaction: whole or not at all. Idempotent.
 */
export async function storeRulesFile(session: Session, file: RulesFile): Promise<ImportReport> {
  return file.kind === 'rules' ? storeRules(session, file) : storeHolidays(session, file.holidays)
}

async function storeRules(
  session: Session,
  { rules, tiers }: Extract<RulesFile, { kind: 'rules' }>,
): Promise<ImportReport> {
  const { names } = session
  const before = await readRules(session)
  await session.query('remove the rules', `delete from ${names.table('free_time_rules')}`)
  await session.query(
    'store the rules',
    `insert into ${names.table('free_time_rules')}
select given.*
from jsonb_populate_recordset(null::${names.table('free_time_rules')}, $1::jsonb) as given`,
    [JSON.stringify(rules)],
  )
  await session.query(
    'store the tiers of the rules',
    `insert into ${names.table('free_time_tiers')}
select given.*
from jsonb_populate_recordset(null::${names.table('free_time_tiers')}, $1::jsonb) as given`,
    [JSON.stringify(tiers)],
  )
  const after = await readRules(session)
  return {
    kind: 'rules',
    total: after.size,
    ...compare(before, after),
    warnings: await findUnknownNames(session),
  }
}

/** Each rule with its tiers as one text, by name. */
async function readRules(session: Session): Promise<ReadonlyMap<string, string>> {
  const { names } = session
  const rows = await session.query<{ name: string; said: string }>(
    'read the rules',
    `select
    rule.rule_name as name,
    jsonb_build_array(to_jsonb(rule), jsonb_agg(to_jsonb(tier) order by tier.from_day))::text
        as said
from ${names.table('free_time_rules')} as rule
left join ${names.table('free_time_tiers')} as tier
    on tier.rule_name = rule.rule_name
group by rule.rule_name`,
  )
  return new Map(rows.map(({ name: rule, said }) => [rule, said]))
}

async function storeHolidays(
  session: Session,
  holidays: readonly Holiday[],
): Promise<ImportReport> {
  const table = session.names.table('holidays')
  const calendars = [...new Set(holidays.map(({ calendar }) => calendar))]
  const read = async () => {
    const rows = await session.query<{ day: string; name: string | null }>(
      'read the holidays',
      `select concat_ws(' ', calendar, holiday_on) as day, name
from ${table} where calendar = any($1::text[])`,
      [calendars],
    )
    return new Map(rows.map((row) => [row.day, row.name ?? '']))
  }
  const before = await read()
  await session.query(
    'remove the holidays',
    `delete from ${table} where calendar = any($1::text[])`,
    [calendars],
  )
  await session.query(
    'store the holidays',
    `insert into ${table}
select given.* from jsonb_populate_recordset(null::${table}, $1::jsonb) as given`,
    [JSON.stringify(holidays)],
  )
  const after = await read()
  return { kind: 'holidays', total: after.size, ...compare(before, after), warnings: [] }
}

function compare(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>) {
  const count = (keys: Iterable<string>, isCounted: (key: string) => boolean) =>
    [...keys].filter(isCounted).length
  return {
    added: count(after.keys(), (key) => !before.has(key)),
    changed: count(after.keys(), (key) => before.has(key) && before.get(key) !== after.get(key)),
    removed: count(before.keys(), (key) => !after.has(key)),
  }
}

/** Calendars without a holiday and terminals without a row: a misspelt name holds for nothing. */
async function findUnknownNames(session: Session): Promise<string[]> {
  const { names } = session
  const rows = await session.query<{ warning: string }>(
    'look for names that the warehouse does not know',
    `select distinct
    'the calendar ' || rule.holiday_calendar || ' has no holidays: import them too' as warning
from ${names.table('free_time_rules')} as rule
where rule.holiday_calendar is not null
    and not exists (
        select from ${names.table('holidays')} as holiday
        where holiday.calendar = rule.holiday_calendar
    )
union all
select distinct
    'the warehouse has no terminal ' || rule.terminal || ' by id, FIRMS code, nickname or name'
from ${names.table('free_time_rules')} as rule
where rule.terminal is not null
    and not exists (
        select from ${names.table('terminals')} as known
        where rule.terminal
            in (known.terminal_id, known.firms_code, known.nickname, known.name)
    )
    and not exists (
        select from ${names.table('rail_terminals')} as known
        where rule.terminal
            in (known.rail_terminal_id, known.firms_code, known.nickname, known.name)
    )
order by warning`,
  )
  return rows.map(({ warning }) => warning)
}

/** SQL whose answer, as comma-separated values, is a file that can be imported again. */
export function exportSql({ names }: Pick<Session, 'names'>, kind: RulesFile['kind']): string {
  if (kind === 'holidays') {
    return `select ${HOLIDAY_LIST}
from ${names.table('holidays')}
order by calendar, holiday_on`
  }
  return `select ${RULE_LIST}
from ${names.table('free_time_rules')} as rule
left join ${names.table('free_time_tiers')} as tier
    on tier.rule_name = rule.rule_name
order by rule.rule_name, tier.from_day`
}
